/**
 * The door to sessions: what HTTP routes, channels, schedules and evals call. Implemented over the pure core
 * (`decide`, `reduce`) by `runner.ts`; everything that touches the world comes in through ports.
 */
import type { JsonValue, SessionEvent, SessionMode, SessionPurpose } from "./event.js";
import type { Soon } from "./soon.js";

/** The caller as this core needs it; `runtime/auth/principal.ts` is assignable to it. */
export interface Caller {
  /** `kind:id`. */
  readonly owner: string;
  /** Sees sessions of every principal (`--dev` on loopback, `--allow-anonymous`). */
  readonly seesAll: boolean;
  /** What authored code gets as `ctx.session.auth`. */
  readonly auth: {
    readonly kind: string;
    readonly id: string;
    readonly claims?: Readonly<Record<string, unknown>>;
    /** How many agents of this host have asked one another until this request; absent when none has. */
    readonly hops?: number;
  };
}

export interface CreateSession {
  readonly message: string;
  /** `http` for the built-in API. */
  readonly channelId: string;
  /** Made beforehand, by whoever must not start the same twice; refused with `token_in_use` when it is taken. */
  readonly id?: string;
  /** Bare channel-side key; left out: an opaque rotating `http:` token is made. */
  readonly continuationKey?: string;
  readonly mode?: SessionMode;
  readonly purpose?: SessionPurpose;
  readonly title?: string;
  readonly dryRun?: boolean;
  /** ISO-8601 instant with offset; already checked by the caller or refused here with `invalid_as_of`. */
  readonly asOf?: string;
  /** Relative path → UTF-8 text. */
  readonly workspaceFiles?: Readonly<Record<string, string>>;
  /** Absolute folder to work in instead of a workspace of the session's own; only channels name one. */
  readonly workspaceDir?: string;
  readonly idempotencyKey?: string;
}

export interface FollowUp {
  readonly sessionId: string;
  readonly continuationToken: string;
  readonly message: string;
  readonly admission?: "preempt" | "coalesce";
  readonly workspaceFiles?: Readonly<Record<string, string>>;
  readonly idempotencyKey?: string;
}

/** A copy of a session, to go another way from some point of it. */
export interface ForkSession {
  readonly sessionId: string;
  /** The copy begins with the events before this index. */
  readonly atIndex: number;
  /** Starts a turn of the copy; required when nothing was said before `atIndex`. */
  readonly message?: string;
  readonly idempotencyKey?: string;
}

/** The answer to an accepted message; durable by the time it is returned. */
export interface Accepted {
  readonly sessionId: string;
  readonly continuationToken: string;
}

export type SessionStatus = "waiting" | "running" | "queued" | "awaiting_approval" | "completed" | "failed";

/** A row of `GET /v1/sessions`. */
export interface SessionSummary {
  readonly id: string;
  readonly title?: string;
  readonly channelId: string;
  readonly mode: SessionMode;
  readonly purpose: SessionPurpose;
  readonly status: SessionStatus;
  readonly owner: string;
  readonly continuationToken: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly turns: number;
  readonly dryRun?: boolean;
  readonly asOf?: string;
}

export interface SessionPage {
  readonly sessions: readonly SessionSummary[];
  readonly nextCursor?: string;
}

/** A direct tool call (`POST /v1/tools/:name`), bound to a session or not. */
export interface DirectToolCall {
  readonly toolName: string;
  readonly input: unknown;
  readonly sessionId?: string;
  readonly continuationToken?: string;
  readonly signal?: AbortSignal;
  /** For a call outside any session. */
  readonly notices?: CallNotices;
}

/** What a call may tell its caller before it ends. */
export interface CallNotices {
  readonly progress?: (progress: number, total?: number, message?: string) => void;
  readonly log?: (level: string, message: string) => void;
}

export interface ToolCallOutcome {
  readonly callId: string;
  readonly toolName: string;
  readonly isError: boolean;
  readonly result: JsonValue;
  readonly durationMs: number;
}

export interface PendingApproval {
  readonly callId: string;
  readonly toolName: string;
  readonly args: JsonValue;
  readonly requestedAt: string;
  /** The agent's code has changed since; approving needs `confirm`. */
  readonly changed?: boolean;
}

/**
 * All methods throw `RuntimeError`: `not_found`, `forbidden` (another principal's session), `stale_continuation_token`,
 * `session_not_followable`, `session_busy`, `unknown_tool`, `invalid_input`, `storage_unavailable`, …
 */
export interface SessionService {
  create(caller: Caller, request: CreateSession): Promise<Accepted>;
  followUp(caller: Caller, request: FollowUp): Promise<Accepted>;
  /** Throws `invalid_request` for an index that the session has not reached. */
  fork(caller: Caller, request: ForkSession): Promise<Accepted>;
  stop(caller: Caller, sessionId: string): Promise<{ readonly stopped: boolean }>;
  get(caller: Caller, sessionId: string): Promise<SessionSummary>;
  /** Id of the session that a continuation token in its wire form names now, whoever asks. */
  findByToken(token: string): string | undefined;
  /** Index from which on everything of the last turn is told, and the index of the next event. */
  position(caller: Caller, sessionId: string): Promise<{ readonly turn: number; readonly next: number }>;
  list(caller: Caller, query: { readonly limit: number; readonly cursor?: string }): Promise<SessionPage>;
  /** Every recorded event from `startIndex`, as NDJSON lines without the newline, in batches. */
  read(caller: Caller, sessionId: string, startIndex: number): Promise<AsyncIterable<readonly string[]>>;
  /** As `read`, then live until `signal` aborts, the session is deleted, or a task session has ended. Pulls from the log: a slow reader costs no memory. */
  follow(
    caller: Caller,
    sessionId: string,
    startIndex: number,
    signal: AbortSignal,
  ): Promise<AsyncIterable<readonly string[]>>;
  /** Answers at once where the tool does. Never throws: it rejects. */
  callTool(caller: Caller, call: DirectToolCall): Soon<ToolCallOutcome>;
  approvals(caller: Caller, sessionId: string): Promise<readonly PendingApproval[]>;
  resolveApproval(
    caller: Caller,
    sessionId: string,
    callId: string,
    decision: "approve" | "deny",
    confirm: boolean,
  ): Promise<void>;
  /** Called after each recorded event, in order, one at a time per session (hooks, channel delivery). */
  onEvent(listener: (event: SessionEvent) => void | Promise<void>): () => void;
  /** Resolves when no turn of the session is running; for `waitForCompletion` and tests. */
  settled(sessionId: string): Promise<void>;
  /** Stops accepting, lets turns settle up to `graceMs`, flushes and releases the store. */
  close(graceMs?: number): Promise<void>;
}
