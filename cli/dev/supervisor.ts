import { relative, sep } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { hasErrors } from "../../compiler/diagnostics/diagnostic.js";
import { type CompileResult, type Compiler, createCompiler } from "../../compiler/index.js";
import { infoDiagnostics } from "../info/diagnostics.js";
import type { Generation, ServerOptions } from "./protocol.js";
import type { DevReporter } from "./reporter.js";
import { type Crash, createServerProcess, ServerGone, type ServerProcess, ServerRefusal } from "./server-process.js";
import { type Batch, createWatcher } from "./watch.js";

export interface Supervisor {
  /** Resolves when the first build is done and, if it was good, served. Rejects with `ServerRefusal` when the server cannot start, whatever the code. */
  readonly started: Promise<void>;
  close(): Promise<void>;
}

export interface SupervisorOptions {
  /** Absolute project folder. */
  readonly root: string;
  readonly server: ServerOptions;
  /** Absolute folders that are no part of the project, such as a state root inside it. */
  readonly ignored: readonly string[];
  readonly report: DevReporter;
}

/** So many crashes in a row, each within the time of the last start, and we wait for an edit instead of trying again. */
const crashLimit = 3;
const crashWindowMs = 5_000;
/** Quiet after the last edit before the whole project is built behind a patched server. */
const settleMs = 800;

/** What the server answers with: a compilation, as a whole or as patches on an earlier one. */
interface Served {
  readonly id: number;
  readonly result: CompileResult;
}

/**
 * Keeps a project served while it is edited: one watcher and one compiler here, the project's code in another process. Updates,
 * restarts and checks run one at a time, in order; what changes during one is taken up by the next.
 *
 * An edit takes the short way where it can: only the modules that it touches are linked and run again. When the edits pause, the
 * whole project is built behind, and its code takes over, so that nothing is served for long that a build would not make.
 */
