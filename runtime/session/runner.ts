import { runCall } from "./calls.js";
import { type Command, type Draft, decide, isRejected, stamp, unrun } from "./decide.js";
import type { JsonValue, SessionEvent } from "./event.js";
import { createObservers, type Listener, type Observers } from "./observers.js";
import { type Next, plan } from "./plan.js";
import type {
  CallOutcome,
  EventLog,
  Generation,
  PreparedCall,
  SessionDeps,
  SessionRecord,
  SessionRow,
  StagedFiles,
} from "./ports.js";
import { reduce } from "./reduce.js";
import type { TurnSlots } from "./slots.js";
import { type CallState, initialState, openCalls, type SessionState } from "./state.js";
import { runStep } from "./step.js";
import { type Conversation, createConversation } from "./views/conversation.js";
import { toRow } from "./views/summary.js";

const defaultMaxSteps = 100;

interface Cancel {
  readonly turnId: string | undefined;
  readonly message: string;
  /** Also the turn that waits behind the open one. */
  readonly all: boolean;
  readonly done: () => void;
}

/** What a runner shares with the service and with the other sessions of its agent. */
export interface RunnerContext {
  readonly deps: SessionDeps;
  readonly slots: TurnSlots;
  readonly listeners: ReadonlySet<Listener>;
  readonly token: (row: SessionRow) => string | null;
  /** The log can't be written any more: the runner is useless and must be replaced. */
  readonly onBroken: (runner: SessionRunner, error: Error) => void;
}

/**
 * One session, alive: the only place with effects.
 *
 * Commands decide, record and fold in one synchronous stretch, so two of them never see the same state; what they
 * answer and what the turn loop acts on waits until the record is durable. The loop asks `plan` what comes next and
 * nothing else, which makes going on after a crash the same as going on after a step.
 */
export class SessionRunner {
  readonly record: SessionRecord;
  readonly #context: RunnerContext;
  readonly #log: EventLog;
  readonly #observers: Observers;
  readonly #conversation: Conversation = createConversation();
  /** Calls that an earlier process left without a result. */
  readonly #orphans = new Set<string>();
  readonly #running = new Map<string, Promise<void>>();
  #state: SessionState = initialState;
  #row: SessionRow | undefined;
  #visible: Promise<void> = Promise.resolve();
  #broken: Error | undefined;
  #active = false;
  #loop: Promise<void> = Promise.resolve();
  #wake: () => void = () => undefined;
  #cancel: Cancel | undefined;
  #abort = new AbortController();
  #generation: Generation | undefined;
  #slotLimit: { readonly limit: number | undefined } | undefined;

  constructor(record: SessionRecord, log: EventLog, context: RunnerContext) {
    this.record = record;
    this.#log = log;
    this.#context = context;
    const { sink, log: write } = context.deps;
    this.#observers = createObservers(sink, context.listeners, () => this.#observed(), write);
  }

  get state(): SessionState {
    return this.#state;
  }

  get row(): SessionRow {
    this.#row ??= toRow(this.record, this.#state);
    return this.#row;
  }

  /** Nothing runs and nothing waits to be done: may be dropped from memory. */
  get isIdle(): boolean {
    return !this.#active && this.#running.size === 0 && this.#state.direct.length === 0;
  }

  /** Folds events that are already in the log. */
  replay(events: Iterable<SessionEvent>): void {
    for (const event of events) this.#fold(event);
  }

  /** Records a new session's first events and starts its turn; resolves when the message is durable. */
  begin(command: Command & { readonly do: "create" }): Promise<void> {
    const visible = this.#append(this.#decide(command));
    this.drive();
    return visible;
  }

  requireFollowable(): void {
    this.#decide({ do: "receive", text: "", admission: "preempt", turnId: "" });
  }

