/** The built-in tools of an emitted bundle, called by the offline model over HTTP. */
import { spawn } from "node:child_process";
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { call, followUntil, isWaiting } from "./support/host.js";
import {
  agentFile,
  buildProject,
  callTools,
  converse,
  goOn,
  line,
  makeFolder,
  messageOf,
  only,
  results,
  type Server,
  startServer,
} from "./support/worker-project.js";

const all = 'tools: ["read", "write", "edit", "ls", "glob", "grep", "shell"]';

let out = "";
beforeAll(async () => {
  out = await buildProject({
    "bot/agent.ts": agentFile(all),
    "bot/sandbox/workspace/src/one.ts": "export const one = 1;\nexport const two = 2;\n",
    "bot/sandbox/workspace/notes.md": "# Notes\nOne here.\n",
    "bot/tools/keep.ts": `import { defineTool } from "@cursor/bdk/tools";
export default defineTool({
  description: "Keeps a file.",
  execute: ({ file }, { artifacts }) => artifacts.tag({ key: "k", title: "t", file: String(file) }),
});\n`,
  });
});

test("read, write, edit, ls, glob and grep work on the session's workspace", async () => {
  const { url, workspaceOf } = await startServer(out);
  const first = await callTools(
    url,
    undefined,
    ["read", { path: "src/one.ts" }],
    ["read", { path: "./src/../src/one.ts", offset: 2, limit: 1 }],
    ["ls", {}],
    ["ls", { path: "src" }],
    ["glob", { pattern: "**/*.{ts,md}" }],
    ["glob", { pattern: "*.ts", path: "src" }],
    ["grep", { pattern: "ONE\\b", ignoreCase: true }],
    ["grep", { pattern: "const (one|two) =", glob: "src/*.ts", context: 1, limit: 1 }],
    ["grep", { pattern: "= 1;", path: "src/one.ts", literal: true }],
  );
  expect(first.results.map(({ isError }) => isError)).toEqual(first.results.map(() => false));
  expect(first.results.map(({ output }) => output)).toEqual([
    { path: "src/one.ts", text: "export const one = 1;\nexport const two = 2;", lines: 2 },
    { path: "./src/../src/one.ts", text: "export const two = 2;", lines: 2, from: 2, to: 2 },
    { path: ".", entries: [{ name: "notes.md", bytes: 18 }, { name: "src/" }] },
    { path: "src", entries: [{ name: "one.ts", bytes: 44 }] },
    { files: ["notes.md", "src/one.ts"] },
    { files: ["src/one.ts"] },
    {
      matches: [
        { path: "notes.md", line: 2, text: "One here." },
        { path: "src/one.ts", line: 1, text: "export const one = 1;" },
      ],
    },
    {
      matches: [
        { path: "src/one.ts", line: 1, text: "export const one = 1;", before: [], after: ["export const two = 2;"] },
      ],
      truncated: true,
    },
    { matches: [{ path: "src/one.ts", line: 1, text: "export const one = 1;" }] },
  ]);

  const second = await callTools(
    url,
    first.turn,
    ["write", { path: "a/b/new.txt", text: "one two one\n" }],
    ["write", { path: "notes.md", text: "" }],
  );
  expect(second.results.map(({ output }) => output)).toEqual([
    { path: "a/b/new.txt", bytes: 12, created: true },
    { path: "notes.md", bytes: 0, created: false },
  ]);
  const dir = workspaceOf(first.turn.sessionId);
  chmodSync(join(dir, "a/b/new.txt"), 0o775);
  const third = await callTools(url, second.turn, ["edit", { path: "a/b/new.txt", old: "one", new: "1" }]);
  expect(messageOf(third.results[0])).toContain("stands 2 times");
  const fourth = await callTools(url, third.turn, ["edit", { path: "a/b/new.txt", old: "one", new: "$&", all: true }]);
  expect(fourth.results[0]?.output).toEqual({ path: "a/b/new.txt", replaced: 2 });
  expect(readFileSync(join(dir, "a/b/new.txt"), "utf8")).toBe("$& two $&\n");
  expect(statSync(join(dir, "a/b/new.txt")).mode & 0o777).toBe(0o775);
  expect(readdirSync(join(dir, "a/b"))).toEqual(["new.txt"]);
});

