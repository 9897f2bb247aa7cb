import { type Command, type Draft, decide, isRejected, stamp } from "./decide.js";
import { eventCatalog, type SessionEvent } from "./event.js";
import { createObservers, type Listener, type Observers } from "./observers.js";
import type { EventLog, SessionDeps, SessionRecord, SessionRow } from "./ports.js";
import { reduce } from "./reduce.js";
import type { TurnSlots } from "./slots.js";
import { initialState, type SessionState } from "./state.js";
import { type Conversation, createConversation, parentOf } from "./views/conversation.js";
import { toRow } from "./views/summary.js";

/** What a session shares with the service and with the other sessions of its agent. */
export interface SessionContext {
  readonly deps: SessionDeps;
  readonly slots: TurnSlots;
  readonly listeners: ReadonlySet<Listener>;
  readonly token: (row: SessionRow) => string | null;
}

/**
 * One session's record: its log, and what is folded from it. Deciding, folding and submitting happen in one
 * synchronous stretch, so two commands never see the same state; the promise of `append` tells when it is durable.
 */
export class SessionJournal {
  readonly #context: SessionContext;
  readonly #log: EventLog;
  readonly #observers: Observers;
  readonly #conversation: Conversation = createConversation();
  /** Of the subagents at work, by the call each answers. */
  readonly #children = new Map<string, Conversation>();
  readonly #onBroken: (error: Error) => void;
  #state: SessionState = initialState;
  #record: SessionRecord;
  #row: SessionRow | undefined;
  #visible: Promise<void> = Promise.resolve();
  #broken: Error | undefined;

  /** @param onBroken called once, when the log can't be written any more: the session must be opened anew. */
  constructor(record: SessionRecord, log: EventLog, context: SessionContext, onBroken: (error: Error) => void) {
    this.#record = record;
    this.#log = log;
    this.#context = context;
    this.#onBroken = onBroken;
    const observed = () => ({ record: this.record, continuationToken: context.token(this.row) });
    this.#observers = createObservers(context.deps.sink, context.listeners, observed, context.deps.log);
  }

  get record(): SessionRecord {
    return this.#record;
  }

  get state(): SessionState {
    return this.#state;
  }

  /** The conversation so far: the session's own, or that of the subagent that works on a call. */
  messages(parentCallId: string | undefined): Conversation["messages"] {
    if (parentCallId === undefined) return this.#conversation.messages;
    return this.#children.get(parentCallId)?.messages ?? [];
  }

  get row(): SessionRow {
    this.#row ??= toRow(this.record, this.#state);
    return this.#row;
  }

  /** Resolves when everything submitted so far may be seen and acted on. */
  get visible(): Promise<void> {
    return this.#visible;
  }

  /** Why nothing can be recorded any more. */
  get broken(): Error | undefined {
    return this.#broken;
  }

  /** Folds events that are already in the log. */
  replay(events: Iterable<SessionEvent>): void {
    for (const event of events) this.#fold(event);
  }

  /**
   * Takes a forked session's beginning into a new log. Nobody is told of it: it happened elsewhere. Resolves when it is
   * durable.
   */
  adopt(events: readonly SessionEvent[]): Promise<void> {
    this.replay(events);
    this.#putOpenUntil(() => this.#log.append(events));
    this.#visible.catch((error: unknown) => this.fail(error));
    return this.#visible;
  }

  /** Puts the index right where it doesn't say what the log says. */
  reconcile(): void {
    const known = this.#context.deps.store.index.get(this.record.id);
    if (known === undefined || differs(known, this.row)) this.#saveRow();
  }

  /** Gives the session another continuation key, at once and durably. */
  rekey(continuationKey: string): void {
    if (this.#broken !== undefined) throw this.#broken;
    const record = { ...this.#record, continuationKey };
    const { store } = this.#context.deps;
    store.rewrite(record);
    this.#record = record;
    this.#row = toRow(record, this.#state);
    this.#putOpenUntil(() => this.#visible);
  }

  /** Until what was submitted is visible, the index must not call the session idle. */
  #putOpenUntil(submit: () => Promise<void>): void {
    const { row } = this;
    this.#context.deps.store.index.put({ ...row, open: true });
    this.#visible = submit();
    this.#visible.then(
      () => this.#row === row && this.#saveRow(),
      () => undefined, // told by whoever submitted it
    );
  }

