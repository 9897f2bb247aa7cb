import { type Command, type Draft, unrun } from "./decide.js";
import { elapsed } from "./elapsed.js";
import type { JsonValue, SessionEvent, SessionEventData } from "./event.js";
import { closeDirectCalls } from "./fork.js";
import { markOf } from "./idempotency.js";
import { type SessionContext, SessionJournal } from "./journal.js";
import type {
  CallOutcome,
  EventLog,
  PreparedCall,
  RecordMark,
  SessionRecord,
  SessionRow,
  StagedFiles,
} from "./ports.js";
import type { SessionState } from "./state.js";
import { TurnLoop } from "./turn-loop.js";

export interface RunnerContext extends SessionContext {
  /** The log can't be written any more: the runner is useless and must be replaced. */
  readonly onBroken: (runner: SessionRunner, error: Error) => void;
}

/**
 * Called with the number that a message will have and what its record will be known by, right before the record: a process
 * that dies between the two leaves a mark that nothing bears, which tells a later one that the message was not taken.
 */
export type BeforeRecord = (messages: number, record: RecordMark) => void;

/** One session, alive: takes commands, records what they decide, and keeps its turn loop going. */
export class SessionRunner {
  readonly #context: RunnerContext;
  readonly #journal: SessionJournal;
  readonly #loop: TurnLoop;

  constructor(record: SessionRecord, log: EventLog, context: RunnerContext) {
    this.#context = context;
    this.#journal = new SessionJournal(record, log, context, (error) => {
      this.#loop.abandon(error);
      context.onBroken(this, error);
    });
    this.#loop = new TurnLoop(this.#journal, context);
  }

  get record(): SessionRecord {
    return this.#journal.record;
  }

  get state(): SessionState {
    return this.#journal.state;
  }

  get row(): SessionRow {
    return this.#journal.row;
  }

  /** Nothing runs and nothing waits to be done: may be dropped from memory. */
  get isIdle(): boolean {
    return !this.#loop.isActive && this.#journal.state.direct.length === 0 && this.#journal.isObserved;
  }

  /** Folds events that are already in the log. */
  replay(events: Iterable<SessionEvent>): void {
    this.#journal.replay(events);
  }

  /** Called once after replay of a log that an earlier process wrote: takes up what it left. */
  recover(): void {
    const message = "The server restarted during this call; whether it took effect is unknown.";
    const lost = this.#journal.state.direct.map(
      ({ callId, toolName }): Draft => ({ type: "action.result", data: unrun(callId, toolName, message) }),
    );
    if (lost.length > 0) void this.#journal.append(lost);
    this.#loop.adoptOrphans();
    this.#journal.reconcile();
    this.#loop.drive();
  }

  /** Records a new session's first events and starts its turn; resolves when the message is durable. */
  begin(command: Command & { readonly do: "create" }): Promise<void> {
    const visible = this.#journal.append(this.#journal.decide(command));
    this.#loop.drive();
    return visible;
  }

  /**
   * Begins a new session as a copy: what the copied events leave open is closed, then the message, if there is one,
   * starts a turn. Resolves when all of it is durable.
   */
  async beginFork(
    events: readonly SessionEvent[],
    message: { readonly text: string; readonly beforeRecord: BeforeRecord } | undefined,
  ): Promise<void> {
    const journal = this.#journal;
    const copied = journal.adopt(events);
    const ended = journal.decide({ do: "cancel", message: "the conversation was forked here", all: false });
    const closed = journal.append([...closeDirectCalls(journal.state), ...ended]);
    const received = message === undefined ? closed : this.receive({ admission: "preempt", ...message });
    await Promise.all([copied, closed, received]);
    this.#loop.drive();
  }

  /** Throws when the session takes no follow-ups. */
  requireFollowable(): void {
    this.#journal.decide({ do: "receive", text: "", admission: "preempt", turnId: "" });
  }

  /** Takes a message; returns the number of messages so far, once the record is durable. */
  async receive(message: {
    readonly text: string;
    readonly admission: "preempt" | "coalesce";
    readonly files?: StagedFiles;
    readonly beforeRecord?: BeforeRecord;
  }): Promise<number> {
    const { text, admission, files, beforeRecord } = message;
    const journal = this.#journal;
    const turnId = this.#context.deps.makeId("turn_");
    const named = files === undefined ? {} : { files: files.paths };
    const drafts = journal.decide({ do: "receive", text, admission, turnId, ...named });
    files?.accept(journal.state.messages + 1);
    const interrupted = admission === "preempt" ? journal.state.turn?.id : undefined;
    const count = journal.state.messages + 1;
    const visible = journal.append(drafts, ([event]) => event && beforeRecord?.(count, markOf(event)));
    const { messages } = journal.state;
    await visible;
    if (interrupted !== undefined && interrupted === journal.state.turn?.id) {
      this.#loop.interrupt("interrupted by a new message");
    }
    this.#loop.drive();
    return messages;
  }

  /** Interrupts the open turn and drops the one waiting behind it. False when there was none. */
  async stop(): Promise<boolean> {
    const { turn, pending } = this.#journal.state;
    if (turn === undefined && pending === undefined) return false;
    await this.#loop.stop();
    return true;
  }

  /** Settles a parked call. */
  async resolve(callId: string, decision: "approve" | "deny", by: string, confirm: boolean): Promise<void> {
    const { codeHash } = this.#context.deps.generation();
    await this.#journal.append(this.#journal.decide({ do: "resolve", callId, decision, by, confirm, codeHash }));
    this.#loop.drive();
  }

  /** Gives the session another continuation key. */
  rekey(continuationKey: string): void {
    this.#journal.rekey(continuationKey);
  }

  /** Records that an artifact was tagged; resolves when it may be seen. */
  announce(turnId: string | undefined, data: SessionEventData["artifact.tagged"]): Promise<void> {
    return this.#journal.append([{ type: "artifact.tagged", ...(turnId !== undefined && { turnId }), data }]);
  }

  /** Runs a direct call inside the session and records it on the stream. */
  async direct(
    callId: string,
    toolName: string,
    input: unknown,
    prepared: PreparedCall,
    signal: AbortSignal | undefined,
  ): Promise<CallOutcome & { readonly durationMs: number }> {
    const { clock, fail } = this.#context.deps;
    const journal = this.#journal;
    if (prepared.effect === "write" && (this.#loop.isActive || journal.state.pending !== undefined)) {
      throw fail({ code: "session_busy", message: "a turn is running; try again when the session is waiting" });
    }
    const calls = [{ callId, toolName, args: input as JsonValue }];
    await journal.append([{ type: "actions.requested", data: { calls } }]);
    const startedAt = clock.now();
    try {
      const outcome = await prepared.run({ callId, record: this.record, ...(signal && { signal }) });
      const durationMs = elapsed(clock, startedAt);
      const { output, isError, stubbed } = outcome;
      const flags = stubbed === true ? { isError, stubbed } : { isError };
      await journal.append([{ type: "action.result", data: { callId, toolName, output, ...flags, durationMs } }]);
      return { ...outcome, durationMs };
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (journal.broken === undefined) {
        await journal.append([{ type: "action.result", data: unrun(callId, toolName, message) }]);
      }
      throw error;
    }
  }

  /** Resolves when no turn runs and observers have been told everything. */
  async settled(): Promise<void> {
    await this.#loop.settled();
    await this.#journal.observed();
  }

  /** Lets go without recording anything: what is open stays open, for the next process. */
  abandon(reason: Error): void {
    this.#journal.close(reason);
    this.#loop.abandon(reason);
  }
}
