import { completeChild, type Draft } from "./decide.js";
import { elapsed } from "./elapsed.js";
import type { FinishReason } from "./event.js";
import { planThread } from "./plan.js";
import type { Clock } from "./ports.js";
import { type CallState, type ChildState, childOf, openCalls, type TurnState } from "./state.js";

type Answer = NonNullable<ChildState["answer"]>;

/** One thing to do about the open calls of a turn. Several are under way at once. */
export type Work =
  /** Carry out a call, of the turn or of a subagent. */
  | { readonly do: "run"; readonly call: CallState; readonly child?: ChildState }
  /** Take a model step for a subagent. */
  | { readonly do: "step"; readonly child: ChildState; readonly step: number; readonly attempt: number }
  /** A subagent's step whose yield is recorded but whose end is not. */
  | {
      readonly do: "close-step";
      readonly child: ChildState;
      readonly step: number;
      readonly finishReason: FinishReason;
    }
  /** A subagent is done. */
  | { readonly do: "complete"; readonly child: ChildState; readonly answer: Answer }
  /** What a subagent ended with becomes its call's result. */
  | { readonly do: "answer"; readonly call: CallState; readonly child: ChildState; readonly answer: Answer };

/** Reads off the state what can be done about a turn's open calls; what waits for a human is left out. Pure. */
export function planWork(turn: TurnState, maxSteps: number): readonly Work[] {
  return openCalls(turn).flatMap((call) => {
    const child = childOf(turn, call.callId);
    if (child !== undefined) return workOf(call, child, maxSteps);
    return call.phase === "parked" ? [] : [{ do: "run", call }];
  });
}

function workOf(call: CallState, child: ChildState, maxSteps: number): readonly Work[] {
  if (child.answer !== undefined) return [{ do: "answer", call, child, answer: child.answer }];
  const next = planThread(child, maxSteps);
  switch (next.do) {
    case "calls":
      return next.calls.flatMap((own) => (own.phase === "parked" ? [] : [{ do: "run", call: own, child }]));
    case "complete":
      return [{ do: "complete", child, answer: { isError: false, output: child.reply ?? "" } }];
    case "fail": {
      const message = `the subagent was stopped after ${maxSteps} model steps`;
      return [{ do: "complete", child, answer: { isError: true, output: { message } } }];
    }
    default:
      return [{ ...next, child }];
  }
}

/** What is done by recording it; `undefined` for what has to be carried out. */
export function draftOf(turnId: string, work: Work, clock: Clock): Draft | undefined {
  switch (work.do) {
    case "close-step": {
      const { step, finishReason, child } = work;
      const data = { step, durationMs: 0, finishReason, parentCallId: child.callId };
      return { type: "step.completed", turnId, data };
    }
    case "complete":
      return completeChild(turnId, work.child, work.answer);
    case "answer": {
      const { callId, toolName } = work.call;
      const durationMs = elapsed(clock, Date.parse(work.child.startedAt));
      return { type: "action.result", turnId, data: { callId, toolName, ...work.answer, durationMs } };
    }
    default:
      return undefined;
  }
}
