import type { SessionEvent } from "./event.js";
import {
  addUsage,
  type CallState,
  freeModel,
  newThread,
  type SessionState,
  type Thread,
  type TurnState,
} from "./state.js";

/**
 * Folds one event into the state. Pure and total: an event that fits nothing (a late result) only moves the index on.
 *
 * @example const state = events.reduce(reduce, initialState);
 */
export function reduce(state: SessionState, event: SessionEvent): SessionState {
  const nextIndex = event.index + 1;
  switch (event.type) {
    case "session.started":
      return { ...state, nextIndex, updatedAt: event.at, started: event.data };
    case "session.waiting":
      return { ...settle(state), nextIndex, updatedAt: event.at };
    case "session.completed":
      return { ...settle(state), nextIndex, updatedAt: event.at, ended: "completed" };
    case "session.failed":
      return { ...settle(state), nextIndex, updatedAt: event.at, ended: "failed" };
    case "message.received":
      return { ...receive(state, event), nextIndex, updatedAt: event.at };
    case "turn.queued":
      return { ...state, nextIndex, updatedAt: event.at, queued: true };
    case "turn.started":
      return { ...beginTurn(state, event), nextIndex, updatedAt: event.at };
    case "turn.completed":
    case "turn.failed":
      return { ...endTurn(state, event), nextIndex, updatedAt: event.at };
    case "action.approval_requested":
      return { ...inTurn(state, event), nextIndex, updatedAt: event.at };
    case "action.approval_resolved":
      return {
        ...inTurn(state, event),
        nextIndex,
        updatedAt: event.at,
        decided: [...state.decided, event.data.callId],
      };
    case "actions.requested":
    case "action.result":
      return event.turnId === undefined
        ? { ...direct(state, event), nextIndex }
        : { ...inTurn(state, event), nextIndex };
    case "step.completed":
      return { ...inTurn(state, event), nextIndex, files: [] };
    case "step.started":
    case "message.completed":
    case "subagent.called":
    case "subagent.completed":
      return { ...inTurn(state, event), nextIndex };
    default:
      return { ...state, nextIndex };
  }
}

function settle(state: SessionState): SessionState {
  const { outcome: _, ...rest } = state;
  return { ...rest, settled: true };
}

function receive(state: SessionState, event: SessionEvent<"message.received">): SessionState {
  const messages = state.messages + 1;
  const { turnId } = event;
  const joins = turnId !== undefined && (turnId === state.turn?.id || turnId === state.pending);
  const received: SessionState = {
    ...state,
    messages,
    since: joins ? state.since : event.index,
    settled: false,
    files: event.data.files === undefined ? state.files : [...state.files, messages],
  };
  if (turnId !== undefined && turnId === state.turn?.id) {
    return { ...received, turn: { ...state.turn, unseen: true } };
  }
  return turnId === undefined ? received : { ...received, pending: turnId };
}

function beginTurn(state: SessionState, event: SessionEvent<"turn.started">): SessionState {
  const { pending: _, outcome: __, ...rest } = state;
  const turn: TurnState = {
    ...newThread,
    id: event.turnId ?? "",
    model: event.data.model,
    children: [],
    unseen: false,
  };
  return { ...rest, turn, turns: state.turns + 1, queued: false, carry: false, settled: false };
}

function endTurn(state: SessionState, event: SessionEvent<"turn.completed" | "turn.failed">): SessionState {
  const outcome = event.type === "turn.completed" ? resultOf(event.data.result) : failureOf(event.data);
  if (event.turnId !== undefined && event.turnId === state.pending) {
    const { pending: _, ...rest } = state;
    return { ...rest, outcome, queued: false, settled: false };
  }
  if (state.turn === undefined || state.turn.id !== event.turnId) return state;
  const { turn, ...rest } = state;
  const isCancelled = event.type === "turn.failed" && event.data.status === "cancelled";
  return { ...rest, outcome, queued: false, settled: false, carry: turn.unseen && !isCancelled };
}

function resultOf(result: SessionEvent<"turn.completed">["data"]["result"]) {
  return result === undefined ? {} : { result };
}

function failureOf(data: SessionEvent<"turn.failed">["data"]) {
  return data.code === undefined ? { message: data.message } : { message: data.message, code: data.code };
}

type ThreadEvent = SessionEvent<
  | "step.started"
  | "step.completed"
  | "message.completed"
  | "actions.requested"
  | "action.result"
  | "action.approval_requested"
  | "action.approval_resolved"
>;
type TurnEvent = ThreadEvent | SessionEvent<"subagent.called" | "subagent.completed">;

function inTurn(state: SessionState, event: TurnEvent): SessionState {
  const { turn } = state;
  if (turn === undefined || turn.id !== event.turnId) return state;
  return { ...state, queued: false, turn: advanceTurn(turn, event) };
}

