import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ToolContext } from "../../runtime/authoring/tools.js";
import { alice, eventsOf, only, openSessions, run, tempDir } from "./support/sessions.js";

const origin = { source: "bot/x.md:1", layer: "project" } as const;

function fileOf(path: string, text: string) {
  const sha256 = createHash("sha256").update(text).digest("hex");
  return { entry: { path, sha256, bytes: text.length }, blob: { [sha256]: Buffer.from(text).toString("base64") } };
}

const checklist = fileOf("refs/list.txt", "1. look\n");
const seed = fileOf("notes/start.md", "seeded");

const equipped = {
  tools: {
    where: { effect: "read" as const, execute: (_: never, ctx: ToolContext) => ctx.workspaceDir },
    touch: {
      execute: (_: never, ctx: ToolContext) => {
        writeFileSync(join(ctx.workspaceDir, "made.txt"), "x");
        return ctx.workspaceDir;
      },
    },
  },
  manifest: {
    skills: [
      {
        ...origin,
        id: "skill:review",
        name: "review",
        description: "How to review: carefully.",
        markdown: "# Review\n",
        files: [checklist.entry],
      },
    ],
    seeds: [{ ...seed.entry, ...origin }],
  },
  files: { ...checklist.blob, ...seed.blob },
};

test("a workspace is made when something needs it, with skills and seeds; edits stay", async () => {
  const root = tempDir();
  const sessions = await openSessions({ root, ...equipped });
  const plain = await run(sessions, "hello");
  expect(existsSync(join(root, "workspaces"))).toBe(false);
  const { sessionId } = plain;
  const { result } = await sessions.callTool(alice, { toolName: "touch", input: {}, sessionId });
  const dir = String(result);
  expect(dir).toBe(join(root, "workspaces", sessionId));
  expect(readFileSync(join(dir, "notes/start.md"), "utf8")).toBe("seeded");
  expect(readFileSync(join(dir, ".cursor/skills/review/SKILL.md"), "utf8")).toBe(
    '---\nname: review\ndescription: "How to review: carefully."\n---\n\n# Review\n',
  );
  expect(readFileSync(join(dir, ".cursor/skills/review/refs/list.txt"), "utf8")).toBe("1. look\n");
  writeFileSync(join(dir, "notes/start.md"), "edited");
  await sessions.close();
  const again = await openSessions({ root, ...equipped });
  await again.callTool(alice, { toolName: "where", input: {}, sessionId });
  expect(readFileSync(join(dir, "notes/start.md"), "utf8")).toBe("edited");
});

test("skills are in the prompt by description and loaded on demand by the model alone", async () => {
  const systems: string[] = [];
  const sessions = await openSessions({
    ...equipped,
    harness: {
      async *step(request) {
        systems.push(request.system);
        if (request.step === 1) {
          for (const args of [{ name: "review" }, { name: "review", file: "refs/list.txt" }, { name: "none" }, {}]) {
            yield { type: "call", toolName: "load_skill", args };
          }
        }
        yield { type: "finish", reason: "stop" };
      },
    },
  });
  const { sessionId } = await run(sessions, "go");
  expect(systems[0]).toContain("- review: How to review: carefully.");
  expect(systems[0]).not.toContain("# Review");
  const events = await eventsOf(sessions, sessionId);
  const results = only(events, "actions.requested")[0]?.data.calls.map(({ callId }) => {
    const result = only(events, "action.result").find(({ data }) => data.callId === callId)?.data;
    return [result?.isError, result?.output];
  });
  expect(results).toEqual([
    [false, { markdown: "# Review\n", files: ["refs/list.txt"] }],
    [false, { text: "1. look\n" }],
    [true, { message: expect.stringContaining('no skill "none"') }],
    [
      true,
      {
        message: expect.stringContaining("name: must be a string"),
        issues: [{ path: "name", message: "must be a string" }],
      },
    ],
  ]);
  await expect(sessions.callTool(alice, { toolName: "load_skill", input: { name: "review" } })).rejects.toMatchObject({
    code: "unknown_tool",
  });
});

test("files sent with a message are there when its turn runs, and named on the stream", async () => {
  const root = tempDir();
  const sessions = await openSessions({
    root,
    tools: {
      read: {
        effect: "read",
        execute: (_: never, ctx: ToolContext) => readdirSync(ctx.workspaceDir, { recursive: true }),
      },
    },
  });
  const { sessionId, continuationToken } = await run(sessions, "/read {}", { workspaceFiles: { "a/one.txt": "1" } });
  await sessions.followUp(alice, {
    sessionId,
    continuationToken,
    message: "/read {}",
    workspaceFiles: { "two.txt": "2" },
  });
  await sessions.settled(sessionId);
  const events = await eventsOf(sessions, sessionId);
  expect(only(events, "message.received").map(({ data }) => data.files)).toEqual([["a/one.txt"], ["two.txt"]]);
  const listed = only(events, "action.result").map(({ data }) => data.output);
  expect(listed[0]).toEqual(expect.arrayContaining(["a/one.txt"]));
  expect(listed[1]).toEqual(expect.arrayContaining(["a/one.txt", "two.txt"]));
  expect(readdirSync(join(root, "state", "incoming", sessionId))).toEqual([]);
});

