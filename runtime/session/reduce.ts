import type { SessionEvent } from "./event.js";
import { addUsage, type CallState, type SessionState, type TurnState } from "./state.js";

/**
 * Folds one event into the state. Pure and total: an event that fits nothing (work of a subagent, a late result)
 * only moves the index on.
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
  const received: SessionState = {
    ...state,
    messages,
    settled: false,
    files: event.data.files === undefined ? state.files : [...state.files, messages],
  };
  if (event.turnId !== undefined && event.turnId === state.turn?.id) {
    return { ...received, turn: { ...state.turn, unseen: true } };
  }
  return event.turnId === undefined ? received : { ...received, pending: event.turnId };
}

function beginTurn(state: SessionState, event: SessionEvent<"turn.started">): SessionState {
  const { pending: _, outcome: __, ...rest } = state;
  const turn: TurnState = {
    id: event.turnId ?? "",
    model: event.data.model,
    step: 0,
    attempt: 0,
    stepping: false,
    calls: [],
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

type TurnEvent = SessionEvent<
  | "step.started"
  | "step.completed"
  | "message.completed"
  | "actions.requested"
  | "action.result"
  | "action.approval_requested"
  | "action.approval_resolved"
>;

function inTurn(state: SessionState, event: TurnEvent): SessionState {
  const { turn } = state;
  if (turn === undefined || turn.id !== event.turnId) return state;
  return { ...state, queued: false, turn: advance(turn, event) };
}

function advance(turn: TurnState, event: TurnEvent): TurnState {
  switch (event.type) {
    case "step.started": {
      const { finishReason: _, ...rest } = turn;
      const { step, attempt = 1, repair } = event.data;
      const repaired = repair === undefined ? {} : { isRepaired: true };
      return { ...rest, step, attempt, stepping: true, calls: [], unseen: false, ...repaired };
    }
    case "message.completed":
      if (event.data.parentCallId !== undefined) return turn;
      return { ...turn, finishReason: event.data.finishReason, reply: event.data.text };
    case "actions.requested":
      if (event.data.parentCallId !== undefined) return turn;
      return { ...turn, calls: [...turn.calls, ...event.data.calls.map(asRequested)] };
    case "step.completed":
      return closeStep(turn, event.data);
    case "action.result":
      if (event.data.parentCallId !== undefined) return turn;
      return move(turn, event.data.callId, () => ({ phase: "done" }));
    case "action.approval_requested":
      return move(turn, event.data.callId, () => ({ phase: "parked", requestedAt: event.at }));
    case "action.approval_resolved": {
      const { callId, decision } = event.data;
      return move(turn, callId, () => ({ phase: decision === "approve" ? "approved" : "denied" }));
    }
  }
}

function asRequested(call: SessionEvent<"actions.requested">["data"]["calls"][number]): CallState {
  return { callId: call.callId, toolName: call.toolName, args: call.args ?? {}, phase: "requested" };
}

function closeStep(turn: TurnState, data: SessionEvent<"step.completed">["data"]): TurnState {
  const usage = addUsage(turn.usage, data.usage);
  const cost = data.costUsd === undefined ? turn.costUsd : (turn.costUsd ?? 0) + data.costUsd;
  return {
    ...turn,
    stepping: false,
    finishReason: data.finishReason,
    ...(usage === undefined ? {} : { usage }),
    ...(cost === undefined ? {} : { costUsd: cost }),
  };
}

function move(turn: TurnState, callId: string, change: () => Partial<CallState>): TurnState {
  return {
    ...turn,
    calls: turn.calls.map((call) =>
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