export function createSupervisor({ root, server: serverOptions, ignored, report }: SupervisorOptions): Supervisor {
  const compiler: Compiler = createCompiler(root, { environment: "strict", until: "project" });
  let server: ServerProcess | undefined;
  /** What answers, or answered last. */
  let served: Served | undefined;
  /** The last that was built as a whole and served: what a crash or a bad patch goes back to. */
  let lastGood: Generation | undefined;
  let isBroken = false;
  let ids = 0;
  let port = serverOptions.port;
  let startedAt = 0;
  let crashes = 0;
  let isClosing = false;
  let changes: { paths: Set<string>; since: number } | undefined;
  /** Counts batches of changes, so that a build can tell whether it is out of date. */
  let edits = 0;
  let settling: NodeJS.Timeout | undefined;
  let tail: Promise<unknown> = Promise.resolve();

  const enqueue = <T>(task: () => Promise<T>): Promise<T> => {
    const result = tail.then(task);
    // The caller takes the failure; the queue goes on.
    tail = result.catch(() => undefined);
    return result;
  };

  /** One whole compilation at a time. */
  let compiling: Promise<unknown> = Promise.resolve();
  const compile = (): Promise<CompileResult> => {
    const result = compiling.then(() => compiler.compile());
    compiling = result.catch(() => undefined);
    return result;
  };

  /** Tells what a compilation found, and gives the generation to serve when there is nothing against it. */
  function take(result: CompileResult): Generation | undefined {
    if (isClosing) return undefined;
    watcher?.expect(result.inputs, !hasErrors(result.diagnostics));
    report.diagnostics(result.diagnostics, served !== undefined);
    if (result.bundle === undefined || hasErrors(result.diagnostics)) return undefined;
    const { manifest, project, blobs } = result.bundle;
    return { id: ++ids, root, bundle: { manifest, project, blobs }, diagnostics: infoDiagnostics(result.diagnostics) };
  }

  const isServed = (result: CompileResult): boolean =>
    served?.result.bundle?.manifest.hash === result.bundle?.manifest.hash &&
    isDeepStrictEqual(served?.result.diagnostics, result.diagnostics);

  async function start(generation: Generation, result: CompileResult | undefined): Promise<void> {
    const process = createServerProcess((crash) => {
      if (server === process) enqueue(() => recover(crash)).catch(reportError);
    });
    server = process;
    startedAt = performance.now();
    try {
      const listening = await process.start(
        generation,
        port === undefined ? serverOptions : { ...serverOptions, port },
      );
      port = listening.port;
      settled(generation, result);
      report.listening(listening);
    } catch (error) {
      server = undefined;
      await process.close();
      throw error;
    }
  }

  /** A whole generation answers from now on. */
  function settled(generation: Generation, result: CompileResult | undefined): void {
    lastGood = generation;
    served = result === undefined ? undefined : { id: generation.id, result };
  }

  /** Brings the last good code back after a crash; the edits since then follow at once. */
  async function recover(crash: Crash): Promise<void> {
    server = undefined;
    if (isClosing) return;
    crashes = performance.now() - startedAt < crashWindowMs ? crashes + 1 : 1;
    const restarts = lastGood !== undefined && crashes < crashLimit;
    report.crashed(crash, restarts);
    if (!restarts || lastGood === undefined) return;
    await start(lastGood, undefined);
    onBatch({ paths: [], since: performance.now() });
  }

  async function update(): Promise<void> {
    const batch = changes;
    changes = undefined;
    if (batch === undefined || isClosing) return;
    const patched = await patch(batch);
    const isNew = patched === "whole" ? await rebuild() : patched === "new";
    if (isNew) {
      if (batch.paths.size > 0) reportRebuilt(batch);
    } else if (server === undefined && lastGood !== undefined && crashes < crashLimit && !isClosing) {
      // The edit took the server down and is no good as a whole either.
      await start(lastGood, undefined);
    }
  }

  /** The short way: `new` code answers, or the edit changes nothing, or it takes a whole build. */
  async function patch(batch: { readonly paths: ReadonlySet<string> }): Promise<"new" | "same" | "whole"> {
    if (isBroken || server === undefined || served === undefined || batch.paths.size === 0) return "whole";
    const made = await compiler.patch(served.result, [...batch.paths]);
    if (made === undefined) return "whole";
    const id = ++ids;
    try {
      const outcomes = await server.patch({ id, root, code: made.code, entries: made.entries });
      const result = made.complete(outcomes);
      if (result?.bundle === undefined) return "whole";
      settle();
      if (isServed(result)) return "same";
      const { manifest, blobs } = result.bundle;
      const diagnostics = infoDiagnostics(result.diagnostics);
      await server.commit({ id, manifest, files: blobs, diagnostics });
      served = { id, result };
      report.diagnostics(result.diagnostics, true);
      return "new";
    } catch (error) {
      // The whole build finds out what is wrong with the code, and says it at its place.
      if (error instanceof ServerRefusal) return "whole";
      if (!(error instanceof ServerGone)) throw error;
      await replace(error);
      // The edit is the cause, not the cure: the whole build, which will say so, takes longer than anybody should wait.
      if (error.isPatching && lastGood !== undefined) await start(lastGood, undefined);
      return "whole";
    }
  }

  /** The long way. True when code answers that did not before. */
  async function rebuild(): Promise<boolean> {
    const result = await compile();
    const generation = take(result);
    if (generation === undefined) {
      isBroken = true;
      return false;
    }
    const wasBroken = isBroken;
    isBroken = false;
    if (server !== undefined && isServed(result)) return wasBroken;
    crashes = 0;
    if (server === undefined) await start(generation, result);
    else await swap(server, generation, result);
    return true;
  }

  async function swap(running: ServerProcess, generation: Generation, result: CompileResult): Promise<void> {
    try {
      await running.swap(generation);
      settled(generation, result);
    } catch (error) {
      if (!(error instanceof ServerGone)) throw error;
      await replace(error);
      await start(generation, result);
    }
  }

  /** Ends a server that is stuck or dead in the code it runs: the new code may be the cure. */
  async function replace(reason: ServerGone): Promise<void> {
    report.error(
      "serverCrashed",
      `${reason.message}; starting it again${reason.isPatching ? "" : " with the new code"}`,
    );
    const stuck = server;
    server = undefined;
    served = undefined;
    await stuck?.close();
  }

  /** Builds the whole project once the edits have paused. */
  function settle(): void {
    clearTimeout(settling);
    settling = setTimeout(() => {
      check().catch(reportError);
    }, settleMs);
  }

  /**
   * The whole build behind a patched server. It runs beside updates, for an edit must not wait for it; what it makes is only
   * used when there was none.
   */
  async function check(): Promise<void> {
    const at = edits;
    const result = await compile();
    await enqueue(async () => {
      if (at !== edits || isClosing || server === undefined || isServed(result)) return;
      const generation = take(result);
      if (generation !== undefined) return swap(server, generation, result);
      isBroken = true;
      if (lastGood !== undefined) await server.swap({ ...lastGood, id: ++ids });
      served = undefined;
    });
  }

  function reportRebuilt(batch: { readonly paths: ReadonlySet<string>; readonly since: number }): void {
    report.rebuilt({
      ms: performance.now() - batch.since,
      changed: [...batch.paths].map((path) => relative(root, path).split(sep).join("/")),
      generation: ids,
    });
  }

  function reportError(error: unknown): void {
    // A process that died while it was asked is told by `recover`.
    if (isClosing || error instanceof ServerGone) return;
    if (error instanceof ServerRefusal)
      report.error(error.reason === "startup" ? "cannotListen" : "codeRefused", error.message);
    else report.error("internalError", error instanceof Error ? (error.stack ?? error.message) : String(error));
  }

  function onBatch({ paths, since }: Batch): void {
    const isQueued = changes !== undefined;
    edits++;
    clearTimeout(settling);
    changes ??= { paths: new Set(), since };
    for (const path of paths) changes.paths.add(path);
    if (!isQueued) enqueue(update).catch(reportError);
  }

  let watcher: Awaited<ReturnType<typeof createWatcher>> | undefined;
  const watching = createWatcher(root, ignored, onBatch).then((created) => {
    watcher = created;
    return created;
  });

  const started = enqueue(async () => {
    const result = await compile();
    const generation = take(result);
    isBroken = generation === undefined;
    try {
      if (generation !== undefined) await start(generation, result);
    } catch (error) {
      if (error instanceof ServerRefusal && error.reason === "startup") throw error;
      reportError(error);
    }
    await watching;
    // An edit between the build's reading and the watcher's first look has left no event.
    onBatch({ paths: [], since: performance.now() });
  });

  return {
    started,
    async close() {
      isClosing = true;
      clearTimeout(settling);
      await watching.then((each) => each.close());
      // First the compiler: a module that never ends loading is not waited for.
      await compiler.close();
      await tail;
      await server?.close();
    },
  };
}
