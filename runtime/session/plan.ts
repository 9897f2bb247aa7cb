import type { FinishReason } from "./event.js";
import { type CallState, isParked, openCalls, type SessionState, type Thread } from "./state.js";

/** What comes next in a chain of model steps. */
export type ThreadNext =
  | { readonly do: "step"; readonly step: number; readonly attempt: number }
  /** The step's yield is recorded but its end is not (torn by a crash). */
  | { readonly do: "close-step"; readonly step: number; readonly finishReason: FinishReason }
  /** Calls are open; they may all wait for a human. */
  | { readonly do: "calls"; readonly calls: readonly CallState[] }
  | { readonly do: "complete" }
  | { readonly do: "fail"; readonly message: string; readonly code: string };

/** What the turn loop does next. Live turns and turns that a crash interrupted follow the same plan. */
export type Next =
  | { readonly do: "idle" }
  /** Start a turn: the pending one, or a new one for messages left unseen. */
  | { readonly do: "begin"; readonly turnId: string | undefined }
  | ThreadNext
  /** Nothing can be done before a human decides. */
  | { readonly do: "wait" }
  /** A message that opens a turn of its own has come: the open one makes way. */
  | { readonly do: "cancel"; readonly message: string; readonly all: false }
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
  const next = planThread(turn, maxSteps);
  return next.do === "calls" && next.calls.every((call) => isParked(turn, call)) ? { do: "wait" } : next;
}

/** The same for one chain of steps: the turn's own, or a subagent's. */
export function planThread(thread: Thread, maxSteps: number): ThreadNext {
  const { step, finishReason } = thread;
  if (thread.stepping) {
    if (thread.calls.length > 0) return { do: "close-step", step, finishReason: "tool-calls" };
    if (finishReason !== undefined && finishReason !== "tool-calls") return { do: "close-step", step, finishReason };
    return { do: "step", step, attempt: thread.attempt + 1 };
  }
  const calls = openCalls(thread);
  if (calls.length > 0) return { do: "calls", calls };
  if (step > 0 && thread.calls.length === 0) return { do: "complete" };
  if (step >= maxSteps) {
    return { do: "fail", code: "step_limit", message: `the turn was stopped after ${maxSteps} model steps` };
  }
  return { do: "step", step: step + 1, attempt: 1 };
}
