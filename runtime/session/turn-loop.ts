import { runCall } from "./calls.js";
import { commitReply } from "./commit.js";
import { completeChild, type Draft } from "./decide.js";
import type { SessionContext, SessionJournal } from "./journal.js";
import { type Next, plan } from "./plan.js";
import type { Actor, Generation } from "./ports.js";
import { allOpenCalls, type CallState, type ChildState } from "./state.js";
import { runStep } from "./step.js";
import { draftOf, planWork, type Work } from "./work.js";

const defaultMaxSteps = 100;

/**
 * Runs a session's turns. It asks `plan` what comes next and nothing else, which makes going on after a crash the same
 * as going on after a step; it acts only on what is durable.
 */
export class TurnLoop {
  readonly #journal: SessionJournal;
  readonly #context: SessionContext;
  /** Calls that an earlier process left without a result. */
  readonly #orphans = new Set<string>();
  readonly #running = new Map<string, Promise<void>>();
  #isActive = false;
  #finished: Promise<void> = Promise.resolve();
  #wake: () => void = () => undefined;
  /** Those who wait for the open turn, and the one behind it, to be stopped. */
  #stopping: (() => void)[] = [];
  #abort = new AbortController();
  #generation: Generation | undefined;
  #slot: { readonly limit: number | undefined } | undefined;
  /** The turn that comes next has waited for its time. */
  #isPaced = false;

  constructor(journal: SessionJournal, context: SessionContext) {
    this.#journal = journal;
    this.#context = context;
  }

  /** False while the session rests: between turns, or parked. */
  get isActive(): boolean {
    return this.#isActive;
  }

  /** To be called once after replay of a log that an earlier process wrote. */
  adoptOrphans(): void {
    const { turn } = this.#journal.state;
    for (const { phase, callId } of turn === undefined ? [] : allOpenCalls(turn)) {
      if (phase === "requested" || phase === "approved") this.#orphans.add(callId);
    }
  }

  /** Makes sure that what is to be done gets done. */
  drive(): void {
    if (this.#isActive) this.#wake();
    if (this.#isActive || this.#journal.broken !== undefined) return;
    this.#isActive = true;
    this.#finished = this.#run().catch((error: unknown) => {
      this.#isActive = false;
      this.#releaseTurn();
      this.#journal.fail(error);
    });
  }

