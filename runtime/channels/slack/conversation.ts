/** Which conversation a message belongs to, and what the model is told of it. */
import {
  formatSlackContinuationKey,
  parseSlackContinuationKey,
  type SlackConversation,
  type SlackDispatch,
  type SlackMessage,
} from "../../authoring/channels/slack.js";
import type { MessageKind } from "./event.js";
import { unescapeText } from "./mrkdwn.js";

/** The value of `continuation` with which each top-level direct message is a conversation of its own. */
export const threadPerDirectMessage = "slack.dmthread/v2";

/** The conversation of a message: its thread, or all of a person's direct messages that are in none. */
export function conversationOf(
  message: Pick<SlackMessage, "channelId" | "ts" | "threadTs">,
  kind: MessageKind,
  continuation: string | undefined,
): SlackConversation {
  const { channelId, threadTs, ts } = message;
  if (threadTs !== undefined) return { channelId, threadTs };
  return kind === "direct" && continuation !== threadPerDirectMessage ? { channelId } : { channelId, threadTs: ts };
}

/** The conversation of a session that this channel began; `undefined` when its key is somebody else's. */
export function conversationOfKey(key: string | null | undefined): SlackConversation | undefined {
  return parseSlackContinuationKey(key ?? undefined);
}

/** The key of a conversation that begins with the app's first post in a channel. */
export function newThreadKey(channelId: string, unique: string): string {
  return `${channelId}:new-${unique}`;
}

export function isNewThreadKey(key: string | null): boolean {
  return key?.includes(":new-") === true;
}

export { formatSlackContinuationKey as formatKey };

/** Nothing but the word, with the app's mention or without. */
export function isStop({ body }: Pick<SlackMessage, "body">): boolean {
  return /^stop[.!]*$/i.test(body.trim());
}

/** What is sent to the session: the context lines of all, then the messages. */
export function composeMessage(
  taken: readonly { readonly message: SlackMessage; readonly dispatch: SlackDispatch }[],
): string {
  const context = [...new Set(taken.flatMap(({ dispatch }) => dispatch.context ?? []))].join("\n").trim();
  const bodies = taken.map(({ message }) => unescapeText(message.body)).filter((body) => body !== "");
  // A bare mention says at least that somebody called.
  const said = bodies.length > 0 ? bodies.join("\n\n") : (taken[0]?.message.text ?? "");
  return [context, said].filter((part) => part !== "").join("\n\n");
}
