import type { SessionEvent } from "./event.js";
import { type RunnerContext, SessionRunner } from "./runner.js";

const defaultMaxIdle = 256;
/** First wait before a session whose log failed is opened again, in milliseconds; doubles up to the second number. */
const retryMs = { first: 500, most: 30_000 };

/** The sessions in memory. Idle ones leave when there are too many; anything asked of them brings them back. */
export interface Registry {
  add(runner: SessionRunner): void;
  /** `undefined` when the session is gone. */
  load(id: string): Promise<SessionRunner | undefined>;
  /** The runner, if it is in memory. */
  peek(id: string): SessionRunner | undefined;
  /** Lets go of one session, or of all. */
  abandon(reason: Error, id?: string): void;
  runners(): Iterable<SessionRunner>;
  onBroken(runner: SessionRunner, error: Error): void;
}

export function createRegistry(context: RunnerContext): Registry {
  const loaded = new Map<string, SessionRunner>();
  const loading = new Map<string, Promise<SessionRunner | undefined>>();
  let isClosed = false;

  function keep(runner: SessionRunner): void {
    const { id } = runner.record;
    loaded.delete(id);
    loaded.set(id, runner);
    trim(context.deps.maxIdle ?? defaultMaxIdle);
  }

  /** Looks at the few longest untouched only, so that many busy sessions don't make each touch slow; busy ones go last. */
  function trim(limit: number): void {
    let looks = 8;
    for (const [id, runner] of loaded) {
      if (loaded.size <= limit || looks === 0) return;
      looks -= 1;
      loaded.delete(id);
      if (!runner.isIdle) {
        loaded.set(id, runner);
        continue;
      }
      runner.abandon(new Error("dropped from memory"));
    }
  }

  async function open(id: string): Promise<SessionRunner | undefined> {
    const opened = await context.deps.store.open(id);
    if (opened === undefined) return undefined;
    const runner = new SessionRunner(opened.record, opened.log, context);
    try {
      for await (const lines of opened.log.read(0)) runner.replay(parse(lines));
    } catch (error) {
      opened.log.release();
      if (!(error instanceof SyntaxError)) throw error;
      const message = `the log of session ${id} is damaged: ${error.message}`;
      throw context.deps.fail({ code: "storage_unavailable", message });
    }
    loaded.set(id, runner);
    runner.recover();
    keep(runner);
    return runner;
  }

  function retry(id: string, delay: number): void {
    context.deps.clock.after(delay, () => {
      if (isClosed || loaded.has(id)) return;
      registry.load(id).catch(() => retry(id, Math.min(delay * 2, retryMs.most)));
    });
  }

  const registry: Registry = {
    add: keep,
    async load(id) {
      const runner = loaded.get(id);
      if (runner !== undefined) {
        keep(runner);
        return runner;
      }
      let opening = loading.get(id);
      if (opening === undefined) {
        opening = open(id).finally(() => loading.delete(id));
        loading.set(id, opening);
      }
      return opening;
    },
    peek: (id) => loaded.get(id),
    abandon(reason, id) {
      isClosed ||= id === undefined;
      for (const runner of id === undefined ? loaded.values() : [loaded.get(id)]) {
        if (runner === undefined) continue;
        loaded.delete(runner.record.id);
        runner.abandon(reason);
      }
    },
    runners: () => loaded.values(),
    onBroken(runner, error) {
      const { id } = runner.record;
      if (loaded.get(id) === runner) loaded.delete(id);
      context.deps.log("error", `session ${id} stopped: ${error.message}`);
      if (runner.row.open) retry(id, retryMs.first);
    },
  };
  return registry;
}

/** Deltas carry nothing that the fold keeps; most lines of a log are deltas. */
function* parse(lines: readonly string[]): Iterable<SessionEvent> {
  for (const line of lines) {
    if (line.startsWith('{"type":"message.appended"') || line.startsWith('{"type":"reasoning.appended"')) continue;
    yield JSON.parse(line) as SessionEvent;
  }
}