test("paths that could leave the workspace are refused, and nothing of the message is taken", async () => {
  const root = tempDir();
  const sessions = await openSessions({ root });
  for (const path of [
    "../x",
    "/etc/x",
    "a/../../x",
    "a//b",
    "./x",
    "",
    "a\\b",
    "a\0b",
    "C:/x",
    "x".repeat(2_000),
    "x".repeat(256),
  ]) {
    const attempt = sessions.create(alice, { message: "x", channelId: "http", workspaceFiles: { [path]: "x" } });
    await expect(attempt).rejects.toMatchObject({ code: "invalid_request" });
  }
  for (const files of [
    { a: "1", "a/b": "2" },
    { "a/b/c": "1", a: "2" },
  ]) {
    const attempt = sessions.create(alice, { message: "x", channelId: "http", workspaceFiles: files });
    await expect(attempt).rejects.toMatchObject({ code: "invalid_request", message: expect.stringContaining('"a"') });
  }
  const big = { "big.txt": "x".repeat(25 * 1024 * 1024 + 1) };
  const attempt = sessions.create(alice, { message: "x", channelId: "http", workspaceFiles: big });
  await expect(attempt).rejects.toMatchObject({ code: "payload_too_large", status: 413 });
  expect((await sessions.list(alice, { limit: 10 })).sessions).toEqual([]);
});

test("a link in the workspace is not followed out of it", async () => {
  const root = tempDir();
  const outside = join(root, "outside");
  mkdirSync(outside);
  const sessions = await openSessions({
    root,
    tools: {
      link: {
        execute: (_: never, ctx: ToolContext) => {
          symlinkSync(outside, join(ctx.workspaceDir, "folder"));
          symlinkSync(join(outside, "file.txt"), join(ctx.workspaceDir, "file.txt"));
        },
      },
    },
  });
  let { sessionId, continuationToken } = await run(sessions, "/link {}");
  for (const path of ["folder/x.txt", "file.txt"]) {
    ({ continuationToken } = await sessions.followUp(alice, {
      sessionId,
      continuationToken,
      message: "hi",
      workspaceFiles: { [path]: "escaped" },
    }));
    await sessions.settled(sessionId);
  }
  expect(readdirSync(outside)).toEqual([]);
  const failures = only(await eventsOf(sessions, sessionId), "turn.failed");
  expect(failures).toHaveLength(2);
  expect(await sessions.get(alice, sessionId)).toMatchObject({ status: "waiting" });
});

test("a workspace that can't be made is said so: 500 for a direct write, a tool error in a turn", async () => {
  const root = tempDir();
  writeFileSync(join(root, "workspaces"), "in the way");
  const sessions = await openSessions({ root, ...equipped });
  const { sessionId } = await run(sessions, "/touch {}");
  const [result] = only(await eventsOf(sessions, sessionId), "action.result");
  expect(result?.data).toMatchObject({ isError: true, output: { message: expect.stringContaining("workspace") } });
  await expect(sessions.callTool(alice, { toolName: "touch", input: {}, sessionId })).rejects.toMatchObject({
    code: "workspace_unavailable",
    status: 500,
  });
  await expect(sessions.callTool(alice, { toolName: "where", input: {} })).rejects.toMatchObject({
    code: "workspace_unavailable",
  });
});

test("a file that the workspace has no place for fails its turn, and no other", async () => {
  const root = tempDir();
  const sessions = await openSessions({ root });
  let { sessionId, continuationToken } = await run(sessions, "one", { workspaceFiles: { "notes/a.md": "1" } });
  const send = async (workspaceFiles?: Record<string, string>) => {
    const message = workspaceFiles === undefined ? "and on" : "with files";
    const files = workspaceFiles === undefined ? {} : { workspaceFiles };
    ({ continuationToken } = await sessions.followUp(alice, { sessionId, continuationToken, message, ...files }));
    await sessions.settled(sessionId);
  };
  for (const path of ["notes", "notes/a.md/b"]) {
    await send({ [path]: "2" });
    await send();
  }
  const events = await eventsOf(sessions, sessionId);
  expect(only(events, "turn.completed")).toHaveLength(3);
  expect(only(events, "turn.failed").map(({ data }) => [data.code, data.message])).toEqual([
    ["invalid_request", 'workspaceFiles: "notes" can\'t be written: something else is in its place (EISDIR)'],
    ["invalid_request", 'workspaceFiles: "notes/a.md/b" can\'t be written: something else is in its place (ENOTDIR)'],
  ]);
  expect(readdirSync(join(root, "state", "incoming", sessionId))).toEqual([]);
});

test("many files of a message don't hold the others up", async () => {
  const sessions = await openSessions();
  const workspaceFiles = Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`d/${index}`, "x"]));
  let isDone = false;
  const filling = run(sessions, "x", { workspaceFiles }).then(() => {
    isDone = true;
  });
  let turns = 0;
  for (; !isDone; turns += 1) await new Promise((resolve) => setImmediate(resolve));
  await filling;
  // How often others had their turn says more than for how long they waited, which depends on the machine.
  expect(turns).toBeGreaterThan(200);
});
