/** `server.mjs` as a process: flags, variables, the first line, exit codes and signals. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { afterEach, beforeAll, expect, test } from "vitest";
import { call, followUntil, startSession, temporaryFolder } from "./support/host.js";
import { killed } from "./support/killed.js";

const runtime = resolve("node_modules/.cache/bdk-test/boot.mjs");
const children: ChildProcessWithoutNullStreams[] = [];

beforeAll(async () => {
  await build({
    entryPoints: ["runtime/host/boot.ts"],
    bundle: true,
    platform: "node",
    format: "esm",
    outfile: runtime,
    logLevel: "error",
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
  });
});

afterEach(async () => {
  await Promise.all(children.splice(0).map(killed));
});

const agent = {
  slug: "tester",
  name: "tester",
  model: { id: "offline", params: [] },
  instructions: { text: "Be brief.", parts: [] },
  tools: [
    {
      id: "tool:pid",
      source: "bot/tools/pid.ts:1",
      layer: "project",
      name: "pid",
      description: "The process id.",
      execution: "server",
      effect: "read",
      needsApproval: false,
      validates: "none",
      inputSchema: { type: "object" },
    },
  ],
  skills: [],
  subagents: [],
  hooks: [],
  mcpConnections: [],
  hostConnections: [],
  channels: [],
  schedules: [],
  reminders: [],
  extensions: [],
  seeds: [],
};

/** A server.mjs around project code, given as the text of its load function. */
function writeServer(load: string, required: readonly string[] = []): string {
  const folder = temporaryFolder();
  const manifest = {
    manifestVersion: 1,
    bdk: "9.9.9",
    agents: [agent],
    env: { required, read: [] },
    externals: [],
    hash: "sha256:x",
  };
  const file = join(folder, "server.mjs");
  writeFileSync(
    file,
    `import { boot } from ${JSON.stringify(runtime)};
await boot({ manifest: ${JSON.stringify(manifest)}, load: async () => {${load}}, files: {}, sections: {}, folder: ${JSON.stringify(folder)} });
`,
  );
  return file;
}

const working = `console.log("loading"); return { tester: { "tool:pid": { description: "", effect: "read", execute: () => process.pid } } };`;

interface Run {
  readonly child: ChildProcessWithoutNullStreams;
  readonly exit: Promise<number | null>;
  stdout(): string;
  stderr(): string;
  /** The first line of stdout. */
  readonly firstLine: Promise<string>;
}

function run(file: string, args: readonly string[], env: Record<string, string> = {}): Run {
  const child = spawn(process.execPath, [file, ...args], {
    cwd: resolve(file, ".."),
    env: { PATH: process.env.PATH, ...env },
  });
  children.push(child);
  let stdout = "";
  let stderr = "";
  child.stderr.on("data", (chunk) => {
    stderr += String(chunk);
  });
  const firstLine = new Promise<string>((done, fail) => {
    child.stdout.on("data", (chunk) => {
      stdout += String(chunk);
      const end = stdout.indexOf("\n");
      if (end !== -1) done(stdout.slice(0, end));
    });
    child.once("exit", (code) => fail(new Error(`exited ${code}: ${stderr}`)));
  });
  firstLine.catch(() => undefined);
  const exit = new Promise<number | null>((done) => child.once("close", done));
  return { child, exit, stdout: () => stdout, stderr: () => stderr, firstLine };
}

async function serve(file: string, args: readonly string[] = [], env: Record<string, string> = {}) {
  const process = run(file, ["--port", "0", "--json", ...args], env);
  const line: unknown = JSON.parse(await process.firstLine);
  expect(line).toEqual({ event: "listening", url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) });
  const { url } = line as { url: string };
  return { ...process, url };
}

test("--json: the first line of stdout says where, whatever the project prints", async () => {
  const { url, child, stderr } = await serve(writeServer(working));
  expect((await call(`${url}/tester/v1/tools/pid`, { body: {} })).body.result).toBe(child.pid);
  expect((await call(`${url}/v1/health`)).body).toEqual({ ok: true, version: "9.9.9", manifestHash: "sha256:x" });
  expect(stderr()).toContain("loading");
  expect((await call(`${url}/tester/v1/logs`)).body.lines).toContainEqual(
    expect.objectContaining({ level: "info", message: "loading" }),
  );
});

test("what the project starts while it loads may fail at any time: it is logged, and the server stays", async () => {
  const late = `setTimeout(() => { throw new Error("from a timer") }, 0); await new Promise((done) => setTimeout(done, 20));`;
  const { url, child, stderr } = await serve(writeServer(`${late} ${working}`));
  expect((await call(`${url}/tester/v1/tools/pid`, { body: {} })).body.result).toBe(child.pid);
  expect(stderr()).toContain("uncaught exception: Error: from a timer");
});

test("variables are read, and a flag wins over its variable", async () => {
  const file = writeServer(working);
  const state = temporaryFolder();
  const { url } = await serve(file, ["--bearer-token", "from-the-flag"], {
    PORT: "1",
    BDK_BEARER_TOKEN: "from-the-variable",
    BDK_OPERATOR_TOKEN: "operator-token",
    BDK_STATE_ROOT: state,
    BDK_MODEL: "offline",
  });
  const status = async (token: string) =>
    (await call(`${url}/tester/v1/info`, { headers: { authorization: `Bearer ${token}` } })).status;
  expect(await Promise.all(["from-the-flag", "operator-token", "from-the-variable"].map(status))).toEqual([
    200, 200, 401,
  ]);
  expect(JSON.parse(readFileSync(join(state, "server.json"), "utf8"))).toMatchObject({ url });
  const plain = run(file, ["--mode", "single", "--no-playground"], { PORT: "0", BDK_STATE_ROOT: temporaryFolder() });
  expect(await plain.firstLine).toMatch(/^Listening on http:\/\/127\.0\.0\.1:\d+$/);
});