function advanceTurn(turn: TurnState, event: TurnEvent): TurnState {
  switch (event.type) {
    case "subagent.called": {
      const { callId, subagent } = event.data;
      return { ...turn, children: [...turn.children, { ...newThread, callId, subagent, startedAt: event.at }] };
    }
    case "subagent.completed": {
      const { callId, isError, result = null } = event.data;
      const answer = { isError, output: result };
      return {
        ...turn,
        children: turn.children.map((child) => (child.callId === callId ? { ...child, answer } : child)),
      };
    }
    case "action.approval_resolved":
      // It names no parent: the ids of open calls are all different.
      return inChildren(advance(turn, event), undefined, event);
    case "step.started":
      return event.data.parentCallId === undefined
        ? beginStep(turn, event)
        : inChildren(turn, event.data.parentCallId, event);
    case "step.completed": {
      const { parentCallId } = event.data;
      // What a subagent uses, the turn uses.
      if (parentCallId !== undefined) return inChildren({ ...turn, ...bill(turn, event.data) }, parentCallId, event);
      return advance(turn, event);
    }
    default: {
      const { parentCallId } = event.data;
      return parentCallId === undefined ? advance(turn, event) : inChildren(turn, parentCallId, event);
    }
  }
}

function beginStep(turn: TurnState, event: SessionEvent<"step.started">): TurnState {
  const repaired = event.data.repair === undefined ? {} : { isRepaired: true };
  return { ...advance(turn, event), unseen: false, children: [], ...repaired };
}

/** Advances the subagent that an event belongs to; all of them for an event that names none. */
function inChildren(turn: TurnState, parentCallId: string | undefined, event: ThreadEvent): TurnState {
  const isMeant = (callId: string) => parentCallId === undefined || callId === parentCallId;
  return { ...turn, children: turn.children.map((child) => (isMeant(child.callId) ? advance(child, event) : child)) };
}

function advance<T extends Thread>(thread: T, event: ThreadEvent): T {
  switch (event.type) {
    case "step.started": {
      const { finishReason: _, ...rest } = thread;
      const { step, attempt = 1 } = event.data;
      return { ...(rest as T), step, attempt, stepping: true, calls: [] };
    }
    case "message.completed":
      return { ...thread, finishReason: event.data.finishReason, reply: event.data.text };
    case "actions.requested":
      return { ...thread, calls: [...thread.calls, ...event.data.calls.map(asRequested)] };
    case "step.completed":
      return { ...thread, ...bill(thread, event.data), stepping: false, finishReason: event.data.finishReason };
    case "action.result":
      return move(thread, event.data.callId, () => ({ phase: "done" }));
    case "action.approval_requested":
      return move(thread, event.data.callId, () => parked(event));
    case "action.approval_resolved": {
      const { callId, decision } = event.data;
      return move(thread, callId, () => ({ phase: decision === "approve" ? "approved" : "denied" }));
    }
  }
}

function parked({ at, data }: SessionEvent<"action.approval_requested">): Partial<CallState> {
  const { codeHash } = data;
  return { phase: "parked", requestedAt: at, ...(codeHash === undefined ? {} : { askedBy: codeHash }) };
}

function asRequested(call: SessionEvent<"actions.requested">["data"]["calls"][number]): CallState {
  return { callId: call.callId, toolName: call.toolName, args: call.args ?? {}, phase: "requested" };
}

function bill(thread: Thread, data: SessionEvent<"step.completed">["data"]): Partial<Thread> {
  const usage = addUsage(thread.usage, data.usage);
  const cost = data.costUsd === undefined ? thread.costUsd : (thread.costUsd ?? 0) + data.costUsd;
  const isFree = "model" in thread && thread.model === freeModel;
  const isMissing = data.usage !== undefined && data.costUsd === undefined && !isFree;
  const isUnpriced = thread.isUnpriced === true || isMissing;
  return {
    ...(usage === undefined ? {} : { usage }),
    ...(cost === undefined ? {} : { costUsd: cost }),
    ...(isUnpriced ? { isUnpriced } : {}),
  };
}

function move<T extends Thread>(thread: T, callId: string, change: () => Partial<CallState>): T {
  return {
    ...thread,
    calls: thread.calls.map((call) =>
      call.callId === callId && call.phase !== "done" ? { ...call, ...change() } : call,
    ),
  };
}

function direct(state: SessionState, event: SessionEvent<"actions.requested" | "action.result">): SessionState {
  if (event.data.parentCallId !== undefined) return state;
  if (event.type === "action.result") {
    return { ...state, direct: state.direct.filter((call) => call.callId !== event.data.callId) };
  }
  const calls = event.data.calls.map(({ callId, toolName }) => ({ callId, toolName }));
  return { ...state, direct: [...state.direct, ...calls] };
}
