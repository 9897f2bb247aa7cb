/**
 * What the session core needs from the world. `runtime/storage`, `runtime/tools`, `runtime/workspace` and
 * `runtime/hooks` implement these; the core itself touches nothing.
 */
import type { JsonValue, SessionEvent, SessionEventType, SessionMode, SessionPurpose } from "./event.js";
import type { Harness, ModelSetting, ToolSpec } from "./model.js";
import type { Caller, CallNotices, SessionStatus } from "./service.js";

/** Facts fixed when a session is created; stored as `session.json`. */
export interface SessionRecord {
  readonly id: string;
  /** `kind:id` of the principal it belongs to. */
  readonly owner: string;
  readonly auth: Caller["auth"];
  readonly channelId: string;
  /** The channel's own key; absent for the built-in API, whose tokens rotate. */
  readonly continuationKey?: string;
  readonly mode: SessionMode;
  readonly purpose: SessionPurpose;
  readonly title?: string;
  readonly dryRun?: boolean;
  /** ISO-8601 instant with offset. */
  readonly asOf?: string;
  /** Absolute folder that a channel gave this session to work in. */
  readonly workspaceDir?: string;
  readonly createdAt: string;
}

/** A row of the index: enough for listing, token look-up and recovery without opening the session. */
export interface SessionRow {
  readonly id: string;
  readonly owner: string;
  readonly channelId: string;
  readonly continuationKey?: string;
  readonly mode: SessionMode;
  readonly purpose: SessionPurpose;
  readonly title?: string;
  readonly dryRun?: boolean;
  readonly asOf?: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly status: SessionStatus;
  /** Turns started. */
  readonly turns: number;
  /** Messages accepted; the counter of the rotating token. */
  readonly messages: number;
  /** Work is left that no caller has to ask for: recovery opens exactly these. */
  readonly open: boolean;
}

/** The first answer to an idempotency key. */
export interface Claim {
  readonly key: string;
  readonly sessionId: string;
  readonly messages: number;
  /** What the message's record is known by; left out where the session's being there tells that it was taken. */
  readonly record?: RecordMark;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** Tells a record from another that took its place in the log, because this one was never written. */
export interface RecordMark {
  readonly index: number;
  readonly turnId?: string;
  /** ISO-8601 instant. */
  readonly at: string;
}

/** The append-only log of one session. */
export interface EventLog {
  /** Index of the next event. */
  readonly nextIndex: number;
  /**
   * Takes events in call order, at once; resolves when they may be seen: on disk where the catalog says `flush`.
   * After a rejection the log is broken: whoever holds it drops it and opens the session again.
   */
  append(events: readonly SessionEvent[]): Promise<void>;
  /** Everything visible, from `startIndex`, as lines, in batches. */
  read(startIndex: number): AsyncIterable<readonly string[]>;
  /** Gives the handle back; the file closes when nobody holds it. */
  release(): void;
}

/** Sessions on disk, or elsewhere. One process owns a store. */
export interface EventStore {
  /**
   * Makes a session, its folder at once. Its log takes events at once, too; they become visible when the session is on
   * disk, or reject and nothing stays.
   */
  create(record: SessionRecord): EventLog;
  /** `undefined` when the session was deleted. */
  open(id: string): Promise<{ readonly record: SessionRecord; readonly log: EventLog } | undefined>;
  /** As the log's own `read`, for a session that nobody has in memory. */
  read(id: string, startIndex: number): AsyncIterable<readonly string[]>;
  /** As `read`, then live, until `signal` aborts, the session is gone, or `ended()` holds and nothing is left. */
  follow(id: string, startIndex: number, signal: AbortSignal, ended: () => boolean): AsyncIterable<readonly string[]>;
  /** Replaces the facts of a session that exists. */
  rewrite(record: SessionRecord): void;
  /** False once somebody removed the session's directory. */
  exists(id: string): boolean;
  /** Calls back when a session that someone works on or follows has been removed. */
  onGone(listener: (id: string) => void): void;
  readonly index: SessionIndex;
}

/** The store's index. Synchronous: it lives in memory and is journalled. */
export interface SessionIndex {
  get(id: string): SessionRow | undefined;
  /** Writes a row; throws `storage_unavailable` and changes nothing when it can't. */
  put(row: SessionRow): void;
  forget(id: string): void;
  /** The live session of a channel's key. */
  byKey(channelId: string, key: string): SessionRow | undefined;
  /** Newest first, starting after the id `cursor`. */
  rows(cursor?: string): Iterable<SessionRow>;
  /** Sessions left with work to do by an earlier process. */
  open(): readonly SessionRow[];
  claim(key: string): Claim | undefined;
  /** Writes a claim at once, as `put` does; resolves when it is on disk. */
  putClaim(claim: Claim): Promise<void>;
}

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls back after `ms` milliseconds, without keeping the process alive; returns how to call it off. */
  after(ms: number, callback: () => void): () => void;
}

