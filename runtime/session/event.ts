/**
 * The session event vocabulary: one closed union, and the catalog that says how each type is stored.
 *
 * Source of the rule: `sessions.md` (vocabulary), `wire.md` (payloads), decisions 12–16. This file imports nothing, so
 * authoring, the session core and any client can share its types.
 */

/** A value that survives `JSON.stringify` unchanged. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue };
/** A JSON object. */
export type JsonObject = { readonly [key: string]: JsonValue };

/** Token counts of one model step or one turn. `inputTokens` includes what came from the cache. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  /** Part of `outputTokens`, when the provider reports it. */
  readonly reasoningTokens?: number;
}

/** Money for one turn, in US dollars, and the model it was priced against. */
export interface Cost {
  readonly totalUsd: number;
  readonly model: string;
}

/** One tool call that the model asked for. `parentCallId` marks work of a subagent. */
export interface RequestedCall {
  readonly callId: string;
  readonly toolName: string;
  readonly args?: JsonValue;
  readonly parentCallId?: string;
}

export type SessionMode = "chat" | "task";
export type SessionPurpose = "live" | "eval";
export type FinishReason = "stop" | "tool-calls" | "length" | "content-filter" | "error" | "other";

/** `data` of every event type. The keys are the whole vocabulary. */
export interface SessionEventData {
  "session.started": {
    readonly mode: SessionMode;
    readonly purpose: SessionPurpose;
    readonly channelId: string;
    readonly title?: string;
    readonly dryRun?: boolean;
    readonly asOf?: string;
    readonly model: string;
    readonly agent: string;
    readonly manifestHash: string;
    /** The session that this one is a copy of, and the index it was cut at. */
    readonly forkedFrom?: { readonly sessionId: string; readonly atIndex: number };
  };
  "session.waiting": Record<string, never>;
  "session.completed": { readonly result?: JsonValue };
  "session.failed": { readonly message: string; readonly code?: string };
  "message.received": { readonly text: string; readonly files?: readonly string[] };
  "turn.queued": { readonly position: number };
  "turn.started": { readonly model: string };
  "turn.completed": { readonly result?: JsonValue; readonly usage?: Usage; readonly cost?: Cost };
  "turn.failed": { readonly message: string; readonly status?: "error" | "cancelled"; readonly code?: string };
  "step.started": {
    readonly step: number;
    readonly attempt?: number;
    /** Why the turn's final text was rejected, told to the model with this step. */
    readonly repair?: string;
    readonly parentCallId?: string;
  };
  "step.completed": {
    readonly step: number;
    readonly durationMs: number;
    readonly finishReason: FinishReason;
    readonly usage?: Usage;
    /** What the step cost in US dollars: as the provider charged, else by the price list. Absent: no price is known. */
    readonly costUsd?: number;
    /** Opaque provider state that travels back to the model with this step's message. */
    readonly provider?: JsonValue;
    readonly parentCallId?: string;
  };
  "reasoning.appended": { readonly delta: string; readonly parentCallId?: string };
  "reasoning.completed": { readonly text: string; readonly parentCallId?: string };
  "message.appended": { readonly delta: string; readonly messageId: string; readonly parentCallId?: string };
  "message.completed": {
    readonly text: string;
    readonly messageId: string;
    readonly finishReason: FinishReason;
    readonly parentCallId?: string;
  };
  "actions.requested": { readonly calls: readonly RequestedCall[]; readonly parentCallId?: string };
  "action.result": {
    readonly callId: string;
    readonly toolName: string;
    readonly output?: JsonValue;
    readonly isError: boolean;
    readonly stubbed?: boolean;
    readonly durationMs: number;
    readonly parentCallId?: string;
  };
  "action.approval_requested": {
    readonly callId: string;
    readonly toolName: string;
    readonly args: JsonValue;
    readonly reason?: string;
    /** Hash of the tool's code that asked: another one at the decision means that what would run has changed. */
    readonly codeHash?: string;
    readonly parentCallId?: string;
  };
  "action.approval_resolved": {
    readonly callId: string;
    readonly decision: "approve" | "deny" | "cancelled";
    readonly by?: string;
  };
  "subagent.called": {
    readonly callId: string;
    readonly subagent: string;
    readonly prompt: string;
    /** What it runs on. */
    readonly model?: string;
  };
  "subagent.completed": {
    readonly callId: string;
    readonly subagent: string;
    readonly isError: boolean;
    readonly result?: JsonValue;
    readonly usage?: Usage;
  };
  "artifact.tagged": { readonly id: string; readonly kind: string; readonly key: string; readonly title: string };
}

/** The name of an event, such as `turn.completed`. */
export type SessionEventType = keyof SessionEventData;

/** One event as it stands in the log and on the stream; narrowing on `type` narrows `data`. */
export type SessionEvent<T extends SessionEventType = SessionEventType> = {
  readonly [K in T]: {
    readonly type: K;
    /** Position in the session's log; increases by one. */
    readonly index: number;
    readonly sessionId: string;
    /** Set on turn-scoped events. */
    readonly turnId?: string;
    /** ISO-8601 instant. */
    readonly at: string;
    readonly data: SessionEventData[K];
  };
}[T];

/**
 * How each type is stored. `flush`: the record is on disk (fdatasync) before anyone sees it; the others follow with
 * the next flush. Decision 14.
 */
export const eventCatalog: { readonly [K in SessionEventType]: { readonly flush: boolean } } = {
  "session.started": { flush: true },
  "session.waiting": { flush: true },
  "session.completed": { flush: true },
  "session.failed": { flush: true },
  "message.received": { flush: true },
  "turn.queued": { flush: true },
  "turn.started": { flush: true },
  "turn.completed": { flush: true },
  "turn.failed": { flush: true },
  "step.started": { flush: false },
  "step.completed": { flush: false },
  "reasoning.appended": { flush: false },
  "reasoning.completed": { flush: false },
  "message.appended": { flush: false },
  "message.completed": { flush: false },
  "actions.requested": { flush: true },
  "action.result": { flush: true },
  "action.approval_requested": { flush: true },
  "action.approval_resolved": { flush: true },
  "subagent.called": { flush: true },
  "subagent.completed": { flush: true },
  "artifact.tagged": { flush: true },
};

/** Every event type, in the order of the catalog. */
export const sessionEventTypes = Object.keys(eventCatalog) as readonly SessionEventType[];
