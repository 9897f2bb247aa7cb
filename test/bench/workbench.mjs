// What every section of the bench works with: a folder of its own, projects, builds, servers, sessions, and the table.
import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { generateProject } from "./generate.mjs";
import { listeningUrl, runCommand, startServer } from "./measure.mjs";

const here = dirname(fileURLToPath(import.meta.url));
export const bdk = resolve(here, "../../dist/cli/bdk.js");
export const work = mkdtempSync(join(tmpdir(), "bdk-bench-"));
export const rows = [];

export function row(what, figure, unit, budget, ok) {
  rows.push({
    what,
    figure: typeof figure === "number" ? round(figure) : figure,
    unit,
    budget,
    ok: ok ? "ok" : "MISSED",
  });
  process.stderr.write(`  ${what}: ${rows.at(-1).figure} ${unit} (budget ${budget}) ${rows.at(-1).ok}\n`);
}
export const round = (value) => (value >= 100 ? Math.round(value) : Number(value.toPrecision(3)));
const json = { "content-type": "application/json" };

export async function post(url, body, headers = {}) {
  const response = await fetch(url, { method: "POST", headers: { ...json, ...headers }, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  return response.json();
}

/** Follows a session's stream until `type` occurs `count` times from `startIndex` on; resolves to the last index read. */
export async function until(base, sessionId, type, startIndex = 0) {
  const control = new AbortController();
  const response = await fetch(`${base}/v1/session/${sessionId}/stream?startIndex=${startIndex}`, {
    signal: control.signal,
  });
  let rest = "";
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    rest += chunk;
    const lines = rest.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const event = JSON.parse(line);
      if (event.type === type) {
        control.abort();
        return event.index;
      }
    }
  }
  throw new Error(`stream of ${sessionId} ended before ${type}`);
}

/** A session with its stream kept open; `turn()` sends a message and resolves when that turn has ended. */
export async function conversation(base) {
  const control = new AbortController();
  const { sessionId, continuationToken } = await post(`${base}/v1/session`, { message: "hi" });
  let token = continuationToken;
  let waiting = 0;
  let wake;
  const response = await fetch(`${base}/v1/session/${sessionId}/stream`, { signal: control.signal });
  const reading = (async () => {
    let rest = "";
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (!line.includes('"type":"session.waiting"')) continue;
        waiting += 1;
        wake?.();
      }
    }
  })().catch((error) => {
    if (!control.signal.aborted) throw error;
  });
  const turns = async (count) => {
    while (waiting < count) {
      await new Promise((done) => {
        wake = done;
      });
    }
  };
  await turns(1);
  let sent = 1;
  return {
    async turn() {
      const answer = await post(`${base}/v1/session/${sessionId}`, { continuationToken: token, message: "hi" });
      token = answer.continuationToken;
      sent += 1;
      await turns(sent);
    },
    close() {
      control.abort();
      return reading;
    },
  };
}

export function project(tools) {
  const dir = join(work, `project-${tools}`);
  generateProject(dir, { tools });
  return dir;
}

export function build(dir, out, extra = [], env = {}) {
  return runCommand([process.execPath, bdk, "build", "--dir", dir, "--out", out, ...extra], {
    env: { ...process.env, XDG_CACHE_HOME: join(work, "cache"), ...env },
  });
}

export function serverOf(out, cwd, flags = [], env = {}) {
  return startServer(
    [
      process.execPath,
      join(out, "server.mjs"),
      "--port",
      "0",
      "--json",
      "--model",
      "offline",
      "--mode",
      "single",
      ...flags,
    ],
    listeningUrl,
    { cwd, env: { PATH: process.env.PATH, HOME: join(work, "home"), ...env } },
  );
}

mkdirSync(join(work, "home"), { recursive: true });
