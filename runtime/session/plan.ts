import type { FinishReason } from "./event.js";
import { type CallState, openCalls, type SessionState } from "./state.js";

/** What the turn loop does next. Live turns and turns that a crash interrupted follow the same plan. */
export type Next =
  | { readonly do: "idle" }
  /** Start a turn: the pending one, or a new one for messages left unseen. */
  | { readonly do: "begin"; readonly turnId: string | undefined }
  | { readonly do: "step"; readonly step: number; readonly attempt: number }
  /** The step's yield is recorded but its end is not (torn by a crash). */
  | { readonly do: "close-step"; readonly step: number; readonly finishReason: FinishReason }
  | { readonly do: "calls"; readonly calls: readonly CallState[] }
  /** A message that opens a turn of its own has come: the open one makes way. */
  | { readonly do: "cancel"; readonly message: string; readonly all: false }
  | { readonly do: "complete" }
  | { readonly do: "fail"; readonly message: string; readonly code: string }
  | { readonly do: "settle" };

/** Reads the next act off the state alone, so that a restart goes on where the log ends. Pure. */
export function plan(state: SessionState, maxSteps: number): Next {
  const { turn } = state;
  if (turn === undefined) {
    if (state.pending !== undefined) return { do: "begin", turnId: state.pending };
    if (state.carry) return { do: "begin", turnId: undefined };
    return state.settled ? { do: "idle" } : { do: "settle" };
  }
  if (state.pending !== undefined) return { do: "cancel", message: "interrupted by a new message", all: false };
  if (turn.stepping) {
    const { step, finishReason } = turn;
    if (turn.calls.length > 0) return { do: "close-step", step, finishReason: "tool-calls" };
    if (finishReason !== undefined && finishReason !== "tool-calls") return { do: "close-step", step, finishReason };
    return { do: "step", step: turn.step, attempt: turn.attempt + 1 };
  }
  const calls = openCalls(turn);
  if (calls.length > 0) return { do: "calls", calls };
  if (turn.step > 0 && turn.calls.length === 0) return { do: "complete" };
  if (turn.step >= maxSteps) {
    return { do: "fail", code: "step_limit", message: `the turn was stopped after ${maxSteps} model steps` };
  }
  return { do: "step", step: turn.step + 1, attempt: 1 };
}
