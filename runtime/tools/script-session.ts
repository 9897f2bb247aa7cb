import type { SessionRecord } from "../session/ports.js";

/** What processes that work for a session are told of it, as JSON in `BDK_SESSION`: the `ctx` of agent tools is made from it. */
export function scriptSession(record: SessionRecord | undefined, callId: string, agent: string): string {
  const { id, mode, title, dryRun, asOf } = record ?? {};
  return JSON.stringify({ id, mode, title, dryRun, asOf, agent, callId });
}
