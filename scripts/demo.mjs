#!/usr/bin/env node
/**
 * `npm run demo`: the main job, end to end. Builds the example bot, starts the emitted server from an empty folder,
 * talks to it over HTTP, and leaves it running until Ctrl-C.
 *
 *   npm run demo                 keeps serving
 *   npm run demo -- --once       ends after the tour, with exit code 0
 *   npm run demo -- --port 8080  default: 3000, or any free port when that is taken
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import pc from "picocolors";

const root = fileURLToPath(new URL("..", import.meta.url));
const project = "fixtures/projects/pr-approver";
const prUrl = "https://github.com/acme/checkout/pull/42";
const startDeadlineMs = 20_000;

const heading = (text) => console.log(`\n${pc.bold(text)}`);
const fact = (name, value) => console.log(`  ${pc.dim(name.padEnd(11))}${value}`);

/** A failure with a sentence for the reader; anything else is shown with its stack. */
class DemoError extends Error {}

async function buildProject(out) {
  heading(`Building ${project}`);
  const cli = join(root, "dist/cli/bdk.js");
  const child = spawn(process.execPath, [cli, "build", "--dir", join(root, project), "--out", out], {
    stdio: "inherit",
  });
  const [code] = await once(child, "close");
  if (code !== 0) throw new DemoError(`bdk build ended with exit code ${code}; its output above says why.`);
}

/** 3000 when nobody has it; else 0, and the system picks. */
function choosePort(wanted) {
  if (wanted !== undefined) return Promise.resolve(Number(wanted));
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(0));
    probe.listen(3000, "127.0.0.1", () => probe.close(() => resolve(3000)));
  });
}

async function startServer(folder, port) {
  heading("Starting server.mjs in an empty folder, without node_modules");
  const args = [join(folder, "bundle/server.mjs"), "--json", "--model", "offline", "--port", String(port)];
  const child = spawn(process.execPath, args, { cwd: join(folder, "run"), stdio: ["ignore", "pipe", "pipe"] });
  running = child;
  const log = [];
  child.stderr.setEncoding("utf8").on("data", (text) => log.push(text));
  const started = performance.now();
  const url = await new Promise((resolve, reject) => {
    const fail = (why) => reject(new DemoError(`The server ${why}.\n${log.join("")}`));
    const timer = setTimeout(() => fail(`said nothing within ${startDeadlineMs / 1000} s`), startDeadlineMs);
    child.once("exit", (code) => {
      clearTimeout(timer);
      fail(`ended with exit code ${code} before it listened`);
    });
    createInterface({ input: child.stdout }).on("line", (line) => {
      const event = line.startsWith("{") ? JSON.parse(line) : {};
      if (event.event !== "listening") return;
      clearTimeout(timer);
      resolve(event.url);
    });
  });
  child.removeAllListeners("exit");
  fact("in", join(folder, "run"));
  fact("listening", `${url} ${pc.dim(`after ${Math.round(performance.now() - started)} ms`)}`);
  fact("model", "offline: built in, deterministic, no network");
  return { child, url, log };
}

async function json(url, body) {
  const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  const response = await fetch(url, body === undefined ? {} : init);
  const answer = await response.json();
  if (!response.ok) throw new DemoError(`${url} answered ${response.status}: ${JSON.stringify(answer)}`);
  return answer;
}

/** One line for an event: what matters of its data. */
function describe({ type, data }) {
  switch (type) {
    case "message.appended":
    case "reasoning.appended":
      return JSON.stringify(data.delta);
    case "message.received":
    case "message.completed":
    case "reasoning.completed":
      return JSON.stringify(data.text);
    case "actions.requested":
      return data.calls.map((call) => `${call.toolName}(${JSON.stringify(call.args)})`).join(", ");
    case "action.result":
      return `${data.isError ? pc.red("failed") : pc.green("ok")} ${JSON.stringify(data.output)}`;
    case "turn.completed":
      return data.usage ? `${data.usage.inputTokens} tokens in, ${data.usage.outputTokens} out` : "";
    case "turn.failed":
      return pc.red(data.message);
    default:
      return pc.dim(JSON.stringify(data));
  }
}

/** Prints the stream as it arrives, until the session waits for the next message. */
async function watch(url) {
  const stop = new AbortController();
  const response = await fetch(url, { signal: stop.signal });
  if (!response.ok || response.body === null) throw new DemoError(`${url} answered ${response.status}`);
  let rest = "";
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines.filter((each) => each !== "")) {
      const event = JSON.parse(line);
      const text = describe(event);
      const room = Math.max(40, (process.stdout.columns ?? 120) - 36);
      const short = text.length > room && !text.includes("\u001b") ? `${text.slice(0, room)}…` : text;
      console.log(`  ${pc.dim(String(event.index).padStart(3))}  ${pc.cyan(event.type.padEnd(22))} ${short}`);
      if (event.type === "turn.failed") throw new DemoError(`The turn failed: ${event.data.message}`);
      if (event.type === "session.waiting") {
        stop.abort();
        return;
      }
    }
  }
  throw new DemoError("The stream ended before the turn did.");
}

async function tour(hostUrl) {
  const { agents } = await json(`${hostUrl}/v1/agents`);
  const [agent] = agents;
  if (agent === undefined) throw new DemoError("The server mounts no agent.");
  const base = `${hostUrl}/${agent.slug}`;

  heading("Opening a session");
  const message = `/inspect_pr ${JSON.stringify({ prUrl })}`;
  console.log(pc.dim(`  POST ${base}/v1/session ${JSON.stringify({ message })}`));
  const session = await json(`${base}/v1/session`, { message });
  await watch(`${base}/v1/session/${session.sessionId}/stream`);

  heading("Calling a tool without a model turn");
  console.log(pc.dim(`  POST ${base}/v1/tools/inspect_pr`));
  const call = await json(`${base}/v1/tools/inspect_pr`, { input: { prUrl } });
  if (call.isError) throw new DemoError(`The tool failed: ${JSON.stringify(call.result)}`);
  console.log(JSON.stringify(call, null, 2).replace(/^/gm, "  "));

  heading("URLs");
  fact("playground", session.playgroundUrl);
  fact("session", session.traceUrl);
  fact("info", `${base}/v1/info`);
  fact("tools", `${base}/v1/tools`);
  fact("docs", `${hostUrl}/docs`);
}

async function stopServer(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), 5_000);
  await gone;
  clearTimeout(timer);
}

const { values } = parseArgs({ options: { once: { type: "boolean" }, port: { type: "string" } } });
const folder = await mkdtemp(join(tmpdir(), "bdk-demo-"));
/** The server, from the moment it was spawned: it must never outlive the demo. */
let running;
const interrupted = new Promise((resolve) => {
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => resolve("interrupted"));
});

try {
  const work = (async () => {
    await mkdir(join(folder, "run"));
    await buildProject(join(folder, "bundle"));
    const server = await startServer(folder, await choosePort(values.port));
    await tour(server.url);
    if (values.once) return;
    console.log(`\n${pc.dim("Serving until Ctrl-C.")}`);
    const [code] = await once(server.child, "exit");
    throw new DemoError(`The server ended with exit code ${code}.\n${server.log.join("")}`);
  })();
  await Promise.race([work, interrupted]);
} catch (error) {
  console.error(`\n${pc.red("The demo failed.")} ${error instanceof DemoError ? error.message : error.stack}`);
  process.exitCode = 1;
} finally {
  if (running !== undefined) await stopServer(running);
  await rm(folder, { recursive: true, force: true });
}
// A pending build or request must not keep an interrupted demo alive.
process.exit();