test("what can't be done is said in words the model can use", async () => {
  const { url, workspaceOf } = await startServer(out);
  const { turn } = await callTools(url, undefined, ["ls", {}]);
  const dir = workspaceOf(turn.sessionId);
  writeFileSync(join(dir, "data.bin"), Buffer.from([0, 1, 2, 255]));
  writeFileSync(join(dir, "latin1.txt"), Buffer.from([0x66, 0xfc, 0x72]));
  writeFileSync(join(dir, "dos.txt"), "a\r\nb\r\n");
  writeFileSync(join(dir, "big.txt"), "x".repeat(11 * 1024 * 1024));
  writeFileSync(join(dir, "dot.png"), Buffer.from("89504e470d0a1a0a00000000", "hex"));
  const cases: readonly (readonly [string, unknown, string])[] = [
    ["read", { path: "none.txt" }, 'no file "none.txt"'],
    ["read", { path: "src" }, "is a folder"],
    ["read", { path: "data.bin" }, "is not text"],
    ["read", { path: "latin1.txt" }, "is not text"],
    ["read", { path: "big.txt" }, "Search it with grep"],
    ["read", { path: "notes.md", offset: 99 }, "no line 99"],
    ["read", {}, "path: is required"],
    ["read", { path: 1 }, "path: must be a text"],
    ["read", { path: "notes.md", lines: 3 }, "lines: is not known"],
    ["read", { path: "notes.md", limit: 0 }, "limit: must be a whole number from 1"],
    ["write", { path: "src", text: "x" }, "is a folder"],
    ["write", { path: "notes.md/x", text: "x" }, "is a file, not a folder"],
    ["write", { path: "later/", text: "x" }, "names a folder"],
    ["write", { path: "a".repeat(300), text: "x" }, "too long"],
    ["edit", { path: "dos.txt", old: "a\nb", new: "x" }, "\\r\\n"],
    ["edit", { path: "notes.md", old: "# Notes One", new: "x" }, "other white space"],
    ["edit", { path: "notes.md", old: "absent", new: "x" }, "does not stand"],
    ["edit", { path: "data.bin", old: "a", new: "x" }, "can't be edited"],
    ["ls", { path: "none" }, 'no folder "none"'],
    ["ls", { path: "notes.md" }, "is a file"],
    ["glob", { pattern: "{a" }, "without its }"],
    ["grep", { pattern: "(" }, "no regular expression"],
    ["grep", { pattern: "x", path: "none" }, 'nothing at "none"'],
  ];
  const answered = await callTools(url, turn, ...cases.map(([name, input]) => [name, input] as const));
  expect(answered.results.map((result, at) => [cases[at], result.isError, messageOf(result)])).toEqual(
    cases.map((each) => [each, true, expect.stringContaining(each[2])]),
  );
  const picture = await callTools(url, answered.turn, ["read", { path: "dot.png" }]);
  expect(picture.results[0]).toEqual({
    isError: false,
    output: { content: [{ type: "image", data: "iVBORw0KGgoAAAAA", mimeType: "image/png" }] },
  });
});

test("no path leads out: up, absolute, through links, through links swapped in at write time", async () => {
  const { url, workspaceOf } = await startServer(out);
  const { turn } = await callTools(url, undefined, ["ls", {}]);
  const dir = workspaceOf(turn.sessionId);
  const outside = makeFolder();
  writeFileSync(join(outside, "secret.txt"), "secret\n");
  symlinkSync(outside, join(dir, "door"));
  symlinkSync(join(outside, "secret.txt"), join(dir, "window.txt"));
  symlinkSync(join(outside, "new.txt"), join(dir, "trap.txt"));
  symlinkSync("src", join(dir, "inner"));
  const paths = [
    "../x",
    "src/../../x",
    outside,
    "/etc/passwd",
    "door/secret.txt",
    "door/../../x",
    "window.txt",
    "inner/../../x",
  ];
  const attacks = paths.flatMap((path): (readonly [string, unknown])[] => [
    ["read", { path }],
    ["write", { path, text: "escaped" }],
    ["edit", { path, old: "secret", new: "escaped" }],
    ["ls", { path }],
    ["glob", { pattern: "*", path }],
    ["grep", { pattern: "secret", path }],
  ]);
  const answered = await callTools(
    url,
    turn,
    ...attacks,
    ["write", { path: "trap.txt", text: "x" }],
    ["write", { path: "door/deep/x.txt", text: "x" }],
  );
  for (const [at, result] of answered.results.entries()) {
    expect([attacks[at], result.isError]).toEqual([attacks[at], true]);
    expect(JSON.stringify(result.output)).not.toContain("secret\\n");
  }
  const found = await callTools(
    url,
    answered.turn,
    ["grep", { pattern: "secret" }],
    ["glob", { pattern: "*.txt" }],
    ["read", { path: "inner/one.ts" }],
  );
  expect(found.results[0]?.output).toEqual({ matches: [] });
  expect(found.results[1]?.output).toEqual({ files: [] });
  expect(found.results[2]?.isError).toBe(false);
  expect(readdirSync(outside)).toEqual(["secret.txt"]);
  expect(readFileSync(join(outside, "secret.txt"), "utf8")).toBe("secret\n");
});