  async settled(): Promise<void> {
    while (this.#isActive) await this.#finished;
  }

  /** Tells the step and the calls that run to stop; the plan decides what becomes of the turn. */
  interrupt(reason: string): void {
    this.#abort.abort(new Error(reason));
    this.drive();
  }

  /** Ends the open turn and the one that waits behind it; resolves once that is recorded. */
  stop(): Promise<void> {
    return new Promise((resolve) => {
      this.#stopping.push(resolve);
      this.interrupt("stopped");
    });
  }

  /** Stops working without recording anything. */
  abandon(reason: Error): void {
    this.#abort.abort(reason);
    for (const stopped of this.#stopping.splice(0)) stopped();
    this.#wake();
  }

  get #maxSteps(): number {
    return this.#context.deps.maxSteps ?? defaultMaxSteps;
  }

  async #run(): Promise<void> {
    for (;;) {
      if (this.#journal.broken !== undefined) throw this.#journal.broken;
      if (this.#stopping.length > 0) {
        await this.#cancel("stopped", true);
        continue;
      }
      const next = plan(this.#journal.state, this.#maxSteps);
      // At rest: nothing to do, or nothing that a human needn't decide first.
      if (next.do !== "idle" && next.do !== "wait") {
        await this.#perform(next);
        continue;
      }
      const before = this.#journal.state;
      this.#releaseTurn();
      await this.#journal.visible;
      if (this.#stopping.length > 0 || before !== this.#journal.state) continue;
      this.#isActive = false;
      return;
    }
  }

  async #perform(next: Exclude<Next, { do: "idle" | "wait" }>): Promise<void> {
    const journal = this.#journal;
    switch (next.do) {
      case "settle":
        void journal.append(journal.decide({ do: "settle" }));
        return;
      case "begin": {
        // What was planned may be no more after a wait.
        if (await this.#hasWaited()) return;
        const turnId = next.turnId ?? this.#context.deps.makeId("turn_");
        const generation = await this.#holdTurn(turnId);
        if (generation === undefined) return;
        const begin = journal.decide({ do: "begin", turnId, model: generation.model.id });
        return this.#step(generation, turnId, { step: 1 }, begin);
      }
      case "step": {
        const turnId = this.#turnId();
        const generation = await this.#holdTurn(turnId);
        const { step, attempt } = next;
        if (generation !== undefined)
          await this.#step(generation, turnId, attempt > 1 ? { step, attempt } : { step }, []);
        return;
      }
      case "close-step": {
        const { step, finishReason } = next;
        void journal.append([
          { type: "step.completed", turnId: this.#turnId(), data: { step, durationMs: 0, finishReason } },
        ]);
        return;
      }
      case "calls": {
        const generation = await this.#holdTurn(this.#turnId());
        if (generation !== undefined) await this.#call(generation);
        return;
      }
      case "cancel":
        return this.#cancel(next.message, next.all);
      case "complete":
        return this.#complete();
      case "fail":
        void journal.append(journal.decide(next));
        this.#releaseTurn();
    }
  }

  async #step(
    generation: Generation,
    turnId: string,
    data: { readonly step: number; readonly attempt?: number; readonly repair?: string },
    begin: readonly Draft[],
  ): Promise<void> {
    const journal = this.#journal;
    const { signal } = this.#abort;
    await journal.append([...begin, { type: "step.started", turnId, data }]);
    const end = await this.#runModel(generation, turnId, data.step, undefined, signal);
    if (journal.broken !== undefined) throw journal.broken;
    void journal.append(end.drafts);
    if (end.failure === undefined || signal.aborted) return;
    void journal.append(journal.decide({ do: "fail", ...describe(end.failure) }));
    this.#releaseTurn();
  }

  /** The model is done: the project's `commit` has the last word where there is one. */
  async #complete(): Promise<void> {
    const journal = this.#journal;
    const turnId = this.#turnId();
    const generation = await this.#holdTurn(turnId);
    const { turn } = journal.state;
    if (generation === undefined || turn === undefined) return;
    if (generation.commit !== undefined) await journal.visible;
    const verdict = await commitReply({
      generation,
      record: journal.record,
      turnId,
      step: turn.step,
      reply: turn.reply,
      isRepaired: turn.isRepaired === true,
      signal: this.#abort.signal,
      ledger: this.#context.deps.commits,
    });
    if (journal.broken !== undefined) throw journal.broken;
    switch (verdict.do) {
      case "interrupted":
        return;
      case "repair":
        return this.#step(generation, turnId, { step: turn.step + 1, repair: verdict.message }, []);
      case "complete":
      case "fail":
        void journal.append(journal.decide(verdict));
        this.#releaseTurn();
    }
  }

  async #runModel(actor: Actor, turnId: string, step: number, parentCallId: string | undefined, signal: AbortSignal) {
    const { clock, makeId, workspace } = this.#context.deps;
    const journal = this.#journal;
    const { record, state } = journal;
    const { turn } = state;
    const taken = new Set(turn === undefined ? [] : allOpenCalls(turn).map(({ callId }) => callId));
    try {
      if (state.files.length > 0) await workspace.deliver(record, state.files);
      const harness = await actor.harness();
      const specs = actor.specs(record);
      const request = {
        sessionId: record.id,
        turnId,
        step,
        model: actor.model,
        system: actor.system(record),
        messages: journal.messages(parentCallId),
        tools: specs instanceof Promise ? await specs : specs,
        signal,
      };
      return await runStep(harness, request, {
        clock,
        makeId,
        parentCallId,
        isTaken: (callId) => taken.has(callId),
        record: (draft) => void journal.append([draft]),
      });
    } catch (failure) {
      return { drafts: [], failure };
    }
  }

  /** Starts what can start, then waits for the first result, decision or interruption. */
  async #call(generation: Generation): Promise<void> {
    await this.#journal.visible;
    const { turn } = this.#journal.state;
    if (turn === undefined) return;
    const woken = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    let isRecorded = false;
    for (const work of planWork(turn, this.#maxSteps)) {
      const draft = draftOf(turn.id, work, this.#context.deps.clock);
      if (draft !== undefined) {
        void this.#journal.append([draft]);
        isRecorded = true;
      } else if (work.do === "run") this.#start(generation, turn.id, work.call, work.child);
      else if (work.do === "step") this.#startChildStep(generation, turn.id, work);
    }
    if (!isRecorded && !this.#abort.signal.aborted) await Promise.race([woken, ...this.#running.values()]);
    this.#wake = () => undefined;
  }

  #start(generation: Generation, turnId: string, call: CallState, child: ChildState | undefined): void {
    const { callId } = call;
    const actor = child === undefined ? generation : generation.subagent(child.subagent);
    this.#track(callId, () =>
      runCall({
        call,
        turnId,
        actor: actor ?? nobody(generation),
        codeHash: generation.codeHash(call.toolName),
        parentCallId: child?.callId,
        modelOf: (subagent) => generation.subagent(subagent)?.model.id,
        record: this.#journal.record,
        signal: this.#abort.signal,
        clock: this.#context.deps.clock,
        orphaned: this.#orphans.delete(callId),
      }).then((draft) => this.#journal.append([draft])),
    );
  }

  #startChildStep(generation: Generation, turnId: string, work: Work & { readonly do: "step" }): void {
    const { child, step, attempt } = work;
    this.#track(`step of ${child.callId}`, () => this.#childStep(generation, turnId, child, { step, attempt }));
  }

  /** A subagent whose model fails is a failed call, which the agent is told of. */
  async #childStep(
    generation: Generation,
    turnId: string,
    child: ChildState,
    { step, attempt }: { readonly step: number; readonly attempt: number },
  ): Promise<void> {
    const journal = this.#journal;
    const { signal } = this.#abort;
    const { callId: parentCallId, subagent } = child;
    const actor = generation.subagent(subagent);
    if (actor === undefined) {
      const output = { message: `there is no subagent "${subagent}" any more` };
      return journal.append([completeChild(turnId, child, { isError: true, output })]);
    }
    const data = { step, ...(attempt > 1 ? { attempt } : {}), parentCallId };
    await journal.append([{ type: "step.started", turnId, data }]);
    const end = await this.#runModel(actor, turnId, step, parentCallId, signal);
    if (journal.broken !== undefined) throw journal.broken;
    const drafts = [...end.drafts];
    if (end.failure !== undefined && !signal.aborted) {
      const { message } = describe(end.failure);
      drafts.push(completeChild(turnId, child, { isError: true, output: { message } }));
    }
    await journal.append(drafts);
  }

