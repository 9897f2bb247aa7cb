import type { JsonValue, SessionEvent, SessionEventData, SessionEventType } from "./event.js";
import type { Rejection } from "./ports.js";
import {
  allOpenCalls,
  type CallState,
  type ChildState,
  childOf,
  openCalls,
  type SessionState,
  type TurnState,
} from "./state.js";
import { isChanged } from "./views/approvals.js";

/** An event before the log gives it its place and time. */
export type Draft<T extends SessionEventType = SessionEventType> = {
  readonly [K in T]: { readonly type: K; readonly turnId?: string; readonly data: SessionEventData[K] };
}[T];

/** What can be asked of a session. Ids are minted by the caller, so that deciding stays pure. */
export type Command =
  | {
      readonly do: "create";
      readonly started: SessionEventData["session.started"];
      readonly text: string;
      readonly files?: readonly string[];
      readonly turnId: string;
    }
  | {
      readonly do: "receive";
      readonly text: string;
      readonly files?: readonly string[];
      readonly admission: "preempt" | "coalesce";
      /** Used when the message opens a turn of its own. */
      readonly turnId: string;
    }
  | {
      readonly do: "resolve";
      readonly callId: string;
      readonly decision: "approve" | "deny";
      readonly by: string;
      /** The decider knows that the code has changed since the call was parked. */
      readonly confirm: boolean;
      /** Of the code that would run. */
      readonly codeHash: (toolName: string) => string;
    }
  | { readonly do: "begin"; readonly turnId: string; readonly model: string }
  | { readonly do: "queue"; readonly turnId: string; readonly position: number }
  /** `result` left out: the turn's reply. */
  | { readonly do: "complete"; readonly result?: JsonValue }
  | { readonly do: "fail"; readonly message: string; readonly code?: string }
  /** `all`: also the turn that waits behind the open one (stop); otherwise only the open one (preempt). */
  | { readonly do: "cancel"; readonly message: string; readonly all: boolean }
  | { readonly do: "settle" };

export type Decision = readonly Draft[] | { readonly rejection: Rejection };

export function isRejected(decision: Decision): decision is { readonly rejection: Rejection } {
  return "rejection" in decision;
}

/** Events that carry a command out, or the reason why it can't be. Pure. */
export function decide(state: SessionState, command: Command): Decision {
  switch (command.do) {
    case "create":
      return [
        { type: "session.started", data: command.started },
        { type: "message.received", turnId: command.turnId, data: messageOf(command) },
      ];
    case "receive":
      return receive(state, command);
    case "resolve":
      return resolve(state, command);
    case "begin":
      return [{ type: "turn.started", turnId: command.turnId, data: { model: command.model } }];
    case "queue":
      return [{ type: "turn.queued", turnId: command.turnId, data: { position: command.position } }];
    case "complete":
      return state.turn === undefined ? [] : [complete(state.turn, command.result)];
    case "fail":
      return state.turn === undefined ? [] : endTurn(state.turn, { ...failure(command), status: "error" });
    case "cancel":
      return cancel(state, command);
    case "settle":
      return settle(state);
  }
}

function messageOf(command: { readonly text: string; readonly files?: readonly string[] }) {
  return command.files === undefined ? { text: command.text } : { text: command.text, files: command.files };
}

function receive(state: SessionState, command: Command & { readonly do: "receive" }): Decision {
  if (state.started?.mode === "task") {
    return reject("session_not_followable", "a task session runs once and takes no follow-ups");
  }
  if (state.ended !== undefined) return reject("session_not_followable", `this session has ${state.ended}`);
  const joined = command.admission === "coalesce" ? state.turn?.id : undefined;
  const turnId = state.pending ?? joined ?? command.turnId;
  return [{ type: "message.received", turnId, data: messageOf(command) }];
}

function resolve(state: SessionState, command: Command & { readonly do: "resolve" }): Decision {
  const { callId, decision, by } = command;
  const call = state.turn && allOpenCalls(state.turn).find((candidate) => candidate.callId === callId);
  if (state.decided.includes(callId)) return reject("approval_resolved", `call ${callId} has been decided about`);
  if (state.turn === undefined || call?.phase !== "parked") {
    return reject("not_found", `no call ${callId} waits for a decision`);
  }
  if (decision === "approve" && !command.confirm && isChanged(call, command.codeHash(call.toolName))) {
    const message = `the code of ${call.toolName} has changed since call ${callId} was asked about; approve it with "confirm": true`;
    return { rejection: { code: "invalid_request", message, details: { changed: true } } };
  }
  return [{ type: "action.approval_resolved", turnId: state.turn.id, data: { callId, decision, by } }];
}