test("without required variables it refuses, naming every missing one, and never runs the project", async () => {
  const { exit, stderr, stdout } = run(writeServer('console.log("ran");', ["NEEDED_ONE", "NEEDED_TWO"]), []);
  expect(await exit).toBe(1);
  expect(stderr()).toBe(
    "error: the environment variables NEEDED_ONE, NEEDED_TWO are required and not set; set them and start again\n",
  );
  expect(stdout()).toBe("");
});

test.each([
  [["--prot", "1"], "--prot"],
  [["--port", "x"], '"x" is not a port'],
  [["--port", "70000"], '"70000" is not a port'],
  [["--mode", "double"], '"double" is not a mode'],
  [["--bearer-token="], "--bearer-token needs a value"],
  [["--public-url", "bots.example.com"], "--public-url must begin"],
  [["surplus"], "surplus"],
])("%j is a usage error", async (args, message) => {
  const { exit, stderr } = run(writeServer(working), args);
  expect(await exit).toBe(2);
  expect(stderr()).toContain(message);
  expect(stderr().trimEnd().split("\n")).toHaveLength(1);
});

test("--help and --version answer without running the project", async () => {
  const file = writeServer('throw new Error("ran")');
  const help = run(file, ["--help"]);
  expect(await help.exit).toBe(0);
  expect(help.stdout()).toContain("Examples:");
  const version = run(file, ["--version"]);
  expect(await version.exit).toBe(0);
  expect(version.stdout()).toBe("9.9.9\n");
});

test("--check loads everything and ends, leaving no trace", async () => {
  const file = writeServer(working);
  const good = run(file, ["--check"]);
  expect(await good.exit).toBe(0);
  expect(good.stdout()).toBe("ok\n  tester: 1 tool\n");
  expect(existsSync(join(file, "../.bdk"))).toBe(false);
  const lost = run(writeServer("return { tester: {} }"), ["--check"]);
  expect(await lost.exit).toBe(1);
  expect(lost.stderr()).toContain('the bundle of agent "tester" has no code for tool:pid');
});

test("project code that fails to load is told with its own message", async () => {
  const { exit, stderr } = run(writeServer('throw new TypeError("no team")'), []);
  expect(await exit).toBe(1);
  expect(stderr()).toMatch(/^error: the project's code failed to load\nTypeError: no team\n/);
});

test("what project code forgot to catch is logged, and the server goes on", async () => {
  const { url } = await serve(
    writeServer(`
      const pid = () => {
        Promise.reject(new Error("forgotten promise"));
        setTimeout(() => { throw new Error("late timer"); }, 0);
        return 1;
      };
      return { tester: { "tool:pid": { description: "", effect: "read", execute: pid } } };`),
  );
  await call(`${url}/tester/v1/tools/pid`, { body: {} });
  const messages = async () => JSON.stringify((await call(`${url}/tester/v1/logs`)).body);
  await expect.poll(messages).toContain("forgotten promise");
  await expect.poll(messages).toContain("late timer");
  expect((await call(`${url}/v1/health`)).status).toBe(200);
});

test("a state root that the disk refuses is named, with what the system said", async () => {
  const file = writeServer(working);
  const { exit, stderr } = run(file, ["--port", "0", "--state-root", file]);
  expect(await exit).toBe(1);
  expect(stderr()).toMatch(/^error: the state root .*server\.mjs\/tester can't be used: ENOTDIR: not a directory/m);
  // A file system without new folders: where Node's own recursive mkdir never comes back.
  const none = run(file, ["--port", "0", "--state-root", "/proc/nothing"]);
  expect(await none.exit).toBe(1);
  expect(none.stderr()).toMatch(/^error: the state root \/proc\/nothing\/tester can't be used: /m);
});

test("a state root that another server uses is told as such", async () => {
  const file = writeServer(working);
  const state = temporaryFolder();
  await serve(file, ["--state-root", state]);
  const { exit, stderr } = run(file, ["--port", "0", "--state-root", state]);
  expect(await exit).toBe(1);
  expect(stderr()).toMatch(/^error: another server \(pid \d+\) is using .*--state-root$/m);
});

test.each(["SIGINT", "SIGTERM"] as const)("%s lets a turn in flight finish, then exits 0", async (signal) => {
  const file = writeServer(`
    const pid = () => new Promise((resolve) => setTimeout(() => resolve("settled"), 300));
    return { tester: { "tool:pid": { description: "", effect: "read", execute: pid } } };`);
  const state = temporaryFolder();
  const { url, child, exit } = await serve(file, ["--state-root", state]);
  const { sessionId } = await startSession(`${url}/tester`, { message: "/pid {}" });
  const stream = followUntil(`${url}/tester`, sessionId, (event) => event.type === "turn.completed");
  await followUntil(`${url}/tester`, sessionId, (event) => event.type === "actions.requested");
  child.kill(signal);
  expect((await stream).find((event) => event.type === "action.result")).toMatchObject({ data: { output: "settled" } });
  expect(await exit).toBe(0);
  expect(existsSync(join(state, "server.json"))).toBe(false);
});
