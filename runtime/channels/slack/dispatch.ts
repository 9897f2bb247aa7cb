/** What becomes of a delivery: a message to a session, a stop, an answer to a button. */
import type { WebClient } from "@slack/web-api";
import {
  defaultSlackAuth,
  type SlackChannelOptions,
  type SlackContext,
  type SlackConversation,
  type SlackDispatch,
  type SlackMessage,
  type SlackMessageHandler,
} from "../../authoring/channels/slack.js";
import type { InboxDelivery, PackHost } from "../packs.js";
import type { Approvals } from "./approvals.js";
import { reasonOf } from "./client.js";
import { composeMessage, conversationOf, formatKey, isStop } from "./conversation.js";
import { createBatches } from "./debounce.js";
import { createEngagement } from "./engagement.js";
import type { MessageKind, SlackEvent } from "./event.js";
import { fields, text } from "./fields.js";
import { toMessages } from "./mrkdwn.js";

export interface Dispatcher {
  /** Handles what was taken in. */
  deliver(delivery: InboxDelivery): Promise<void>;
  /** Deliveries with the same lane are handled in order; `undefined`: nothing has to wait. */
  laneOf(event: SlackEvent): string | undefined;
}

type MessageEvent = SlackEvent & { readonly is: "message" };

/** A message that its handler wants answered. */
interface Taken {
  readonly message: SlackMessage;
  readonly dispatch: SlackDispatch;
}

export function createDispatcher(
  host: PackHost,
  options: SlackChannelOptions,
  client: () => WebClient,
  approvals: Approvals,
): Dispatcher {
  const { continuation, suggestedPrompts = [], suggestedPromptsTitle } = options;
  const handlers: Readonly<Record<MessageKind, SlackMessageHandler>> = {
    mention: options.onAppMention ?? answerPeople,
    direct: options.onDirectMessage ?? answerPeople,
    post: options.onChannelPost ?? answerPosts,
  };
  const isEngaged = createEngagement(options, client, host.log);
  const batches = createBatches<Taken>(options.engagement?.channelPosts?.debounceMs ?? 0, (_key, taken) =>
    send("post", taken),
  );
  host.signal.addEventListener("abort", () => batches.flush(), { once: true });

  async function send(kind: MessageKind, taken: readonly Taken[]): Promise<void> {
    // The oldest begins the thread; deliveries may come in any order.
    const [first, ...rest] = [...taken].sort((left, right) => Number(left.message.ts) - Number(right.message.ts));
    if (first === undefined) return;
    const { auth, title } = first.dispatch;
    const said = composeMessage([first, ...rest]);
    if (said.trim() === "") return host.log("debug", `channel "${host.id}": ignored a message without text`);
    await host.send(auth, said, {
      continuationToken: formatKey(conversationOf(first.message, kind, continuation)),
      admission: "coalesce",
      // The message's own: a mention is told of again when its text is edited, and may come as a post too.
      idempotencyKey: `${first.message.channelId}:${first.message.ts}`,
      ...(title !== undefined && { title }),
    });
  }

  async function stop(conversation: SlackConversation, kind: MessageKind): Promise<void> {
    const session = host.findSession(formatKey(conversation));
    if (session !== undefined && (await host.stop(session))) await say(conversation, "Stopped.");
    // In a channel, people say it to each other too.
    else if (kind !== "post") await say(conversation, "There is nothing to stop.");
  }

  async function say({ channelId, threadTs }: SlackConversation, markdown: string): Promise<void> {
    try {
      for (const part of toMessages(markdown)) {
        const thread = threadTs === undefined ? {} : { thread_ts: threadTs };
        await client().chat.postMessage({ channel: channelId, text: part, ...thread });
      }
    } catch (error) {
      throw new Error(`posting to ${channelId} failed: ${reasonOf(error)}`, { cause: error });
    }
  }

  async function onMessage({ kind, message }: MessageEvent, { isRepeat }: InboxDelivery): Promise<void> {
    const conversation = conversationOf(message, kind, continuation);
    if (isStop(message)) {
      if (kind !== "post" || host.findSession(formatKey(conversation)) !== undefined) return stop(conversation, kind);
    }
    if (kind === "post" && !(await isEngaged(message))) return;
    const ctx: SlackContext = {
      host: host.services,
      thread: {
        channelId: message.channelId,
        ts: message.threadTs ?? message.ts,
        post: (markdown) => say({ channelId: message.channelId, threadTs: message.threadTs ?? message.ts }, markdown),
      },
    };
    const dispatch = readDispatch(await handlers[kind](ctx, message), kind);
    if (dispatch === undefined) return;
    const taken = { message, dispatch };
    if (kind !== "post") return send(kind, [taken]);
    // What an earlier process had waiting stays among itself: it may have been sent.
    const key = `${message.channelId}:${message.threadTs ?? ""}${isRepeat ? ":repeat" : ""}`;
    return batches.add(key, taken);
  }

  async function suggest(channelId: string, threadTs: string): Promise<void> {
    const prompts = suggestedPrompts.slice(0, 4).map(({ title, message }) => ({ title, message }));
    if (prompts.length === 0) return;
    await client().assistant.threads.setSuggestedPrompts({
      channel_id: channelId,
      thread_ts: threadTs,
      prompts,
      ...(suggestedPromptsTitle !== undefined && { title: suggestedPromptsTitle }),
    });
  }

  return {
    async deliver(delivery) {
      const event = delivery.payload as unknown as SlackEvent;
      switch (event.is) {
        case "message":
          return onMessage(event, delivery);
        case "thread-started":
          return suggest(event.channelId, event.threadTs);
        case "button":
          return approvals.press(event.press);
        case "ignored":
          return;
      }
    },
    laneOf(event) {
      if (event.is !== "message") return undefined;
      // Posts that are taken together wait for each other already.
      return event.kind === "post" ? undefined : formatKey(conversationOf(event.message, event.kind, continuation));
    },
  };
}

/** Who has no handler is answered, as far as it is a person: two bots would never stop talking. */
const answerPeople: SlackMessageHandler = (ctx, message) =>
  message.author?.isBot === true ? null : { auth: defaultSlackAuth(message, ctx) };

/** Alerts are posted by bots. In a thread they would be answering us. */
const answerPosts: SlackMessageHandler = (ctx, message) =>
  message.author?.isBot === true && message.threadTs !== undefined ? null : { auth: defaultSlackAuth(message, ctx) };

/** What the project's handler answered; nobody has checked it before. */
function readDispatch(answer: unknown, kind: MessageKind): SlackDispatch | undefined {
  if (answer === null || answer === undefined) return undefined;
  const { auth, title, context } = fields(answer);
  const { kind: authKind, id } = fields(auth);
  const isRight =
    text(authKind) !== undefined &&
    text(id) !== undefined &&
    (title === undefined || typeof title === "string") &&
    (context === undefined || (Array.isArray(context) && context.every((line) => typeof line === "string")));
  if (isRight) return answer as SlackDispatch;
  throw new TypeError(
    `the handler for a ${kind} must return null or { auth: { kind, id }, title?, context?: string[] }`,
  );
}
