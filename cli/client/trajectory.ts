import type { Cost, JsonValue, SessionEvent, Usage } from "../../runtime/session/event.js";

/** What a turn came to, as `bdk run --json` prints it. Source: `wire.md` (Other bodies). */
export interface Trajectory {
  readonly sessionId: string;
  readonly status: "completed" | "failed" | "cancelled" | "awaiting_approval";
  readonly reply: string;
  readonly toolCalls: readonly TrajectoryCall[];
  readonly usage: Usage;
  readonly cost?: Cost;
  readonly error?: string;
}

export interface TrajectoryCall {
  readonly callId: string;
  readonly toolName: string;
  readonly args: JsonValue;
  /** `null` while there is no result. */
  readonly output: JsonValue;
  readonly isError: boolean;
  readonly stubbed?: boolean;
  readonly parentCallId?: string;
}

const noUsage: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

/** Folds a session's events; several turns add up, and the reply is the last one. */
export function foldTrajectory(sessionId: string, events: Iterable<SessionEvent>): Trajectory {
  let status: Trajectory["status"] = "completed";
  let reply = "";
  let error: string | undefined;
  let usage = noUsage;
  let cost: Cost | undefined;
  const calls = new Map<string, TrajectoryCall>();
  const parked = new Set<string>();

  for (const event of events) {
    switch (event.type) {
      case "message.completed":
        if (event.data.finishReason === "stop" && event.data.parentCallId === undefined) reply = event.data.text;
        break;
      case "actions.requested":
        for (const call of event.data.calls) {
          const parentCallId = call.parentCallId ?? event.data.parentCallId;
          calls.set(call.callId, {
            callId: call.callId,
            toolName: call.toolName,
            args: call.args ?? null,
            output: null,
            isError: false,
            ...(parentCallId === undefined ? {} : { parentCallId }),
          });
        }
        break;
      case "action.result": {
        const { callId, toolName, output, isError, stubbed, parentCallId } = event.data;
        const asked = calls.get(callId) ?? {
          callId,
          toolName,
          args: null,
          ...(parentCallId === undefined ? {} : { parentCallId }),
        };
        calls.set(callId, { ...asked, output: output ?? null, isError, ...(stubbed === undefined ? {} : { stubbed }) });
        break;
      }
      case "action.approval_requested":
        parked.add(event.data.callId);
        break;
      case "action.approval_resolved":
        parked.delete(event.data.callId);
        break;
      case "turn.started":
        status = "completed";
        error = undefined;
        break;
      case "turn.completed":
        status = "completed";
        if (event.data.usage !== undefined) usage = addUsage(usage, event.data.usage);
        if (event.data.cost !== undefined) {
          cost = { totalUsd: (cost?.totalUsd ?? 0) + event.data.cost.totalUsd, model: event.data.cost.model };
        }
        break;
      case "turn.failed":
        status = event.data.status === "cancelled" ? "cancelled" : "failed";
        error = event.data.message;
        break;
      case "session.failed":
        status = "failed";
        error = event.data.message;
        break;
      default:
        break;
    }
  }
  if (parked.size > 0) status = "awaiting_approval";
  return {
    sessionId,
    status,
    reply,
    toolCalls: [...calls.values()],
    usage,
    ...(cost === undefined ? {} : { cost }),
    ...(error === undefined ? {} : { error }),
  };
}

function addUsage(a: Usage, b: Usage): Usage {
  const reasoning = (a.reasoningTokens ?? 0) + (b.reasoningTokens ?? 0);
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
    cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
    ...(a.reasoningTokens === undefined && b.reasoningTokens === undefined ? {} : { reasoningTokens: reasoning }),
  };
}
