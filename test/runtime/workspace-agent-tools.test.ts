/** Tools with `execution: "agent"` on the emitted bundle: scripts in the workspace, typed calls, the shell's rules. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { sandboxTest } from "./support/bubblewrap.js";
import { call } from "./support/host.js";
import {
  buildProject,
  converse,
  goOn,
  line,
  makeFolder,
  only,
  results,
  startServer,
} from "./support/worker-project.js";

const tool = (fields: string) => `import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { defineTool } from "@cursor/bdk/tools";
import { words } from "../lib/words.js";
export default defineTool({ execution: "agent", ${fields} });\n`;

const files = {
  "bot/agent.ts": `import { defineAgent } from "@cursor/bdk";\nexport default defineAgent({ tools: ["write"] });\n`,
  "bot/lib/words.ts":
    "export const words = (text: string) => text.split(/\\s+/).filter((word) => word !== '').length;\n",
  "bot/lib/keys.ts": "export const key = 'never-in-a-script';\n",
  "bot/tools/other.ts": `import { defineTool } from "@cursor/bdk/tools";
import { key } from "../lib/keys.js";
if (process.env.BDK_SESSION !== undefined) throw new Error("this module must not run there");
export default defineTool({ description: "Elsewhere.", execute: () => key });\n`,
  "bot/tools/count.ts": tool(`description: "Counts words of a file.", effect: "read",
  inputSchema: z.object({ path: z.string(), times: z.coerce.number().default(1) }),
  execute: ({ path, times }, ctx) => {
    console.log("counting");
    return { words: words(readFileSync(join(ctx.workspaceDir, path), "utf8")) * times, now: ctx.now().getFullYear(), id: ctx.session.id };
  }`),
  "bot/tools/mark.ts": tool(`description: "Leaves a mark.",
  execute: (_input, ctx) => { writeFileSync("mark.txt", Object.keys(process.env).sort().join(",")); setInterval(() => undefined, 1000); return "marked"; }`),
  "bot/tools/fails.ts": tool(`description: "Fails.", effect: "read",
  inputSchema: { type: "object", properties: { how: { type: "string" } }, required: ["how"] },
  execute: async ({ how }: { how: string }, ctx) => {
    if (how === "throw") throw new Error("the well is dry");
    if (how === "envelope") return { content: [{ type: "text", text: "no luck" }], isError: true };
    if (how === "exit") { console.error("giving up"); process.exit(7); }
    if (how === "host") await ctx.host.kv.get("x");
  }`),
  "bot/tools/hangs.ts": tool(`description: "Never ends.", effect: "read", timeoutMs: 1500,
  execute: () => new Promise(() => setInterval(() => undefined, 1000))`),
  "bot/sandbox/workspace/text.txt": "one two three\n",
};

let out = "";
beforeAll(async () => {
  out = await buildProject(files);
});

test("the model calls it like any tool; it runs in the workspace, on the server's own copy of the script", async () => {
  const { url, workspaceOf, home } = await startServer(out, { env: { ACME_TOKEN: "hunter2" } });
  const first = await converse(url, [line("count", { path: "text.txt", times: "2" }), line("mark", {})].join("\n"));
  const dir = workspaceOf(first.sessionId);
  expect(results(first.events)).toEqual([
    { isError: false, output: { words: 6, now: new Date().getFullYear(), id: first.sessionId } },
    { isError: false, output: "marked" },
  ]);
  expect(readFileSync(join(dir, "mark.txt"), "utf8")).not.toMatch(/ACME|XDG|BDK_OFFLINE/);
  expect(readdirSync(join(dir, ".bdk/tools")).sort()).toEqual(["count.mjs", "fails.mjs", "hangs.mjs", "mark.mjs"]);
  expect(readFileSync(join(dir, ".bdk/tools/count.mjs"), "utf8")).not.toContain("never-in-a-script");

  // An agent that may write but has no shell must not get one by writing a script.
  const evil = `import { writeFileSync } from "node:fs"; writeFileSync("evil.txt", ""); console.log("1");`;
  const second = await goOn(url, first, line("write", { path: ".bdk/tools/count.mjs", text: evil }));
  const third = await goOn(url, second, line("count", { path: "text.txt" }));
  expect(results(third.events)[0]?.output).toMatchObject({ words: 3 });
  expect(existsSync(join(dir, "evil.txt"))).toBe(false);

  // The server's own copy is made good again when somebody spoils it.
  const kept = join(home, "state/scripts");
  for (const file of readdirSync(kept)) writeFileSync(join(kept, file), evil);
  expect(results((await goOn(url, third, line("count", { path: "text.txt" }))).events)[0]?.output).toMatchObject({
    words: 3,
  });
});

test("input is checked before it runs, and every way to fail is told", async () => {
  const { url } = await startServer(out);
  const ways = ["throw", "envelope", "exit", "host"];
  const message = [
    line("count", { path: 1 }),
    line("fails", {}),
    ...ways.map((how) => line("fails", { how })),
    line("hangs", {}),
  ].join("\n");
  const { events } = await converse(url, message);
  expect(results(events).map(({ isError, output }) => [isError, JSON.stringify(output)])).toEqual([
    [true, expect.stringContaining("path")],
    [true, expect.stringContaining("how: is required")],
    [true, expect.stringContaining("the well is dry")],
    [true, expect.stringContaining("no luck")],
    [true, expect.stringMatching(/exit code 7.*giving up/)],
    [true, expect.stringContaining("ctx.host is not there")],
    [true, expect.stringContaining("did not finish within 1.5 s")],
  ]);
});

test("a catalog in AGENTS.md, and scripts that work from a shell: argument or standard input, exit codes", async () => {
  const { url, workspaceOf } = await startServer(out);
  const { sessionId } = await converse(url, line("count", { path: "text.txt" }));
  const cwd = workspaceOf(sessionId);
  const catalog = readFileSync(join(cwd, "AGENTS.md"), "utf8");
  for (const part of [
    "## count",
    "Counts words of a file.",
    "node .bdk/tools/count.mjs",
    '"path":{"type":"string"}',
    "## mark",
  ]) {
    expect(catalog).toContain(part);
  }
  expect(catalog).not.toContain("Be brief");
  expect(catalog).not.toContain("## other");
  // Where both are set, Node says so on stderr.
  const { NO_COLOR: _none, FORCE_COLOR: _forced, ...env } = process.env;
  const options = { cwd, env, encoding: "utf8" } as const;
  const script = ".bdk/tools/count.mjs";
  expect(
    JSON.parse(execFileSync(process.execPath, [script, '{"path":"text.txt"}'], { ...options, stdio: "pipe" })),
  ).toMatchObject({ words: 3, id: sessionId });
  const piped = spawnSync(process.execPath, [script], { ...options, input: '{"path":"text.txt","times":3}' });
  expect([piped.status, JSON.parse(piped.stdout).words, piped.stderr]).toEqual([0, 9, "counting\n"]);
  const refused = spawnSync(process.execPath, [script, '{"path":1}'], options);
  expect([refused.status, JSON.parse(refused.stdout).issues]).toEqual([
    2,
    [{ path: "path", message: expect.any(String) }],
  ]);
  const failed = spawnSync(process.execPath, [script, '{"path":"none"}'], options);
  expect([failed.status, JSON.parse(failed.stdout)]).toEqual([1, { message: expect.stringContaining("ENOENT") }]);
  expect(spawnSync(process.execPath, [script, "[1"], options).status).toBe(2);
});

test("not over HTTP; stubbed in a dry run; asOf holds", async () => {
  const { url, workspaceOf } = await startServer(out);
  const direct = await call(`${url}/v1/tools/count`, { body: { input: { path: "text.txt" } } });
  expect([direct.status, direct.body.error]).toEqual([400, "invalid_request"]);
  const dry = await converse(url, [line("count", { path: "text.txt" }), line("mark", {})].join("\n"), {
    dryRun: true,
    asOf: "2001-02-03T00:00:00Z",
  });
  const [count, mark] = ["count", "mark"].map(
    (name) => only(dry.events, "action.result").find(({ data }) => data.toolName === name)?.data,
  );
  expect(count).toMatchObject({ isError: false, output: { now: 2001 } });
  expect(mark).toMatchObject({ isError: false, stubbed: true });
  expect(existsSync(join(workspaceOf(dry.sessionId), "mark.txt"))).toBe(false);
});

sandboxTest("with the sandbox it runs in it", async () => {
  const secret = join(makeFolder(), "secret.txt");
  writeFileSync(secret, "a b");
  const bundle = await buildProject({
    ...files,
    "bot/agent.ts": `import { defineAgent } from "@cursor/bdk";\nexport default defineAgent({ local: { sandbox: true } });\n`,
  });
  const { url } = await startServer(bundle);
  const up = `${"../".repeat(20)}${secret.slice(1)}`;
  const { events } = await converse(url, [line("count", { path: "text.txt" }), line("count", { path: up })].join("\n"));
  expect(results(events)).toEqual([
    { isError: false, output: expect.objectContaining({ words: 3 }) },
    { isError: true, output: { message: expect.stringContaining("ENOENT") } },
  ]);
  const without = await startServer(bundle, { env: { PATH: "/nowhere" } });
  const refused = await converse(without.url, line("count", { path: "text.txt" }));
  expect(results(refused.events)[0]).toMatchObject({
    isError: true,
    output: { message: expect.stringContaining("bubblewrap") },
  });
});

test("from the shell tool a script knows its session, and its frozen time", async () => {
  const bundle = await buildProject({
    ...files,
    "bot/agent.ts": `import { defineAgent } from "@cursor/bdk";\nexport default defineAgent({ tools: ["shell"] });\n`,
  });
  const { url } = await startServer(bundle);
  const command = `node .bdk/tools/count.mjs '{"path":"text.txt"}'`;
  const { sessionId, events } = await converse(url, line("shell", { command }), { asOf: "2001-02-03T00:00:00Z" });
  const shown = results(events)[0]?.output as { stdout: string } | undefined;
  expect(JSON.parse(shown?.stdout ?? "null")).toEqual({ words: 3, now: 2001, id: sessionId });
});
