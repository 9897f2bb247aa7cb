import type { ChannelDefinition } from "../authoring/channels.js";
import type { ChannelSources } from "./contract.js";
import { type Conversations, callerOf, hostCaller } from "./conversations.js";
import type { PackHost } from "./packs.js";

/** What a pack's host is made of. */
export interface PackHostParts {
  readonly channel: { readonly id: string; readonly definition: ChannelDefinition };
  readonly signal: AbortSignal;
  readonly sources: ChannelSources;
  readonly conversations: Conversations;
  readonly accept: PackHost["accept"];
  readonly waitUntil: PackHost["waitUntil"];
}

/** The host of one pack. */
export function createPackHost(parts: PackHostParts): PackHost {
  const { channel, signal, sources, conversations, accept, waitUntil } = parts;
  const { sessions } = sources;
  return {
    ...channel,
    environment: process.env,
    services: sources.services(undefined),
    artifacts: sources.artifacts({ record: undefined, turnId: undefined }),
    kv: sources.packState(channel.id),
    log: sources.log,
    signal,
    closing: sources.signal,
    accept,
    send: (auth, message, options) => conversations.send(channel, auth, message, options),
    findSession: (key) => sessions.findByKey(channel.id, key),
    stop: async (sessionId) => (await sessions.stop(hostCaller, sessionId)).stopped,
    approvals: (sessionId) => sessions.approvals(hostCaller, sessionId),
    resolveApproval: (sessionId, callId, decision, { by, confirm = true } = {}) =>
      sessions.resolveApproval(by === undefined ? hostCaller : callerOf(by), sessionId, callId, decision, confirm),
    waitUntil,
  };
}