/** Makes ids that sort by time: `ses_`, `turn_`, `call_`, `msg_`, `tool_<name>_` + ULID. */
export type MakeId = (prefix: string) => string;

/** Tokens of the built-in API: `http:` + HMAC of session id and counter. */
export interface TokenSigner {
  sign(sessionId: string, counter: number): string;
  /** Constant-time comparison. */
  equal(left: string, right: string): boolean;
}

/** How a tool call ended. */
export interface CallOutcome {
  readonly output: JsonValue;
  readonly isError: boolean;
  readonly stubbed?: boolean;
  /** Set when the call was cut off and nobody knows whether it took effect. */
  readonly unknown?: boolean;
}

/** What a call is told about where it runs. */
export interface CallScope {
  readonly callId: string;
  readonly record?: SessionRecord;
  readonly turnId?: string;
  readonly caller?: Caller["auth"];
  readonly signal?: AbortSignal | undefined;
  readonly notices?: CallNotices;
}

/** A call whose input has passed its schema. */
export interface PreparedCall {
  readonly effect: "read" | "write";
  /** Set when the call is work for a subagent: the turn carries it out, and `run` is never called. */
  readonly delegate?: { readonly subagent: string; readonly prompt: string };
  /** Whether a human decides first. Model-initiated calls only. */
  needsApproval(scope: CallScope): boolean | Promise<boolean>;
  /** Never rejects for what the tool does; only for the host's own failures (`workspace_unavailable`). */
  run(scope: CallScope): CallOutcome | Promise<CallOutcome>;
}

/** A tool of the running code. */
export interface CallableTool {
  readonly name: string;
  readonly execution: "server" | "agent";
  /** For the model alone: a direct call finds no such tool. */
  readonly modelOnly?: boolean;
  /** Checks input; refused input comes back as a `Refusal`. */
  prepare(input: unknown): PreparedCall | Refusal | Promise<PreparedCall | Refusal>;
}

export interface Refusal {
  readonly refused: string;
  readonly issues: readonly { readonly path: string; readonly message: string }[];
}

/** What a turn's final text is committed with. */
export interface CommitScope {
  readonly record: SessionRecord;
  readonly turnId: string;
  readonly signal: AbortSignal;
}

/** What came of a commit. */
export type Committed =
  /** `result` left out: the text itself is the result. */
  | { readonly is: "accepted"; readonly result?: JsonValue }
  /** The text goes back to the model with this message. */
  | { readonly is: "rejected"; readonly message: string }
  | { readonly is: "failed"; readonly message: string }
  | { readonly is: "unknown"; readonly message: string };

/** A commit that began, and what came of it once that is known. */
export interface CommitEntry {
  readonly turnId: string;
  /** The step whose text it is. */
  readonly step: number;
  readonly outcome?: Committed;
}

/** Each session's last commit, so that none runs twice. */
export interface CommitLedger {
  read(sessionId: string): CommitEntry | undefined;
  /** On disk when it resolves. */
  write(sessionId: string, entry: CommitEntry): Promise<void>;
}

