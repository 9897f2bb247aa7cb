/** What became of a message, read off a session's events. */
import type { JsonValue, SessionEvent } from "../session/event.js";
import type { Caller, SessionService } from "../session/service.js";

export type AskStatus = "finished" | "error" | "cancelled" | "running" | "awaiting_approval";

/** Where a delegated message stands; what `ask` and `check` answer. */
export interface AskReport {
  readonly status: AskStatus;
  readonly sessionId: string;
  /** The reply, or what `result.ts` made of it. */
  readonly result?: JsonValue;
  readonly errorMessage?: string;
  /** Calls that a human has to decide on before the turn goes on. */
  readonly approvals?: readonly { readonly callId: string; readonly toolName: string }[];
}

type Outcome = Pick<AskReport, "status" | "result" | "errorMessage">;

export interface WatchOptions {
  /** The message whose turn is meant; left out: the last one. */
  readonly message?: string;
  /** Index before which nothing is of concern: a long conversation is not read anew for each question. */
  readonly startIndex: number;
  /** Ends the waiting. */
  readonly signal: AbortSignal;
  /** Hears of what happens since the message, or while it waits. */
  readonly onEvent?: (event: SessionEvent) => void;
}

/** Types of events that say where a message stands. */
const folded = /^(?:message\.received|turn\.|session\.|action\.approval_)/;

/** A session's story, followed until its turn is over, a human is asked, or `signal` aborts. */
export class SessionWatch {
  readonly #sessions: SessionService;
  readonly #caller: Caller;
  readonly #sessionId: string;
  readonly #options: WatchOptions;
  readonly #outcomes = new Map<string, Outcome>();
  readonly #parked = new Map<string, string>();
  #turn: string | undefined;
  #lastTurn: string | undefined;
  #lastOutcome: Outcome | undefined;
  #isIdle = false;
  #next: number;
  /** What was recorded is read; what comes now is news. */
  #isLive = false;
  readonly #sinceMessage: SessionEvent[] = [];

  constructor(sessions: SessionService, caller: Caller, sessionId: string, options: WatchOptions) {
    this.#sessions = sessions;
    this.#caller = caller;
    this.#sessionId = sessionId;
    this.#options = options;
    this.#next = options.startIndex;
  }

  async report(): Promise<AskReport> {
    const { signal } = this.#options;
    for await (const lines of await this.#sessions.read(this.#caller, this.#sessionId, this.#next)) this.#take(lines);
    this.#isLive = true;
    for (const event of this.#sinceMessage.splice(0)) this.#options.onEvent?.(event);
    if (!signal.aborted && !(await this.#isDone())) {
      const batches = await this.#sessions.follow(this.#caller, this.#sessionId, this.#next, signal);
      for await (const lines of batches) {
        this.#take(lines);
        if (await this.#isDone()) break;
      }
    }
    return this.#current();
  }

  /** Whether the turn runs, and nobody has said anything since. */
  get isStillOurs(): boolean {
    return this.#outcome === undefined && this.#turn === this.#lastTurn;
  }

  get #outcome(): Outcome | undefined {
    if (this.#options.message === undefined) return this.#isIdle ? this.#lastOutcome : undefined;
    return this.#turn === undefined ? undefined : this.#outcomes.get(this.#turn);
  }

  async #isDone(): Promise<boolean> {
    return this.#outcome !== undefined || (await this.#isParked());
  }

  async #isParked(): Promise<boolean> {
    if (this.#parked.size === 0) return false;
    return (await this.#sessions.get(this.#caller, this.#sessionId)).status === "awaiting_approval";
  }

  async #current(): Promise<AskReport> {
    const sessionId = this.#sessionId;
    const outcome = this.#outcome;
    if (outcome !== undefined) return { ...outcome, sessionId };
    if (!(await this.#isParked())) return { status: "running", sessionId };
    const approvals = [...this.#parked].map(([callId, toolName]) => ({ callId, toolName }));
    return { status: "awaiting_approval", sessionId, approvals };
  }

  /** Pieces of texts and results of calls are most of a log, and are not read where nobody asks for them. */
  #isOfConcern(line: string): boolean {
    const type = /^\{"type":"([a-z._]+)"/.exec(line)?.[1] ?? "";
    if (this.#options.onEvent !== undefined) return !type.endsWith(".appended");
    return type === "action.result" ? this.#parked.size > 0 : folded.test(type);
  }

  #take(lines: readonly string[]): void {
    const last = lines.at(-1);
    if (last !== undefined) this.#next = Number(/"index":(\d+)/.exec(last)?.[1]) + 1;
    for (const line of lines) {
      if (!this.#isOfConcern(line)) continue;
      const event = JSON.parse(line) as SessionEvent;
      this.#fold(event);
      if (this.#isLive) this.#options.onEvent?.(event);
      else if (this.#turn !== undefined) this.#sinceMessage.push(event);
    }
  }

  #fold(event: SessionEvent): void {
    switch (event.type) {
      case "message.received":
        this.#isIdle = false;
        this.#lastTurn = event.turnId;
        if (event.data.text === this.#options.message) {
          // Said before in the same words: it is the last time that counts.
          this.#turn = event.turnId;
          this.#sinceMessage.length = 0;
        }
        return;
      case "turn.started":
        this.#isIdle = false;
        return;
      case "turn.completed":
        this.#end(event.turnId, finished(event.data.result));
        return;
      case "turn.failed":
        this.#end(event.turnId, {
          status: event.data.status === "cancelled" ? "cancelled" : "error",
          errorMessage: event.data.message,
        });
        return;
      case "session.waiting":
        this.#isIdle = true;
        return;
      case "session.completed":
        this.#isIdle = true;
        if (event.data.result !== undefined) this.#lastOutcome = finished(event.data.result);
        return;
      case "session.failed":
        this.#isIdle = true;
        this.#lastOutcome = { status: "error", errorMessage: event.data.message };
        return;
      case "action.approval_requested":
        this.#parked.set(event.data.callId, event.data.toolName);
        return;
      case "action.approval_resolved":
      case "action.result":
        this.#parked.delete(event.data.callId);
    }
  }

  #end(turnId: string | undefined, outcome: Outcome): void {
    this.#lastOutcome = outcome;
    this.#parked.clear();
    if (turnId !== undefined) this.#outcomes.set(turnId, outcome);
  }
}

function finished(result: JsonValue | undefined): Outcome {
  return { status: "finished", ...(result !== undefined && { result }) };
}

/** What a waiting client is told of an event; nothing of most. */
export function describeEvent(event: SessionEvent): string | undefined {
  switch (event.type) {
    case "turn.queued":
      return "waiting for a free place";
    case "turn.started":
      return "started";
    case "step.started":
      return event.data.parentCallId === undefined ? `thinking, step ${event.data.step}` : undefined;
    case "actions.requested":
      return `calling ${event.data.calls.map(({ toolName }) => toolName).join(", ")}`;
    case "action.result":
      return `${event.data.toolName} ${event.data.isError ? "failed" : "answered"}`;
    case "action.approval_requested":
      return `${event.data.toolName} waits for a human's decision`;
    case "subagent.called":
      return `${event.data.subagent} took over`;
    default:
      return undefined;
  }
}
