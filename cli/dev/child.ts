/** The server's process of `bdk dev`: runs the project's code, so that whatever it does, the watching process lives. */
import { StartupError } from "../../runtime/host/environment.js";
import type { Host } from "../../runtime/host/index.js";
import { removeSourceMap, renderStack } from "../../runtime/host/stack.js";
import { openHost } from "../api/open-host.js";
import { loadGeneration, loadPatch, type PatchedCode, type RunningCode, textFile } from "./modules.js";
import type { FromServer, Generation, PatchCode, PatchCommit, ServerOptions, ToServer } from "./protocol.js";

let host: Host | undefined;
let running: RunningCode | undefined;
/** A patch that has run, until it is committed or another takes its place. */
let staged: { readonly id: number; readonly patched: PatchedCode } | undefined;
let work: Promise<void> = Promise.resolve();

function send(message: FromServer): void {
  process.send?.(message);
}

/** Runs a request; whatever it throws is the answer, and the old code goes on. */
async function answer(id: number, request: () => Promise<FromServer>): Promise<void> {
  try {
    send(await request());
  } catch (error) {
    const isStartup = error instanceof StartupError;
    send({
      kind: "refused",
      id,
      reason: isStartup ? "startup" : "code",
      message: isStartup ? error.message : renderStack(error),
    });
  }
}

async function start(generation: Generation, options: ServerOptions): Promise<FromServer> {
  const opened = await openHost(
    async () => {
      running = await loadGeneration(generation);
      return running.bundle;
    },
    { base: generation.root, ...options, ownsProcess: true },
  );
  host = opened;
  void describing();
  return { kind: "listening", id: generation.id, url: opened.url, port: opened.port, agents: opened.agents };
}

async function swap(generation: Generation): Promise<FromServer> {
  if (host === undefined) throw new Error("the server has not started");
  const next = await loadGeneration(generation);
  await host.swap(next.bundle);
  running = next;
  forgetMaps(generation);
  return { kind: "swapped", id: generation.id };
}

async function patch(code: PatchCode): Promise<FromServer> {
  const current = running;
  if (current === undefined) throw new Error("the server has not started");
  send({ kind: "patching", id: code.id });
  const patched = await withoutExit(() => loadPatch(current, code));
  const { describeDefinition } = await describing();
  const outcomes = await Promise.all(
    code.entries.map((entry) => describeDefinition(entry, patched.definitions[entry.slug]?.[entry.id])),
  );
  staged = { id: code.id, patched };
  return { kind: "patched", id: code.id, outcomes };
}

/** What reads definitions; loaded behind the start, so that the first edit does not wait for it. */
function describing() {
  return import("../../compiler/evaluate/describe/definition.js");
}

/** An edit that ends the process while it loads must not take the running code with it. */
async function withoutExit<T>(load: () => Promise<T>): Promise<T> {
  const { exit } = process;
  process.exit = (code) => {
    throw new Error(`process.exit(${code ?? ""}) while the module loads`);
  };
  try {
    return await load();
  } finally {
    process.exit = exit;
  }
}

async function commit({ id, manifest, files, diagnostics }: PatchCommit): Promise<FromServer> {
  if (host === undefined || staged?.id !== id) throw new Error("there is no such patch");
  const { definitions, modules } = staged.patched;
  const bundle = { manifest, files, diagnostics, definitions };
  await host.swap(bundle);
  running = { bundle, modules };
  staged = undefined;
  return { kind: "swapped", id };
}

/** First ids of the last two whole generations: turns that are still in flight may need the maps from there on. */
let mapsFrom: readonly [number, number] = [0, 0];

function forgetMaps({ id, root }: Generation): void {
  const [oldest, previous] = mapsFrom;
  for (let old = oldest; old < previous; old++) removeSourceMap(textFile(root, old));
  mapsFrom = [previous, id];
}

async function close(): Promise<void> {
  await host?.close();
  host = undefined;
  if (process.connected) {
    send({ kind: "closed" });
    process.disconnect();
  }
}

/** One message at a time, in order. */
function enqueue(task: () => Promise<void>): void {
  work = work.then(task, task);
}

process.on("message", (message: ToServer) => {
  switch (message.kind) {
    case "start":
      return enqueue(() => answer(message.generation.id, () => start(message.generation, message.options)));
    case "swap":
      return enqueue(() => answer(message.generation.id, () => swap(message.generation)));
    case "patch":
      return enqueue(() => answer(message.patch.id, () => patch(message.patch)));
    case "commit":
      return enqueue(() => answer(message.commit.id, () => commit(message.commit)));
    case "close":
      return enqueue(close);
  }
});
// The terminal sends Ctrl-C to both processes: this one ends when the other says so, or is gone.
process.on("SIGINT", () => undefined);
process.on("SIGTERM", () => undefined);
process.on("disconnect", () => {
  void close().finally(() => process.exit());
});
send({ kind: "ready" });
