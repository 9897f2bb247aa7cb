/** Where work goes that is handed into the channel, such as a schedule's. */
import { randomUUID } from "node:crypto";
import type { ReceiveOptions, SendOptions } from "../../authoring/channels.js";
import { conversationOfKey, formatKey, newThreadKey } from "./conversation.js";
import { fields } from "./fields.js";

/**
 * `{ channelId, threadTs }` continues a thread; `{ channelId }` alone begins one with the first reply, or continues a
 * person's direct messages.
 *
 * @throws for a target that names no conversation.
 */
export function routeToSlack(channel: string, { target, ...options }: ReceiveOptions): SendOptions {
  const { message: _message, auth: _auth, ...rest } = options;
  const sent = { admission: "coalesce" as const, ...rest };
  if (target === undefined) {
    if (conversationOfKey(rest.continuationToken) !== undefined) return sent;
    throw new Error(`channel "${channel}" needs a target, such as { channelId: "C0123456789" }`);
  }
  const { channelId, threadTs } = fields(target);
  if (typeof channelId !== "string" || conversationOfKey(channelId) === undefined) {
    throw new Error(`channel "${channel}": target.channelId must be the id of a channel, such as C0123456789`);
  }
  if (threadTs !== undefined && (typeof threadTs !== "string" || !/^\d+\.\d+$/.test(threadTs))) {
    throw new Error(`channel "${channel}": target.threadTs must be a message's ts, such as 1700000000.000100`);
  }
  if (threadTs !== undefined) return { ...sent, continuationToken: formatKey({ channelId, threadTs }) };
  const isDirect = channelId.startsWith("D");
  return { ...sent, continuationToken: isDirect ? channelId : newThreadKey(channelId, randomUUID()) };
}