function complete(turn: TurnState, result: JsonValue | undefined = turn.reply): Draft {
  const { model, costUsd, isUnpriced = false } = turn;
  const cost = costUsd === undefined || isUnpriced ? undefined : { totalUsd: costUsd, model };
  return {
    type: "turn.completed",
    turnId: turn.id,
    data: {
      ...(result === undefined ? {} : { result }),
      ...(turn.usage === undefined ? {} : { usage: turn.usage }),
      ...(cost === undefined ? {} : { cost }),
    },
  };
}

function failure(command: { readonly message: string; readonly code?: string }) {
  return command.code === undefined ? { message: command.message } : { message: command.message, code: command.code };
}

/** The turn's end, after an answer for every call that has none. */
function endTurn(turn: TurnState, data: SessionEventData["turn.failed"]): readonly Draft[] {
  return [
    ...openCalls(turn).flatMap((call) => {
      const child = childOf(turn, call.callId);
      return [...(child === undefined ? [] : endChild(turn.id, child)), ...endCall(turn.id, call, {})];
    }),
    { type: "turn.failed", turnId: turn.id, data },
  ];
}

function endChild(turnId: string, child: ChildState): readonly Draft[] {
  if (child.answer !== undefined) return [];
  const { callId: parentCallId } = child;
  const message = "The turn ended before the subagent was done.";
  return [
    ...openCalls(child).flatMap((call) => endCall(turnId, call, { parentCallId })),
    completeChild(turnId, child, { isError: true, output: { message } }),
  ];
}

function endCall(
  turnId: string,
  { callId, toolName, phase }: CallState,
  parent: { readonly parentCallId?: string },
): readonly Draft[] {
  const isParked = phase === "parked";
  const message = isParked
    ? "The turn ended before anyone decided about this call; it did not run."
    : "The turn ended before this call gave a result; whether it took effect is unknown.";
  const result: Draft = { type: "action.result", turnId, data: { ...unrun(callId, toolName, message), ...parent } };
  if (!isParked) return [result];
  return [{ type: "action.approval_resolved", turnId, data: { callId, decision: "cancelled" } }, result];
}

/** The end of a subagent's work; the result of its call follows. */
export function completeChild(
  turnId: string,
  { callId, subagent, usage }: ChildState,
  { isError, output }: NonNullable<ChildState["answer"]>,
): Draft {
  const data = { callId, subagent, isError, result: output, ...(usage === undefined ? {} : { usage }) };
  return { type: "subagent.completed", turnId, data };
}

/** The result of a call that gives none. */
export function unrun(callId: string, toolName: string, message: string): SessionEventData["action.result"] {
  const output: JsonValue = { message };
  return { callId, toolName, output, isError: true, durationMs: 0 };
}

function cancel(state: SessionState, command: Command & { readonly do: "cancel" }): readonly Draft[] {
  const data = { message: command.message, status: "cancelled" } as const;
  const drafts: Draft[] = state.turn === undefined ? [] : [...endTurn(state.turn, data)];
  if (command.all && state.pending !== undefined) drafts.push({ type: "turn.failed", turnId: state.pending, data });
  return drafts;
}

function settle(state: SessionState): readonly Draft[] {
  if (state.started?.mode !== "task") return [{ type: "session.waiting", data: {} }];
  const { outcome = {} } = state;
  return "message" in outcome
    ? [{ type: "session.failed", data: outcome }]
    : [{ type: "session.completed", data: outcome }];
}

function reject(code: Rejection["code"], message: string): { readonly rejection: Rejection } {
  return { rejection: { code, message } };
}

/** Gives drafts their place in the log. */
export function stamp(
  drafts: readonly Draft[],
  at: string,
  sessionId: string,
  firstIndex: number,
): readonly SessionEvent[] {
  return drafts.map(({ type, turnId, data }, offset) => {
    const index = firstIndex + offset;
    const event =
      turnId === undefined ? { type, index, sessionId, at, data } : { type, index, sessionId, turnId, at, data };
    return event as SessionEvent;
  });
}
