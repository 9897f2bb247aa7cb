import { type Draft, unrun } from "./decide.js";
import type { SessionEvent, SessionEventData } from "./event.js";
import type { SessionRecord } from "./ports.js";
import type { SessionState } from "./state.js";

/** Events of a log, parsed, up to but without `atIndex`. */
export async function readPrefix(
  batches: AsyncIterable<readonly string[]>,
  atIndex: number,
): Promise<{ readonly events: readonly SessionEvent[]; readonly isPast: boolean }> {
  const events: SessionEvent[] = [];
  for await (const lines of batches) {
    for (const line of lines) {
      const event = JSON.parse(line) as SessionEvent;
      if (event.index >= atIndex) return { events, isPast: true };
      events.push(event);
    }
  }
  return { events, isPast: false };
}

/**
 * The same events as the beginning of another session: its own start first, and no end, so that it can be continued.
 * Indexes and times stay.
 */
export function copyEvents(
  events: readonly SessionEvent[],
  record: SessionRecord,
  started: SessionEventData["session.started"],
): readonly SessionEvent[] {
  const first = {
    type: "session.started",
    index: 0,
    sessionId: record.id,
    at: record.createdAt,
    data: started,
  } as const;
  return [first, ...events.slice(1).map((event) => copyEvent(event, record.id))];
}

function copyEvent(event: SessionEvent, sessionId: string): SessionEvent {
  if (event.type === "session.completed" || event.type === "session.failed") {
    return { type: "session.waiting", index: event.index, sessionId, at: event.at, data: {} };
  }
  return { ...event, sessionId };
}

/** Results for direct calls whose own were left behind. */
export function closeDirectCalls({ direct }: SessionState): readonly Draft[] {
  const message = "The conversation was forked before this call gave a result.";
  return direct.map(({ callId, toolName }) => ({ type: "action.result", data: unrun(callId, toolName, message) }));
}
