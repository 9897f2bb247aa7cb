/** What a session's events become in its thread: status lines, the reply, and what went wrong. */
import type { WebClient } from "@slack/web-api";
import type { SlackChannelOptions, SlackConversation } from "../../authoring/channels/slack.js";
import type { ChannelEventContext, ChannelEvents } from "../../authoring/channels.js";
import type { JsonValue, SessionEvent } from "../../session/event.js";
import type { PackHost } from "../packs.js";
import type { Approvals } from "./approvals.js";
import { conversationOfKey, formatKey, isNewThreadKey } from "./conversation.js";
import { splitMessage, toMrkdwn } from "./mrkdwn.js";
import type { Outbox } from "./outbox.js";
import type { StatusLines } from "./status.js";
import { createStreamedReply, firstPart, type StreamedReply } from "./streamed.js";

/** The part of a turn that is still under way in this process. */
interface TurnView {
  readonly turnId: string;
  /** Text of the message that is being written. */
  growing: { readonly messageId: string; readonly text: string } | undefined;
  /** The reply, once it is whole. */
  reply: string | undefined;
  /** What the model thinks, its last paragraph. */
  reasoning: string;
  stream: StreamedReply | undefined;
}

/** Status lines tell of now: what is older than this, in milliseconds, is left out. */
const freshMs = 30_000;
const thinking = "is thinking…";

export function createReplies(
  host: PackHost,
  options: SlackChannelOptions,
  parts: {
    readonly client: () => WebClient;
    readonly outbox: Outbox;
    readonly status: StatusLines;
    readonly approvals: Approvals;
  },
): ChannelEvents<JsonValue> {
  const { client, outbox, status, approvals } = parts;
  const mode = options.reply?.mode ?? "post";
  const lines = options.reply?.status ?? {};
  const views = new Map<string, TurnView>();

  function viewOf({ sessionId, turnId = "" }: SessionEvent): TurnView {
    let view = views.get(sessionId);
    if (view?.turnId !== turnId) {
      view = { turnId, growing: undefined, reply: undefined, reasoning: "", stream: undefined };
      views.set(sessionId, view);
    }
    return view;
  }

  function show(event: SessionEvent, ctx: ChannelEventContext, text: string): void {
    const target = conversationOfKey(ctx.channel.continuationToken);
    if (lines === false || target === undefined || Date.now() - Date.parse(event.at) > freshMs) return;
    status.show(event.sessionId, target, text, text === thinking ? lines.idle : undefined);
  }

  /** Posts once. The first post of a conversation that has no thread begins one, and names the session after it. */
  async function post(event: SessionEvent, ctx: ChannelEventContext, name: string, text: string): Promise<string> {
    const key = ctx.channel.continuationToken;
    const target = targetOf(ctx);
    const ts = await outbox.post(event.sessionId, event.turnId ?? "", name, target, { text });
    if (isNewThreadKey(key)) await ctx.setContinuationToken(formatKey({ channelId: target.channelId, threadTs: ts }));
    return ts;
  }

  function targetOf(ctx: ChannelEventContext): SlackConversation {
    const target = conversationOfKey(ctx.channel.continuationToken);
    if (target !== undefined) return target;
    throw new Error(`"${ctx.channel.continuationToken}" is no conversation in Slack`);
  }

  async function grow(event: SessionEvent<"message.appended">, ctx: ChannelEventContext): Promise<void> {
    const view = viewOf(event);
    const { delta, messageId } = event.data;
    const before = view.growing?.messageId === messageId ? view.growing.text : "";
    view.growing = { messageId, text: before + delta };
    if (view.growing.text.trim() === "") return;
    if (view.stream === undefined) {
      await status.end(event.sessionId, false);
      const ts = await post(event, ctx, "reply:0", firstPart(view.growing.text));
      view.stream = createStreamedReply(client, targetOf(ctx), ts, host.log);
    } else view.stream.grow(view.growing.text);
  }

  /** The whole reply: what was streamed is put right, what does not fit follows. */
  async function deliverReply(event: SessionEvent, ctx: ChannelEventContext, markdown: string): Promise<void> {
    const [first, ...rest] = splitMessage(toMrkdwn(markdown));
    if (first === undefined) return;
    const target = targetOf(ctx);
    const streamed = mode === "stream" ? await outbox.find(event.sessionId, event.turnId ?? "", "reply:0") : undefined;
    const ts = streamed ?? (await post(event, ctx, "reply:0", first));
    if (streamed !== undefined) await client().chat.update({ channel: target.channelId, ts, text: first });
    const thread = isNewThreadKey(ctx.channel.continuationToken) ? { ...target, threadTs: ts } : target;
    for (const [at, text] of rest.entries()) {
      await outbox.post(event.sessionId, event.turnId ?? "", `reply:${at + 1}`, thread, { text });
    }
  }

  async function finish(event: SessionEvent): Promise<TurnView> {
    const view = viewOf(event);
    await view.stream?.end();
    views.delete(event.sessionId);
    return view;
  }

  return {
    "turn.started": (event, ctx) => show(event, ctx, thinking),

    "reasoning.appended"(event, ctx) {
      if (lines === false || lines.reasoning !== true || event.data.parentCallId !== undefined) return;
      const view = viewOf(event);
      view.reasoning = `${view.reasoning}${event.data.delta}`.split("\n").slice(-2).join("\n");
      const said = view.reasoning.replace(/[*_#`]/g, "").trim();
      if (said !== "") show(event, ctx, `is thinking: ${said.split("\n").at(-1) ?? ""}`);
    },

    async "message.appended"(event, ctx) {
      if (mode === "stream" && event.data.parentCallId === undefined) await grow(event, ctx);
    },

    "message.completed"(event) {
      const { text, finishReason, parentCallId } = event.data;
      if (finishReason === "stop" && parentCallId === undefined) viewOf(event).reply = text;
    },

    "actions.requested"(event, ctx) {
      if (lines === false || lines.tools !== true || event.data.parentCallId !== undefined) return;
      const names = [...new Set(event.data.calls.map(({ toolName }) => toolName))];
      show(event, ctx, `is running ${names.join(", ")}…`);
    },

    "action.result"(event, ctx) {
      if (lines !== false && lines.tools === true && event.data.parentCallId === undefined) show(event, ctx, thinking);
    },

    async "action.approval_requested"(event, ctx) {
      await status.end(event.sessionId, false);
      await approvals.ask(event, targetOf(ctx));
    },

    async "action.approval_resolved"(event, ctx) {
      await approvals.settle(event, targetOf(ctx));
      if (event.data.decision !== "cancelled") show(event, ctx, thinking);
    },

    async "turn.completed"(event, ctx) {
      const view = await finish(event);
      const { result } = event.data;
      const reply = view.reply ?? (typeof result === "string" ? result : undefined);
      const willPost = mode !== "agent" && reply !== undefined && reply.trim() !== "";
      await status.end(event.sessionId, !willPost);
      if (willPost) await deliverReply(event, ctx, reply);
    },

    async "turn.failed"(event, ctx) {
      await finish(event);
      const isCancelled = event.data.status === "cancelled";
      await status.end(event.sessionId, isCancelled);
      if (isCancelled) return;
      const why = event.data.code === undefined ? "" : ` (${event.data.code})`;
      await post(event, ctx, "failure", `:warning: Something went wrong${why}. Session \`${event.sessionId}\``);
    },
  };
}