test("a folder that turns into a link while files are read and written never lets one out or in", async () => {
  const { url, workspaceOf } = await startServer(out);
  const first = await callTools(url, undefined, ["write", { path: "spin/own.txt", text: "own" }]);
  const outside = makeFolder();
  writeFileSync(join(outside, "own.txt"), "secret");
  // Another process swaps the folder for a link and back as fast as it can.
  const swap = `const fs = require("node:fs");
    const attempt = (act) => {
      try {
        act();
      } catch (error) {
        if (!["EEXIST", "ENOENT", "ENOTEMPTY", "ENOTDIR", "EISDIR"].includes(error.code)) throw error;
      }
    };
    const put = () => {
      fs.rmSync("spin", { recursive: true, force: true });
      fs.renameSync("kept", "spin");
    };
    for (;;) {
      attempt(() => fs.renameSync("spin", "kept"));
      attempt(() => fs.symlinkSync(${JSON.stringify(outside)}, "spin"));
      while (fs.existsSync("kept")) attempt(put);
    }`;
  const swapping = spawn(process.execPath, ["-e", swap], { cwd: workspaceOf(first.turn.sessionId), stdio: "ignore" });
  try {
    let { turn } = first;
    let done = 0;
    let refused = 0;
    for (let round = 0; round < 12 || done === 0 || refused === 0; round += 1) {
      const writes = Array.from(
        { length: 100 },
        (_, n) => ["write", { path: `spin/${round}-${n}.txt`, text: "x" }] as const,
      );
      const reads = Array.from({ length: 100 }, () => ["read", { path: "spin/own.txt" }] as const);
      const answered = await callTools(url, turn, ...writes, ...reads);
      turn = answered.turn;
      expect(JSON.stringify(answered.results).includes("secret")).toBe(false);
      done += answered.results.filter(({ isError }) => !isError).length;
      refused += answered.results.filter(({ isError }) => isError).length;
    }
    expect(readdirSync(outside)).toEqual(["own.txt"]);
  } finally {
    swapping.kill("SIGKILL");
  }
});

test("pipes hold nobody up, and a file's other names outside keep what they had", async () => {
  const { url, workspaceOf } = await startServer(out);
  const outside = join(makeFolder(), "kept.txt");
  writeFileSync(outside, "kept");
  const command = `mkfifo pipe; ln ${outside} linked.txt; ln ${outside} same.txt`;
  let { turn } = await callTools(url, undefined, ["shell", { command }]);
  for (const file of ["pipe", "linked.txt"]) {
    turn = await goOn(url, turn, "files", { workspaceFiles: { [file]: "sent" } });
  }
  expect(only(turn.events, "turn.failed").map(({ data }) => data.code)).toEqual(["invalid_request"]);
  const tagged = await callTools(url, turn, ["keep", { file: "pipe" }], ["write", { path: "same.txt", text: "new" }]);
  expect(tagged.results.map(({ isError }) => isError)).toEqual([true, false]);
  const dir = workspaceOf(turn.sessionId);
  expect(["linked.txt", "same.txt"].map((name) => readFileSync(join(dir, name), "utf8"))).toEqual(["sent", "new"]);
  expect(readFileSync(outside, "utf8")).toBe("kept");

  const body = { atIndex: 0, message: line("ls", {}) };
  const forked = await call(`${url}/v1/session/${turn.sessionId}/fork`, { body });
  expect(forked.status).toBe(200);
  const copy = await followUntil(url, String(forked.body.sessionId), isWaiting);
  expect(JSON.stringify(results(copy))).toContain("linked.txt");
  expect(JSON.stringify(results(copy))).not.toContain("pipe");
});