/** Who takes model steps: the agent itself, or one of its subagents. */
export interface Actor {
  readonly model: ModelSetting;
  harness(): Promise<Harness>;
  system(record: SessionRecord): string;
  /** What the model may call in that session. */
  specs(record: SessionRecord): readonly ToolSpec[] | Promise<readonly ToolSpec[]>;
  /** A promise for tools of MCP connections, which only their server knows. */
  tool(name: string): CallableTool | undefined | Promise<CallableTool | undefined>;
  /** Names of what the model may call. */
  readonly toolNames: readonly string[];
}

/** The running code of one agent, as a turn pins it. */
export interface Generation extends Actor {
  readonly agentName: string;
  readonly manifestHash: string;
  /** Hash of the code that calls of a tool run through; of all the code where that is not known. */
  readonly codeHash: (toolName: string) => string;
  readonly maxRunningTurns: number | undefined;
  /** Names of the project's tools that can be called without a model. */
  readonly directToolNames: readonly string[];
  /** Names of tools of MCP connections that can be called so, as far as they are known. */
  lentToolNames?(): readonly string[];
  subagent(name: string): Actor | undefined;
  /** The project's own act on a turn's final text; never rejects. Absent: the text is the result. */
  readonly commit?: (text: string, scope: CommitScope) => Promise<Committed>;
}

/** Files sent with a message, waiting to be accepted with it. */
export interface StagedFiles {
  readonly paths: readonly string[];
  /** Binds them to the session's n-th message; synchronous, so that it happens with the record. */
  accept(message: number): void;
  discard(): Promise<void>;
}

/** The session's working directory. */
export interface Workspace {
  /** Checks paths and sizes (`invalid_request`, `payload_too_large`) and keeps the contents aside, durably. */
  stage(sessionId: string, files: Readonly<Record<string, string>>): Promise<StagedFiles>;
  /** Lays the accepted files of these messages into the workspace; those laid out already are passed over. */
  deliver(record: SessionRecord, messages: readonly number[]): Promise<void>;
  /**
   * Copies a session's folder as it is now, if there is one, for a session that is to be forked from it; the call that
   * comes back gives it the copy, once it is made. Throws `workspace_unavailable`.
   */
  copy(from: SessionRecord, to: SessionRecord): Promise<() => void>;
}

/** A session as hooks are told of it. */
export interface ObservedSession {
  readonly record: SessionRecord;
  /** `null` when the session can't take follow-ups. */
  readonly continuationToken: string | null;
}

/** Hooks and channel delivery: after the record, in order, one at a time per session. Must not reject. */
export interface EventSink {
  wants(type: SessionEventType): boolean;
  dispatch(event: SessionEvent, session: ObservedSession): void | Promise<void>;
}

export type Log = (level: "debug" | "info" | "warn" | "error", message: string) => void;

/** Why a request can't be served: becomes a `RuntimeError` of that code. */
export interface Rejection {
  readonly code:
    | "invalid_request"
    | "invalid_input"
    | "invalid_as_of"
    | "invalid_continuation_token"
    | "forbidden"
    | "not_found"
    | "unknown_tool"
    | "stale_continuation_token"
    | "session_busy"
    | "session_not_followable"
    | "approval_resolved"
    | "approval_required"
    | "token_in_use"
    | "storage_unavailable"
    | "internal";
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Everything `createSessionService` is given. */
export interface SessionDeps {
  readonly store: EventStore;
  readonly workspace: Workspace;
  readonly commits: CommitLedger;
  /** The code that new turns and direct calls run on. */
  readonly generation: () => Generation;
  readonly sink: EventSink;
  readonly clock: Clock;
  readonly makeId: MakeId;
  readonly tokens: TokenSigner;
  readonly log: Log;
  /** Makes the error that callers see. */
  readonly fail: (rejection: Rejection) => Error;
  /**
   * Lets a turn begin when there is time for it: its message is durable, and may wait. Resolves early when the signal
   * aborts; `undefined`: at once. Default: at once.
   */
  readonly pace?: (record: SessionRecord, signal: AbortSignal) => Promise<void> | undefined;
  /** Most model steps in one turn; default 100. */
  readonly maxSteps?: number;
  /** Sessions kept in memory while idle; default 256. */
  readonly maxIdle?: number;
}
