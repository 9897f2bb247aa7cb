/** `bdk sessions`, `cost`, `trajectory` and `logs`, on the files of a running server and on the server itself. */
import { existsSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { type Emitted, emitProject } from "../runtime/support/emitted.js";
import { call, followUntil, isWaiting, type Started, startSession } from "../runtime/support/host.js";
import { bdk, startBdk } from "./bdk.js";

let emitted: Emitted;
let base: string;
let state: string;
let started: Started;

beforeAll(async () => {
  emitted = await emitProject({
    "bot/hooks/grumble.ts": `import { defineHook } from "@cursor/bdk/hooks";

export default defineHook({
  events: {
    "message.received"(event) {
      if (event.data.text.startsWith("oops")) throw new Error(event.data.text);
    },
  },
});
`,
    "bot/tools/ask.ts": `import { defineTool } from "@cursor/bdk/tools";

export default defineTool({ description: "Asks.", needsApproval: true, execute: (input) => ({ got: input }) });
`,
  });
  base = await emitted.start();
  state = emitted.stateRoot;
  started = await startSession(base, { message: "hello", title: "Greeting", workspaceFiles: { "a.txt": "a" } });
  await followUntil(base, started.sessionId, isWaiting);
});

const json = async (...args: string[]) => {
  const { code, stdout, stderr } = await bdk([...args, "--json"]);
  expect(stderr).toBe("");
  return { code, value: JSON.parse(stdout) };
};

test("a title that somebody wrote can't steer a terminal", async () => {
  const title = "two\nlines \u001b[31m red \u0007";
  const { sessionId } = await startSession(base, { message: "\u001b[2J", title });
  await followUntil(base, sessionId, isWaiting);
  for (const args of [["list"], ["show", sessionId]]) {
    const { stdout } = await bdk(["sessions", ...args, "--state-root", state]);
    expect(stdout).toContain("two lines \ufffd[31m red");
    for (const control of ["\u001b", "\u0007"]) expect(stdout).not.toContain(control);
  }
  expect((await bdk(["sessions", "delete", sessionId, "--state-root", state])).code).toBe(0);
});

describe("reading", () => {
  test("list and show read the files, or ask the server", async () => {
    for (const where of [
      ["--state-root", state],
      ["--url", base],
    ]) {
      const { value } = await json("sessions", "list", ...where);
      expect(value.sessions).toMatchObject([{ id: started.sessionId, title: "Greeting", status: "waiting", turns: 1 }]);
      expect(value.sessions[0]).not.toHaveProperty("open");
      const shown = await json("sessions", "show", started.sessionId, ...where);
      expect(shown.value).toMatchObject({
        session: { id: started.sessionId },
        trajectory: { status: "completed", reply: expect.stringContaining("hello") },
      });
    }
    const { stdout, code } = await bdk(["sessions", "--state-root", state]);
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`^${started.sessionId} +waiting +1 turn .*Greeting`));
    const { stdout: shown } = await bdk(["sessions", "show", started.sessionId, "--state-root", state]);
    expect(shown).toContain("title: Greeting");
  });

  test("cost and trajectory are what the server and run say", async () => {
    const { body } = await call(`${base}/v1/session/${started.sessionId}/cost`);
    for (const where of [
      ["--state-root", state],
      ["--url", base],
    ]) {
      expect((await json("cost", started.sessionId, ...where)).value).toEqual(body);
    }
    const text = await bdk(["cost", started.sessionId, "--state-root", state]);
    expect(text.stdout).toMatch(/turn 1 .* in .* out/);
    const trace = join(state, "traces", `${started.sessionId}.ndjson`);
    const { stdout } = await bdk(["trajectory", "--events", trace]);
    const turns = body.turns as readonly { usage: unknown }[];
    expect(JSON.parse(stdout)).toMatchObject({
      sessionId: started.sessionId,
      status: "completed",
      reply: expect.stringContaining("hello"),
      toolCalls: [],
      usage: turns[0]?.usage,
    });
  });

  test("trajectory of a torn trace and of what is none", async () => {
    const trace = readFileSync(join(state, "traces", `${started.sessionId}.ndjson`), "utf8");
    const torn = join(emitted.work, "torn.ndjson");
    writeFileSync(torn, trace.slice(0, -10));
    expect((await json("trajectory", "--events", torn)).value.reply).toContain("hello");
    writeFileSync(torn, '{"no":"event"}\n');
    for (const [args, told, code] of [
      [["--events", torn], "line 1", 1],
      [["--events", join(emitted.work, "nothing")], "cannot read", 1],
      [[], "needs a trace", 2],
    ] as const) {
      const failed = await bdk(["trajectory", ...args]);
      expect([failed.code, failed.stderr.includes(told)], failed.stderr).toEqual([code, true]);
    }
  });

  test("logs of the running server, found by the state root", async () => {
    const { stdout, code } = await bdk(["logs", "--state-root", state, "--json"]);
    expect(code).toBe(0);
    const lines = stdout.split("\n").filter((line) => line !== "");
    for (const line of lines)
      expect(JSON.parse(line)).toMatchObject({ seq: expect.any(Number), level: expect.any(String) });
    const following = await startBdk(["logs", "-f", "--state-root", state]);
    for (const oops of ["oops one", "oops two"]) {
      const { sessionId } = await startSession(base, { message: oops, purpose: "eval" });
      await following.line((line) => (line.includes(`threw: ${oops}`) ? true : undefined));
      await bdk(["sessions", "delete", sessionId, "--state-root", state]);
    }
    expect(await following.interrupt()).toBe(0);
    const none = await bdk(["logs", "--state-root", join(emitted.work, "nowhere")]);
    expect([none.code, none.stderr.includes("no server runs")]).toEqual([1, true]);
  });

  test("what can't be: unknown sessions, actions and ages", async () => {
    for (const [args, told, code] of [
      [["cost", "ses_none"], "no session ses_none", 1],
      [["sessions", "show", "ses_none"], "no session ses_none", 1],
      [["sessions", "show"], "needs a session id", 2],
      [["sessions", "drop"], 'no action "drop"', 2],
      [["sessions", "prune"], "--older-than", 2],
      [["sessions", "prune", "--older-than", "soon"], 'cannot be "soon"', 2],
      [["sessions", "list", "--slug", "other"], "other", 1],
    ] as const) {
      const failed = await bdk([...args, "--state-root", state]);
      expect([failed.code, failed.stderr.includes(told)], failed.stderr).toEqual([code, true]);
    }
    const remote = await bdk(["sessions", "delete", started.sessionId, "--url", base]);
    expect(remote.code).toBe(2);
  });
});