test("a pattern that never ends, and a hostile glob, cost the call and not the server", async () => {
  const { url } = await startServer(out);
  const { turn } = await callTools(url, undefined, ["write", { path: "a.txt", text: `${"a".repeat(200)}b` }]);
  const answered = await callTools(
    url,
    turn,
    ["grep", { pattern: "(a+)+$" }],
    ["glob", { pattern: `${"*a".repeat(200)}*b*` }],
    ["glob", { pattern: "{a,b}".repeat(20) }],
  );
  expect(messageOf(answered.results[0])).toContain("takes too long");
  expect(answered.results[1]?.isError).toBe(false);
  expect(messageOf(answered.results[2])).toContain("alternatives");
  expect((await call(`${url}/v1/health`)).status).toBe(200);
});

test("a dry run reads, and stubs write, edit and shell", async () => {
  const { url, workspaceOf } = await startServer(out);
  const message = [
    line("read", { path: "notes.md" }),
    line("write", { path: "x.txt", text: "x" }),
    line("edit", { path: "notes.md", old: "One", new: "Two" }),
    line("shell", { command: "touch y.txt" }),
  ].join("\n");
  const { sessionId, events } = await converse(url, message, { dryRun: true });
  expect(
    only(events, "action.result")
      .map(({ data }) => [data.toolName, data.isError, data.stubbed ?? false])
      .sort(),
  ).toEqual([
    ["edit", false, true],
    ["read", false, false],
    ["shell", false, true],
    ["write", false, true],
  ]);
  const dir = workspaceOf(sessionId);
  expect(readdirSync(dir).sort()).toEqual(["notes.md", "src"]);
  expect(readFileSync(join(dir, "notes.md"), "utf8")).toContain("One here");
});

test("built-in tools are the model's alone, and a session that uses none has no workspace", async () => {
  const { url, workspaceOf, home } = await startServer(out);
  const { sessionId } = await converse(url, "hello");
  expect(existsSync(workspaceOf(sessionId))).toBe(false);
  expect(existsSync(join(home, "cache"))).toBe(false);
  for (const name of ["read", "shell", "task"]) {
    expect((await call(`${url}/v1/tools/${name}`, { body: { input: {} } })).status).toBe(404);
  }
  expect((await call(`${url}/v1/tools`)).body).toMatchObject({ tools: [{ name: "keep" }] });
});

/** What the offline model says it can call. */
async function offered(server: Server): Promise<string> {
  const { events } = await converse(server.url, "what can you do?");
  return only(events, "message.completed")[0]?.data.text.split("\n").at(-1) ?? "";
}

test.each([
  ["left out: all but shell", {}, "read, write, edit, ls, glob, grep."],
  ["a list", { "bot/agent.ts": agentFile('tools: ["grep", "read", "mcp"]') }, "read, grep."],
  ["an empty list", { "bot/agent.ts": agentFile("tools: []") }, "This agent has no tools to call."],
  [
    "the sandbox brings shell",
    { "bot/agent.ts": agentFile("local: { sandbox: true }") },
    "read, write, edit, ls, glob, grep, shell.",
  ],
  [
    "a tool of the project's own wins",
    {
      "bot/agent.ts": agentFile('tools: ["read", "ls"]'),
      "bot/tools/read.ts": `import { defineTool } from "@cursor/bdk/tools";\nexport default defineTool({ description: "Mine.", execute: () => "mine" });\n`,
    },
    "read, ls.",
  ],
])("allowlist, %s", async (name, files, expected) => {
  const server = await startServer(await buildProject(files));
  expect(await offered(server)).toContain(expected);
  if (!name.startsWith("a tool")) return;
  const { results: answered } = await callTools(server.url, undefined, ["read", {}]);
  expect(answered[0]?.output).toBe("mine");
});
