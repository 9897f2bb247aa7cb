import type { SessionRecord, SessionRow } from "../ports.js";
import type { SessionStatus, SessionSummary } from "../service.js";
import { isParked, openCalls, type SessionState } from "../state.js";

/** What the session is doing. */
export function statusOf(state: SessionState): SessionStatus {
  if (state.ended !== undefined) return state.ended;
  if (state.queued) return "queued";
  const { turn } = state;
  if (turn === undefined) return state.settled ? "waiting" : "running";
  const open = turn.stepping ? [] : openCalls(turn);
  return open.length > 0 && open.every((call) => isParked(turn, call)) ? "awaiting_approval" : "running";
}

/** The index row of a session; `open` when a restart would find work to do. */
export function toRow(record: SessionRecord, state: SessionState): SessionRow {
  const { auth: _, ...facts } = record;
  const status = statusOf(state);
  return {
    ...facts,
    updatedAt: state.updatedAt,
    status,
    turns: state.turns,
    messages: state.messages,
    open: status === "running" || status === "queued" || state.pending !== undefined || state.direct.length > 0,
  };
}

/** A row of `GET /v1/sessions`. */
export function toSummary(row: SessionRow, continuationToken: string | null): SessionSummary {
  const { continuationKey: _, messages: __, open: ___, ...summary } = row;
  return { ...summary, continuationToken };
}