  /** Keeps what runs until it is recorded; the same is never started twice. */
  #track(key: string, run: () => Promise<void>): void {
    if (this.#running.has(key)) return;
    const finished = run()
      .catch((error: unknown) => this.#journal.fail(error))
      .finally(() => this.#running.delete(key));
    this.#running.set(key, finished);
  }

  async #cancel(message: string, all: boolean): Promise<void> {
    await Promise.all(this.#running.values());
    const stopped = all ? this.#stopping.splice(0) : [];
    await this.#journal.append(this.#journal.decide({ do: "cancel", message, all }));
    this.#releaseTurn();
    for (const tell of stopped) tell();
  }

  /** Waits until there is time for another turn; false when there was nothing to wait for. */
  async #hasWaited(): Promise<boolean> {
    if (this.#isPaced) return false;
    this.#isPaced = true;
    const wait = this.#context.deps.pace?.(this.#journal.record, this.#abort.signal);
    if (wait === undefined) return false;
    await wait;
    return true;
  }

  /** Pins the code and takes a running slot, waiting for one if need be. `undefined` when cancelled meanwhile. */
  async #holdTurn(turnId: string): Promise<Generation | undefined> {
    if (this.#slot !== undefined && this.#generation !== undefined) return this.#generation;
    const { deps, slots } = this.#context;
    const { maxRunningTurns: limit } = deps.generation();
    if (!slots.take(limit)) {
      const held = slots.wait(this.#abort.signal);
      void this.#journal.append(this.#journal.decide({ do: "queue", turnId, position: slots.nextPosition - 1 }));
      if (!(await held)) return undefined;
    }
    this.#slot = { limit };
    this.#generation = deps.generation();
    return this.#generation;
  }

  #releaseTurn(): void {
    const held = this.#slot;
    this.#slot = undefined;
    this.#generation = undefined;
    this.#isPaced = false;
    if (this.#abort.signal.aborted) this.#abort = new AbortController();
    if (held !== undefined) this.#context.slots.release(held.limit);
  }

  #turnId(): string {
    const { turn } = this.#journal.state;
    if (turn === undefined) throw new Error("no turn is open");
    return turn.id;
  }
}

/** In place of a subagent that an upgrade took away: it has no tools. */
function nobody(generation: Generation): Actor {
  return { ...generation, specs: () => [], tool: () => undefined, toolNames: [] };
}

function describe(failure: unknown): { readonly message: string; readonly code?: string } {
  const message = failure instanceof Error ? failure.message : String(failure);
  const code = typeof failure === "object" && failure !== null && "code" in failure ? failure.code : undefined;
  return typeof code === "string" ? { message, code } : { message };
}