  /** The events that carry a command out. Throws what the caller is to be told when it can't be. */
  decide(command: Command): readonly Draft[] {
    if (this.#broken !== undefined) throw this.#broken;
    const decision = decide(this.#state, command);
    if (isRejected(decision)) throw this.#context.deps.fail(decision.rejection);
    return decision;
  }

  /**
   * Folds and submits at once; resolves when the events are visible.
   *
   * @param before is shown the events when nothing of them has happened yet
   */
  append(drafts: readonly Draft[], before?: (events: readonly SessionEvent[]) => void): Promise<void> {
    if (this.#broken !== undefined) return Promise.reject(this.#broken);
    if (drafts.length === 0) return this.#visible;
    const at = new Date(this.#context.deps.clock.now()).toISOString();
    const events = stamp(drafts, at, this.record.id, this.#log.nextIndex);
    before?.(events);
    for (const event of events) this.#fold(event);
    const visible = this.#submit(events);
    this.#visible = visible;
    visible.then(
      () => this.#observers.publish(events),
      (error: unknown) => this.fail(error),
    );
    return visible;
  }

  /** Gives the session up after a failure that leaves its state in doubt. */
  fail(error: unknown): void {
    if (this.#broken !== undefined) return;
    const cause = error instanceof Error ? error : new Error(String(error));
    this.close(cause);
    this.#onBroken(cause);
  }

  /** Lets go without recording anything more. */
  close(reason: Error): void {
    if (this.#broken !== undefined) return;
    this.#broken = reason;
    this.#log.release();
  }

  /** Observers have been told everything. */
  get isObserved(): boolean {
    return this.#observers.isIdle;
  }

  /** Resolves when observers have been told everything. */
  observed(): Promise<void> {
    return this.#observers.drained();
  }

  /** The index must never call a session idle that has work to do: rows open before the log, and close after it. */
  async #submit(events: readonly SessionEvent[]): Promise<void> {
    const before = this.#row;
    const row = this.#news(events);
    if (row?.open === true) this.#context.deps.store.index.put(row);
    try {
      await this.#log.append(events);
    } catch (error) {
      // What was refused must not be counted: the token of a message that wasn't taken stays good.
      if (row !== undefined && before !== undefined) this.#saveRow(before);
      throw error;
    }
    if (row?.open === false && this.#row === row) this.#saveRow();
  }

  /** The new row, when the events change it. Those that needn't be flushed never do. */
  #news(events: readonly SessionEvent[]): SessionRow | undefined {
    if (!events.some(({ type }) => eventCatalog[type].flush)) return undefined;
    const row = toRow(this.record, this.#state);
    if (this.#row !== undefined && !differs(this.#row, row)) return undefined;
    this.#row = row;
    return row;
  }

  #saveRow(row: SessionRow = this.row): void {
    const { store, log } = this.#context.deps;
    try {
      store.index.put(row);
    } catch (error) {
      log("warn", `index row of ${this.record.id} not saved: ${String(error)}`);
    }
  }

  #fold(event: SessionEvent): void {
    this.#state = reduce(this.#state, event);
    this.#conversation.apply(event);
    this.#foldChild(event);
  }

  #foldChild(event: SessionEvent): void {
    switch (event.type) {
      case "subagent.called":
        this.#children.set(event.data.callId, createConversation(event.data));
        return;
      case "subagent.completed":
        this.#children.delete(event.data.callId);
        return;
      case "turn.completed":
      case "turn.failed":
        this.#children.clear();
        return;
      default:
        if (this.#children.size > 0) this.#children.get(parentOf(event) ?? "")?.apply(event);
    }
  }
}

function differs(left: SessionRow, right: SessionRow): boolean {
  return (
    left.status !== right.status ||
    left.messages !== right.messages ||
    left.turns !== right.turns ||
    left.continuationKey !== right.continuationKey ||
    left.open !== right.open
  );
}
