import { relative, sep } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { hasErrors } from "../../compiler/diagnostics/diagnostic.js";
import { type Compiler, createCompiler } from "../../compiler/index.js";
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

/**
 * Keeps a project served while it is edited: one watcher and one compiler here, the project's code in another process. Builds,
 * swaps and restarts run one at a time, in order; what changes during one is taken up by the next.
 */
export function createSupervisor({ root, server: serverOptions, ignored, report }: SupervisorOptions): Supervisor {
  const compiler: Compiler = createCompiler(root, { environment: "strict", until: "project" });
  let server: ServerProcess | undefined;
  /** The generation that answers, or answered last. */
  let lastGood: Generation | undefined;
  let isBroken = false;
  let generations = 0;
  let port = serverOptions.port;
  let startedAt = 0;
  let crashes = 0;
  let isClosing = false;
  let changes: { paths: Set<string>; since: number } | undefined;
  let tail: Promise<unknown> = Promise.resolve();

  const enqueue = <T>(task: () => Promise<T>): Promise<T> => {
    const result = tail.then(task);
    tail = result.catch(() => undefined);
    return result;
  };

  async function build(): Promise<Generation | undefined> {
    const result = await compiler.compile();
    watcher?.expect(result.inputs, !hasErrors(result.diagnostics));
    report.diagnostics(result.diagnostics, lastGood !== undefined);
    if (result.bundle === undefined || hasErrors(result.diagnostics)) return undefined;
    const { manifest, project, blobs } = result.bundle;
    const diagnostics = infoDiagnostics(result.diagnostics);
    const isSame =
      lastGood?.bundle.manifest.hash === manifest.hash && isDeepStrictEqual(lastGood.diagnostics, diagnostics);
    return isSame ? lastGood : { id: ++generations, root, bundle: { manifest, project, blobs }, diagnostics };
  }

  async function start(generation: Generation): Promise<void> {
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
      lastGood = generation;
      report.listening(listening);
    } catch (error) {
      server = undefined;
      await process.close();
      throw error;
    }
  }

  /** Brings the last good code back after a crash. */
  async function recover(crash: Crash): Promise<void> {
    server = undefined;
    if (isClosing) return;
    crashes = performance.now() - startedAt < crashWindowMs ? crashes + 1 : 1;
    const restarts = lastGood !== undefined && crashes < crashLimit;
    report.crashed(crash, restarts);
    if (restarts && lastGood !== undefined) await start(lastGood);
  }

  async function update(): Promise<void> {
    const batch = changes;
    changes = undefined;
    if (batch === undefined || isClosing) return;
    const before = lastGood;
    const generation = await build();
    if (generation === undefined) {
      isBroken = true;
      return;
    }
    if (server === undefined) {
      crashes = 0;
      await start(generation);
    } else if (generation !== before) await swap(server, generation);
    if (generation !== before || isBroken || server === undefined) {
      report.rebuilt({
        ms: performance.now() - batch.since,
        changed: [...batch.paths].map((path) => relative(root, path).split(sep).join("/")),
        generation: generation.id,
      });
    }
    isBroken = false;
  }

  async function swap(running: ServerProcess, generation: Generation): Promise<void> {
    try {
      await running.swap(generation);
      lastGood = generation;
    } catch (error) {
      if (!(error instanceof ServerGone)) throw error;
      // Stuck or dead in the old code: the new one may be the cure.
      report.error("serverCrashed", `${error.message}; starting it again with the new code`);
      if (server === running) server = undefined;
      await running.close();
      await start(generation);
    }
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
    const generation = await build();
    isBroken = generation === undefined;
    try {
      if (generation !== undefined) await start(generation);
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
      await watching.then((each) => each.close());
      await tail;
      await server?.close();
      await compiler.close();
    },
  };
}
