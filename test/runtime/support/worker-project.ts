/** Emitted bundles in processes of their own: built by `bdk build`, spoken to over HTTP, killed at will. */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll } from "vitest";
import type { OfflineScript } from "../../../runtime/harness/offline/script.js";
import type { SessionEvent, SessionEventType } from "../../../runtime/session/event.js";
import { listeningUrl, runCommand } from "../../bench/measure.mjs";
import { call, followUntil, isWaiting, startSession } from "./host.js";
import { killed } from "./killed.js";

const bdk = resolve("dist/cli/bdk.js");

const folders: string[] = [];
const servers: (() => Promise<void>)[] = [];

afterAll(async () => {
  await Promise.all(servers.splice(0).map((kill) => kill()));
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A folder that is removed when the file's tests are over. */
export function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "bdk-worker-"));
  folders.push(folder);
  return folder;
}

export function writeFiles(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

/** Builds a project of these files; gives the folder of the bundle. */
export async function buildProject(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = makeFolder();
  writeFiles(join(folder, "project"), {
    "package.json": JSON.stringify({ name: "worker", version: "1.0.0", type: "module" }),
    "bot/instructions.md": "Be brief.\n",
    ...files,
  });
  return build(join(folder, "project"), join(folder, "out"));
}

export async function build(project: string, out: string): Promise<string> {
  await runCommand([process.execPath, bdk, "build", "--dir", project, "--out", out]);
  return out;
}

export interface ServerOptions {
  readonly script?: OfflineScript;
  readonly env?: Readonly<Record<string, string>>;
  /** Folder of state and workspaces; kept from one server to the next to restart it. */
  readonly home?: string;
}

export interface Server {
  readonly url: string;
  readonly home: string;
  /** Folder of a session's workspace. */
  readonly workspaceOf: (sessionId: string) => string;
  readonly stderr: () => string;
  /** `kill -9`. */
  readonly kill: () => Promise<void>;
}

/** Starts a bundle; it is killed when the file's tests are over. */
export async function startServer(out: string, options: ServerOptions = {}): Promise<Server> {
  const home = options.home ?? makeFolder();
  const script = join(home, "script.json");
  if (options.script !== undefined) writeFileSync(script, JSON.stringify(options.script));
  const args = ["--port", "0", "--json", "--mode", "single", "--model", "offline", "--state-root", join(home, "state")];
  const child = spawn(process.execPath, [join(out, "server.mjs"), ...args], {
    cwd: home,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...process.env,
      XDG_CACHE_HOME: join(home, "cache"),
      ...(options.script === undefined ? {} : { BDK_OFFLINE_SCRIPT: script }),
      ...options.env,
    },
  });
  const kill = () => killed(child);
  servers.push(kill);
  let stderr = "";
  child.stderr.on("data", (chunk) => {
    stderr += String(chunk);
  });
  const url = await new Promise<string>((done, fail) => {
    let stdout = "";
    child.stdout.on("data", (chunk) => {
      stdout += String(chunk);
      const found = stdout.includes("\n") ? listeningUrl(stdout.split("\n")[0] ?? "") : undefined;
      if (found !== undefined) done(found);
    });
    child.once("exit", (code) => fail(new Error(`the server exited with ${code}: ${stderr}`)));
  });
  const workspaceOf = (sessionId: string) => join(home, "cache", "bdk", "worker", sessionId);
  return { url, home, workspaceOf, stderr: () => stderr, kill };
}

export interface Turn {
  readonly sessionId: string;
  readonly continuationToken: string;
  readonly events: readonly SessionEvent[];
}

/** Starts a session and waits until its turn is over. */
export async function converse(url: string, message: string, body: Record<string, unknown> = {}): Promise<Turn> {
  const started = await startSession(url, { message, ...body });
  return { ...started, events: await followUntil(url, started.sessionId, isWaiting) };
}

/** Sends the next message of a session and waits until its turn is over. */
export async function goOn(
  url: string,
  turn: Turn,
  message: string,
  body: Record<string, unknown> = {},
): Promise<Turn> {
  const { sessionId, continuationToken, events } = turn;
  const answer = await call(`${url}/v1/session/${sessionId}`, { body: { continuationToken, message, ...body } });
  if (answer.status !== 200) throw new Error(`answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  const startIndex = events.length;
  const more = await followUntil(url, sessionId, isWaiting, { startIndex });
  return { sessionId, continuationToken: String(answer.body.continuationToken), events: [...events, ...more] };
}

export function only<T extends SessionEventType>(events: readonly SessionEvent[], type: T): SessionEvent<T>[] {
  return events.flatMap((event) => (event.type === type ? [event as SessionEvent<T>] : []));
}

/** Output and failure of each call of the newest turn, in the order of the calls. */
export function results(events: readonly SessionEvent[]): readonly { output: unknown; isError: boolean }[] {
  const from = events.findLastIndex(({ type }) => type === "turn.started");
  const turn = events.slice(from);
  return only(turn, "actions.requested")
    .flatMap(({ data }) => data.calls)
    .map(({ callId }) => {
      const result = only(turn, "action.result").find(({ data }) => data.callId === callId)?.data;
      return { output: result?.output, isError: result?.isError === true };
    });
}

/** The line that makes the offline model call a tool. */
export function line(toolName: string, input: unknown): string {
  return `/${toolName} ${JSON.stringify(input)}`;
}

/** Text of `bot/agent.ts`. */
export function agentFile(fields: string): string {
  return `import { defineAgent } from "@cursor/bdk";\nexport default defineAgent({ ${fields} });\n`;
}

/** Makes the model call tools in a session of its own, or go on in one; gives what they returned. */
export async function callTools(
  url: string,
  turn: Turn | undefined,
  ...calls: readonly (readonly [string, unknown])[]
): Promise<{ readonly turn: Turn; readonly results: ReturnType<typeof results> }> {
  const message = calls.map(([name, input]) => line(name, input)).join("\n");
  const next = turn === undefined ? await converse(url, message) : await goOn(url, turn, message);
  return { turn: next, results: results(next.events) };
}

/** The message of a failed call. */
export function messageOf(result: { readonly output: unknown } | undefined): string {
  return String((result?.output as { readonly message?: unknown } | undefined)?.message);
}
