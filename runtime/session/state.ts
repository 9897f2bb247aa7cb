/** What a session is, as folded from its events. Small on purpose: the conversation is a view of its own. */
import type { FinishReason, JsonValue, SessionEventData, Usage } from "./event.js";

/** One call of the last step of a turn, or of a subagent's work. */
export interface CallState {
  readonly callId: string;
  readonly toolName: string;
  readonly args: JsonValue;
  /** `requested`: may be running. `parked`: waits for a human. `done`: its result is recorded. */
  readonly phase: "requested" | "parked" | "approved" | "denied" | "done";
  /** When approval was asked for. */
  readonly requestedAt?: string;
  /** Hash of the code that asked. */
  readonly askedBy?: string;
}

/** A chain of model steps: the turn's own, or a subagent's. */
export interface Thread {
  /** Number of the last step begun; 0 before the first. */
  readonly step: number;
  readonly attempt: number;
  /** True between `step.started` and `step.completed`. */
  readonly stepping: boolean;
  /** How the step's message, then the step, ended. */
  readonly finishReason?: FinishReason;
  readonly reply?: string;
  readonly calls: readonly CallState[];
  /** Of a turn: its subagents' included. */
  readonly usage?: Usage;
  readonly costUsd?: number;
  /** A step's price is not known, so that the sum is none of the whole. */
  readonly isUnpriced?: boolean;
}

/** A thread before its first step. */
export const newThread: Thread = { step: 0, attempt: 0, stepping: false, calls: [] };

/** A subagent at work for an open call of the turn. */
export interface ChildState extends Thread {
  /** The call that it answers. */
  readonly callId: string;
  readonly subagent: string;
  /** ISO-8601 instant. */
  readonly startedAt: string;
  /** What it ended with; the call's result follows. */
  readonly answer?: { readonly isError: boolean; readonly output: JsonValue };
}

/** The open turn. */
export interface TurnState extends Thread {
  readonly id: string;
  readonly model: string;
  readonly children: readonly ChildState[];
  /** Its final text was rejected once, and the model was asked to repair it. */
  readonly isRepaired?: boolean;
  /** A message arrived that no step of this turn has seen. */
  readonly unseen: boolean;
}

export interface SessionState {
  readonly nextIndex: number;
  readonly started?: SessionEventData["session.started"];
  readonly updatedAt: string;
  readonly turn?: TurnState;
  /** Turn that an accepted message opened and that hasn't started. */
  readonly pending?: string;
  /** Waits for a free slot under `maxRunningTurns`. */
  readonly queued: boolean;
  /** Messages were left unseen by the turn that ended: they make one more turn. */
  readonly carry: boolean;
  /** How a task session ends once its turn is over. */
  readonly outcome?: { readonly result?: JsonValue } | { readonly message: string; readonly code?: string };
  /** The turn's end was followed by `session.waiting`, `.completed` or `.failed`. */
  readonly settled: boolean;
  readonly ended?: "completed" | "failed";
  /** Numbers of the messages whose files aren't laid out yet. */
  readonly files: readonly number[];
  readonly messages: number;
  /** Index of the message that the last turn, open, waiting or over, began with: what came before concerns others. */
  readonly since: number;
  readonly turns: number;
  /** Calls that a human, a stop or a new message has decided about. */
  readonly decided: readonly string[];
  /** Direct calls, outside any turn, whose result isn't recorded. */
  readonly direct: readonly { readonly callId: string; readonly toolName: string }[];
}

/** A session before its first event. */
export const initialState: SessionState = {
  nextIndex: 0,
  updatedAt: "",
  queued: false,
  carry: false,
  settled: true,
  files: [],
  messages: 0,
  since: 0,
  turns: 0,
  decided: [],
  direct: [],
};

/** Calls whose result isn't recorded. */
export function openCalls(thread: Thread): readonly CallState[] {
  return thread.calls.filter((call) => call.phase !== "done");
}

/** The subagent that works on a call. */
export function childOf(turn: TurnState, callId: string): ChildState | undefined {
  return turn.children.find((child) => child.callId === callId);
}

/** Open calls of the turn and of its subagents. */
export function allOpenCalls(turn: TurnState): readonly CallState[] {
  return turn.children.length === 0 ? openCalls(turn) : [turn, ...turn.children].flatMap(openCalls);
}

/** Nothing can be done about this call before a human decides: about itself, or about a call of its subagent. */
export function isParked(turn: TurnState, call: CallState): boolean {
  const child = childOf(turn, call.callId);
  if (child === undefined) return call.phase === "parked";
  const open = child.stepping ? [] : openCalls(child);
  return open.length > 0 && open.every(({ phase }) => phase === "parked");
}

/** The model without a provider: its steps cost nothing, so that no price of theirs is ever missing. */
export const freeModel = "offline";

/** Adds token counts; either may be missing. */
export function addUsage(left: Usage | undefined, right: Usage | undefined): Usage | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  const reasoning = (left.reasoningTokens ?? 0) + (right.reasoningTokens ?? 0);
  return {
    inputTokens: left.inputTokens + right.inputTokens,
    outputTokens: left.outputTokens + right.outputTokens,
    cacheReadTokens: left.cacheReadTokens + right.cacheReadTokens,
    cacheWriteTokens: left.cacheWriteTokens + right.cacheWriteTokens,
    ...(left.reasoningTokens === undefined && right.reasoningTokens === undefined
      ? {}
      : { reasoningTokens: reasoning }),
  };
}
