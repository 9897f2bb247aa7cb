/** The server's process of `bdk dev`: runs the project's code, so that whatever it does, the watching process lives. */
import { StartupError } from "../../runtime/host/environment.js";
import type { Host } from "../../runtime/host/index.js";
import { renderStack } from "../../runtime/host/stack.js";
import type { AgentBundle } from "../../runtime/manifest/bundle.js";
import { loadBundle } from "../api/agent-bundle.js";
import { openHost } from "../api/open-host.js";
import type { FromServer, Generation, ServerOptions, ToServer } from "./protocol.js";

let host: Host | undefined;
let work: Promise<void> = Promise.resolve();

function send(message: FromServer): void {
  process.send?.(message);
}

function refuse(id: number, error: unknown): void {
  const isStartup = error instanceof StartupError;
  send({
    kind: "refused",
    id,
    reason: isStartup ? "startup" : "code",
    message: isStartup ? error.message : renderStack(error),
  });
}

function load({ bundle, root, id, diagnostics }: Generation): Promise<AgentBundle> {
  return loadBundle(bundle, root, { filename: `bdk-project-${id}.js`, diagnostics });
}

async function start(generation: Generation, options: ServerOptions): Promise<void> {
  try {
    host = await openHost(() => load(generation), { ...options, ownsProcess: true });
    send({ kind: "listening", id: generation.id, url: host.url, port: host.port, agents: host.agents });
  } catch (error) {
    refuse(generation.id, error);
  }
}

async function swap(generation: Generation): Promise<void> {
  try {
    if (host === undefined) throw new Error("the server has not started");
    await host.swap(await load(generation));
    send({ kind: "swapped", id: generation.id });
  } catch (error) {
    refuse(generation.id, error);
  }
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
      return enqueue(() => start(message.generation, message.options));
    case "swap":
      return enqueue(() => swap(message.generation));
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