  /** Called once after replay of a log that an earlier process wrote. */
  recover(): void {
    for (const call of this.#state.turn?.calls ?? []) {
      if (call.phase === "requested" || call.phase === "approved") this.#orphans.add(call.callId);
    }
    const lost = this.#state.direct.map(({ callId, toolName }): Draft => {
      const message = "The server restarted during this call; whether it took effect is unknown.";
      return { type: "action.result", data: unrun(callId, toolName, message) };
    });
    if (lost.length > 0) void this.#append(lost);
    const known = this.#context.deps.store.index.get(this.record.id);
    if (known === undefined || differs(known, this.row)) this.#saveRow();
    this.drive();
  }

  // ── Commands ────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Takes a message; returns the number of messages so far, once the record is durable. */
  async receive(message: {
    readonly text: string;
    readonly admission: "preempt" | "coalesce";
    readonly files?: StagedFiles;
  }): Promise<number> {
    const { text, admission, files } = message;
    const turnId = this.#context.deps.makeId("turn_");
    const drafts = this.#decide({
      do: "receive",
      text,
      admission,
      turnId,
      ...(files === undefined ? {} : { files: files.paths }),
    });
    files?.accept(this.#state.messages + 1);
    const interrupted = admission === "preempt" ? this.#state.turn?.id : undefined;
    const visible = this.#append(drafts);
    const { messages } = this.#state;
    await visible;
    if (interrupted !== undefined && interrupted === this.#state.turn?.id) {
      this.#requestCancel({
        turnId: interrupted,
        message: "interrupted by a new message",
        all: false,
        done: () => undefined,
      });
    }
    this.drive();
    return messages;
  }

  /** Interrupts the open turn and drops the one waiting behind it. False when there was none. */
  async stop(): Promise<boolean> {
    const { turn, pending } = this.#state;
    if (turn === undefined && pending === undefined) return false;
    await new Promise<void>((resolve) => {
      this.#requestCancel({ turnId: turn?.id, message: "stopped", all: true, done: resolve });
    });
    return true;
  }

  async resolve(callId: string, decision: "approve" | "deny", by: string): Promise<void> {
    await this.#append(this.#decide({ do: "resolve", callId, decision, by }));
    this.drive();
  }

  /** Runs a direct call inside the session and records it on the stream. */
  async direct(
    callId: string,
    toolName: string,
    args: unknown,
    prepared: PreparedCall,
    signal: AbortSignal | undefined,
  ): Promise<CallOutcome & { readonly durationMs: number }> {
    const { deps } = this.#context;
    const isWrite = prepared.effect === "write";
    if (isWrite && (this.#active || this.#state.pending !== undefined)) {
      throw deps.fail({ code: "session_busy", message: "a turn is running; try again when the session is waiting" });
    }
    const call = { callId, toolName, args: args as JsonValue };
    await this.#append([{ type: "actions.requested", data: { calls: [call] } }]);
    const startedAt = deps.clock.now();
    let outcome: CallOutcome;
    try {
      outcome = await prepared.run({ callId, record: this.record, ...(signal && { signal }) });
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      await this.#append([{ type: "action.result", data: unrun(callId, toolName, message) }]);
      throw error;
    }
    const durationMs = deps.clock.now() - startedAt;
    const { output, isError, stubbed } = outcome;
    const flags = stubbed === true ? { isError, stubbed } : { isError };
    await this.#append([{ type: "action.result", data: { callId, toolName, output, ...flags, durationMs } }]);
    return { ...outcome, durationMs };
  }

  /** Resolves when no turn runs. */
  async settled(): Promise<void> {
    while (this.#active) await this.#loop;
    await this.#observers.drained();
  }

  /** Lets go without recording anything: what is open stays open, for the next process. */
  abandon(reason: Error): void {
    if (this.#broken !== undefined) return;
    this.#broken = reason;
    this.#abort.abort(reason);
    this.#cancel?.done();
    this.#wake();
    this.#log.release();
  }

  // ── Recording ───────────────────────────────────────────────────────────────────────────────────────────────────

  #decide(command: Command): readonly Draft[] {
    if (this.#broken !== undefined) throw this.#broken;
    const decision = decide(this.#state, command);
    if (isRejected(decision)) throw this.#context.deps.fail(decision.rejection);
    return decision;
  }

  /** Folds and submits at once; resolves when the events are visible. */
  #append(drafts: readonly Draft[]): Promise<void> {
    if (this.#broken !== undefined) return Promise.reject(this.#broken);
    if (drafts.length === 0) return this.#visible;
    const { clock } = this.#context.deps;
    const events = stamp(drafts, new Date(clock.now()).toISOString(), this.record.id, this.#log.nextIndex);
    for (const event of events) this.#fold(event);
    const visible = this.#submit(events);
    this.#visible = visible;
    visible.then(
      () => this.#observers.publish(events),
      (error: unknown) => this.#break(error),
    );
    return visible;
  }

  /** The index must never call a session idle that has work to do: rows open before the log, and close after it. */
  async #submit(events: readonly SessionEvent[]): Promise<void> {
    const row = toRow(this.record, this.#state);
    const isNews = this.#row === undefined || differs(this.#row, row);
    if (isNews) {
      this.#row = row;
      if (row.open) this.#context.deps.store.index.put(row);
    }
    await this.#log.append(events);
    if (isNews && !row.open && this.#row === row) this.#saveRow();
  }

  #saveRow(): void {
    try {
      this.#context.deps.store.index.put(this.row);
    } catch (error) {
      this.#context.deps.log("warn", `index row of ${this.record.id} not saved: ${String(error)}`);
    }
  }

  #fold(event: SessionEvent): void {
    this.#state = reduce(this.#state, event);
    this.#conversation.apply(event);
  }

  #break(error: unknown): void {
    const cause = error instanceof Error ? error : new Error(String(error));
    if (this.#broken !== undefined) return;
    this.abandon(cause);
    this.#context.onBroken(this, cause);
  }

  #observed() {
    return { record: this.record, continuationToken: this.#context.token(this.row) };
  }

  // ── The turn loop ───────────────────────────────────────────────────────────────────────────────────────────────

  /** Makes sure that what is to be done gets done. */
  drive(): void {
    if (this.#active) this.#wake();
    if (this.#active || this.#broken !== undefined) return;
    this.#active = true;
    this.#loop = this.#run().catch((error: unknown) => {
      this.#active = false;
      this.#releaseTurn();
      this.#break(error);
    });
  }

  async #run(): Promise<void> {
    const maxSteps = this.#context.deps.maxSteps ?? defaultMaxSteps;
    for (;;) {
      if (this.#broken !== undefined) throw this.#broken;
      if (this.#cancel !== undefined) {
        await this.#applyCancel(this.#cancel);
        continue;
      }
      const next = plan(this.#state, maxSteps);
      if (next.do === "idle" || (next.do === "calls" && next.calls.every((call) => call.phase === "parked"))) {
        const before = this.#state;
        this.#releaseTurn();
        await this.#visible;
        if (this.#cancel !== undefined || before !== this.#state) continue;
        this.#active = false;
        return;
      }
      await this.#perform(next);
    }
  }

  async #perform(next: Exclude<Next, { do: "idle" }>): Promise<void> {
    switch (next.do) {
      case "settle":
        void this.#append(this.#decide({ do: "settle" }));
        return;
      case "begin": {
        const turnId = next.turnId ?? this.#context.deps.makeId("turn_");
        if (!(await this.#holdTurn(turnId))) return;
        const model = this.#pinned().model.id;
        return this.#step(turnId, 1, 1, this.#decide({ do: "begin", turnId, model }));
      }
      case "step": {
        const turnId = this.#turnId();
        if (await this.#holdTurn(turnId)) await this.#step(turnId, next.step, next.attempt, []);
        return;
      }
      case "close-step": {
        const { turn } = this.#state;
        const finishReason =
          turn !== undefined && turn.calls.length > 0 ? "tool-calls" : (turn?.finishReason ?? "stop");
        const data = { step: next.step, durationMs: 0, finishReason } as const;
        void this.#append([{ type: "step.completed", turnId: this.#turnId(), data }]);
        return;
      }
      case "calls":
        if (await this.#holdTurn(this.#turnId())) await this.#call();
        return;
      case "complete":
        void this.#append(this.#decide({ do: "complete" }));
        this.#releaseTurn();
        return;
      case "fail":
        void this.#append(this.#decide(next));
        this.#releaseTurn();
    }
  }

  async #step(turnId: string, step: number, attempt: number, begin: readonly Draft[]): Promise<void> {
    const generation = this.#pinned();
    const { signal } = this.#abort;
    const data = attempt > 1 ? { step, attempt } : { step };
    await this.#append([...begin, { type: "step.started", turnId, data }]);
    const end = await this.#modelStep(generation, turnId, step, signal);
    if (this.#broken !== undefined) throw this.#broken;
    void this.#append(end.drafts);
    if (end.failure === undefined || signal.aborted) return;
    void this.#append(this.#decide({ do: "fail", ...describe(end.failure) }));
    this.#releaseTurn();
  }

  async #modelStep(generation: Generation, turnId: string, step: number, signal: AbortSignal) {
    const { clock, makeId, workspace } = this.#context.deps;
    try {
      if (this.#state.files.length > 0) await workspace.deliver(this.record, this.#state.files);
      const request = {
        sessionId: this.record.id,
        turnId,
        step,
        model: generation.model,
        system: generation.system(this.record),
        messages: this.#conversation.messages,
        tools: generation.specs(this.record),
        signal,
      };
      const harness = await generation.harness();
      return await runStep(harness, request, { clock, makeId, record: (draft) => void this.#append([draft]) });
    } catch (failure) {
      return { drafts: [], failure };
    }
  }

  /** Starts what can start, then waits for the first result, decision or interruption. */
  async #call(): Promise<void> {
    await this.#visible;
    if (this.#state.turn === undefined) return;
    const woken = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    for (const call of openCalls(this.#state.turn)) {
      if (call.phase !== "parked" && !this.#running.has(call.callId)) this.#start(call);
    }
    if (this.#cancel === undefined) await Promise.race([woken, ...this.#running.values()]);
    this.#wake = () => undefined;
  }

  #start(call: CallState): void {
    const { callId } = call;
    const turnId = this.#turnId();
    const request = {
      call,
      turnId,
      record: this.record,
      generation: this.#pinned(),
      signal: this.#abort.signal,
      clock: this.#context.deps.clock,
      orphaned: this.#orphans.delete(callId),
    };
    const finished = runCall(request)
      .then((draft) => this.#append([draft]))
      .catch((error: unknown) => this.#break(error))
      .finally(() => this.#running.delete(callId));
    this.#running.set(callId, finished);
  }

  #requestCancel(cancel: Cancel): void {
    const earlier = this.#cancel;
    this.#cancel =
      earlier === undefined
        ? cancel
        : {
            ...cancel,
            all: cancel.all || earlier.all,
            done: () => {
              earlier.done();
              cancel.done();
            },
          };
    this.#abort.abort(new Error(cancel.message));
    this.drive();
  }

  async #applyCancel(cancel: Cancel): Promise<void> {
    await Promise.all(this.#running.values());
    this.#cancel = undefined;
    const isOpen = this.#state.turn !== undefined && this.#state.turn.id === cancel.turnId;
    if (isOpen || cancel.all)
      await this.#append(this.#decide({ do: "cancel", message: cancel.message, all: cancel.all }));
    this.#releaseTurn();
    cancel.done();
  }

  /** Pins the code and takes a running slot, waiting for one if need be. False when cancelled meanwhile. */
  async #holdTurn(turnId: string): Promise<boolean> {
    if (this.#slotLimit !== undefined) return true;
    const { deps, slots } = this.#context;
    if (this.#abort.signal.aborted) this.#abort = new AbortController();
    const { maxRunningTurns: limit } = deps.generation();
    if (!slots.take(limit)) {
      const held = slots.wait(this.#abort.signal);
      void this.#append(this.#decide({ do: "queue", turnId, position: slots.nextPosition - 1 }));
      if (!(await held)) return false;
    }
    this.#generation = deps.generation();
    this.#slotLimit = { limit };
    return true;
  }

  #releaseTurn(): void {
    const held = this.#slotLimit;
    this.#slotLimit = undefined;
    this.#generation = undefined;
    if (this.#abort.signal.aborted) this.#abort = new AbortController();
    if (held !== undefined) this.#context.slots.release(held.limit);
  }

  #pinned(): Generation {
    this.#generation ??= this.#context.deps.generation();
    return this.#generation;
  }

  #turnId(): string {
    const { turn } = this.#state;
    if (turn === undefined) throw new Error("no turn is open");
    return turn.id;
  }
}

function differs(left: SessionRow, right: SessionRow): boolean {
  return (
    left.status !== right.status ||
    left.messages !== right.messages ||
    left.turns !== right.turns ||
    left.open !== right.open
  );
}

function describe(failure: unknown): { readonly message: string; readonly code?: string } {
  const message = failure instanceof Error ? failure.message : String(failure);
  const code = typeof failure === "object" && failure !== null && "code" in failure ? failure.code : undefined;
  return typeof code === "string" ? { message, code } : { message };
}