describe("deleting", () => {
  test("takes the session, its trace and its workspace, under a running server", async () => {
    const gone = await startSession(base, { message: "bye", workspaceFiles: { "b.txt": "b" } });
    await followUntil(base, gone.sessionId, isWaiting);
    const mark = JSON.parse(readFileSync(join(state, "sessions", gone.sessionId, "workspace.json"), "utf8"));
    expect(existsSync(mark.dir)).toBe(true);
    const dry = await json("sessions", "delete", gone.sessionId, "--dry-run", "--state-root", state);
    expect(dry.value).toEqual({ deleted: [gone.sessionId], strayTraces: 0, dryRun: true });
    expect(existsSync(mark.dir)).toBe(true);
    expect((await bdk(["sessions", "delete", gone.sessionId, "--state-root", state])).code).toBe(0);
    for (const path of [
      mark.dir,
      join(state, "sessions", gone.sessionId),
      join(state, "traces", `${gone.sessionId}.ndjson`),
    ]) {
      expect(existsSync(path), path).toBe(false);
    }
    expect((await call(`${base}/v1/session/${gone.sessionId}/events`)).status).toBe(404);
    const { body } = await call(`${base}/v1/sessions`);
    expect(body.sessions).toMatchObject([{ id: started.sessionId }]);
  });

  test("prune takes what is old and at rest, and traces without a session", async () => {
    const parked = await startSession(base, { message: "/ask {}" });
    const stray = join(state, "traces", "ses_stray.ndjson");
    writeFileSync(stray, "");
    await expect
      .poll(async () => (await call(`${base}/v1/session/${parked.sessionId}/approvals`)).body.approvals)
      .toHaveLength(1);
    const kept = await json("sessions", "prune", "--older-than", "1h", "--state-root", state);
    expect(kept.value).toMatchObject({ deleted: [], strayTraces: 0 });
    await emitted.kill();
    const index = join(state, "index.ndjson");
    writeFileSync(
      index,
      readFileSync(index, "utf8").replaceAll(/"updatedAt":"[^"]+"/g, '"updatedAt":"2020-01-01T00:00:00.000Z"'),
    );
    utimesSync(stray, 0, 0);
    const pruned = await json("sessions", "prune", "--older-than", "30d", "--state-root", state);
    expect(pruned.value).toEqual({ deleted: [started.sessionId], strayTraces: 1, dryRun: false });
    expect(existsSync(stray)).toBe(false);
    base = await emitted.start();
    const { body } = await call(`${base}/v1/sessions`);
    expect(body.sessions).toMatchObject([{ id: parked.sessionId, status: "awaiting_approval" }]);
  });
});
