/** Reminders by a clock that the test moves. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { allSections } from "../../cli/api/sections.js";
import type { ReminderCreate } from "../../runtime/authoring/host.js";
import { defineReminder, type ReminderRunArgs } from "../../runtime/authoring/reminders.js";
import type { OfflineScript } from "../../runtime/harness/offline/script.js";
import type { AgentManifest } from "../../runtime/manifest/schema.js";
import type { AgentSessions } from "../../runtime/storage/agent-sessions.js";
import { clockAt, type TestClock } from "./support/clock.js";
import { agentOf, alice, eventsOf, only, openSessions, run, type TestTool, tempDir } from "./support/sessions.js";

interface Opened {
  readonly sessions: AgentSessions;
  readonly clock: TestClock;
  readonly lines: string[];
  readonly root: string;
  readonly api: ReturnType<AgentSessions["reminders"]["api"]>;
}

type Handlers = Readonly<Record<string, unknown>>;

interface More {
  readonly root?: string;
  readonly handlers?: Handlers;
  readonly tools?: Readonly<Record<string, TestTool>>;
  readonly script?: OfflineScript;
  readonly manifest?: Partial<AgentManifest>;
}

async function open(at: string, { root = tempDir(), handlers = {}, tools, script, manifest }: More = {}) {
  const clock = clockAt(at);
  const lines: string[] = [];
  const code = agentOf({
    ...(tools && { tools }),
    manifest: {
      reminders: Object.keys(handlers).map((name) => ({
        id: `reminder:${name}`,
        name,
        source: `bot/reminders/${name}.ts:1`,
        layer: "project",
      })),
      ...manifest,
    },
  });
  const definitions = {
    ...code.definitions,
    ...Object.fromEntries(Object.entries(handlers).map(([name, handler]) => [`reminder:${name}`, handler])),
  };
  const generation = { ...code, definitions };
  const sessions = await openSessions({
    root,
    ...(script && { script }),
    options: {
      clock,
      sections: allSections,
      generation: () => generation,
      log: (level, message) => lines.push(`${level} ${message}`),
    },
  });
  await sessions.reminders.start();
  return { sessions, clock, lines, root, api: sessions.reminders.api(undefined) } satisfies Opened;
}

/** A conversation of channel `drive`. */
async function converse({ sessions }: Opened, continuationKey = "pr:1"): Promise<string> {
  return (await run(sessions, "hello", { channelId: "drive", continuationKey })).sessionId;
}

async function heard({ sessions }: Opened, sessionId: string): Promise<string[]> {
  await sessions.settled(sessionId);
  const messages: string[] = [];
  for await (const lines of await sessions.read({ ...alice, seesAll: true }, sessionId, 0)) {
    for (const line of lines) {
      const event = JSON.parse(line) as { type: string; data: { text: string } };
      if (event.type === "message.received") messages.push(event.data.text);
    }
  }
  return messages.slice(1);
}

const target = { purpose: "ci", channelId: "drive", continuationToken: "pr:1" };

test("a prompt wakes its conversation once, after delay or at an instant, and is gone", async () => {
  const opened = await open("2026-03-02T09:00:00Z");
  const sessionId = await converse(opened);
  const first = await opened.api.create({ ...target, delay: "2h", prompt: "Look again." });
  await opened.api.create({ ...target, at: "2026-03-02T12:30:00+01:00", prompt: "At half past." });
  await opened.api.create({ ...target, at: new Date("2026-03-02T08:00:00Z"), prompt: "Late." });
  expect(first).toEqual({
    id: expect.stringMatching(/^rem_[0-9A-Z]{26}$/),
    purpose: "ci",
    channelId: "drive",
    sessionId,
    nextAt: "2026-03-02T11:00:00.000Z",
    recurring: false,
    prompt: "Look again.",
  });
  await expect.poll(() => heard(opened, sessionId)).toEqual(["Late."]);
  opened.clock.moveTo("2026-03-02T10:59:59Z");
  expect(await heard(opened, sessionId)).toEqual(["Late."]);
  opened.clock.moveTo("2026-03-02T11:00:00Z");
  await expect.poll(() => heard(opened, sessionId)).toEqual(["Late.", "Look again."]);
  await expect
    .poll(async () => (await opened.api.list()).map(({ nextAt }) => nextAt))
    .toEqual(["2026-03-02T11:30:00.000Z"]);
  opened.clock.moveTo("2026-03-02T15:00:00Z");
  await expect.poll(() => heard(opened, sessionId)).toEqual(["Late.", "Look again.", "At half past."]);
  await expect.poll(() => opened.api.list()).toEqual([]);
  await opened.sessions.close();
});

test("every keeps its rhythm, cron its times; until is told with the prompt; cancelled ones are silent", async () => {
  const opened = await open("2026-03-02T09:00:00Z", { manifest: { builtinTools: { reminders: true } } });
  const sessionId = await converse(opened);
  const every = await opened.api.create({ ...target, every: "30m", prompt: "Tick.", until: "CI is green." });
  await opened.api.create({ ...target, cron: "15 10 * * *", prompt: "Quarter." });
  const tick = `Tick.\n\nThis reminder stands until: CI is green. If that holds, call reminders_cancel with id "${every.id}".`;
  opened.clock.moveTo("2026-03-02T09:30:00Z");
  await expect.poll(() => heard(opened, sessionId)).toEqual([tick]);
  await expect.poll(async () => (await opened.api.list())[0]?.nextAt).toBe("2026-03-02T10:00:00.000Z");
  // A machine that slept over two due times wakes the conversation once.
  opened.clock.moveTo("2026-03-02T10:20:00Z");
  await expect.poll(() => heard(opened, sessionId)).toEqual([tick, tick, "Quarter."]);
  await expect
    .poll(async () => (await opened.api.list()).map(({ nextAt }) => nextAt))
    .toEqual(["2026-03-02T10:30:00.000Z", "2026-03-03T10:15:00.000Z"]);
  expect(await opened.api.cancel(every.id)).toBe(true);
  expect(await opened.api.cancel(every.id)).toBe(false);
  opened.clock.moveTo("2026-03-02T23:00:00Z");
  expect(await heard(opened, sessionId)).toHaveLength(3);
  await opened.sessions.close();
});

test("after a restart one-shots that are overdue fire once, recurring ones once and then on time", async () => {
  const first = await open("2026-03-02T09:00:00Z");
  const sessionId = await converse(first);
  await first.api.create({ ...target, delay: "1h", prompt: "Once." });
  await first.api.create({ ...target, every: "1h", prompt: "Again." });
  const gone = await first.api.create({ ...target, delay: "1h", prompt: "Never." });
  await first.api.cancel(gone.id);
  const run = () => ({ action: "delivered" as const });
  await first.api.create({ ...target, delay: "1h", run });
  await first.sessions.close();

  const second = await open("2026-03-03T12:10:00Z", { root: first.root });
  await expect.poll(async () => [...(await heard(second, sessionId))].sort()).toEqual(["Again.", "Once."]);
  await expect
    .poll(async () => (await second.api.list()).map(({ nextAt }) => nextAt))
    .toEqual(["2026-03-03T13:00:00.000Z"]);
  second.clock.moveTo("2026-03-03T13:00:00Z");
  await expect.poll(async () => (await heard(second, sessionId)).filter((text) => text === "Again.")).toHaveLength(2);
  await second.sessions.close();

  const third = await open("2026-03-03T13:30:00Z", { root: first.root });
  expect(await heard(third, sessionId)).toHaveLength(3);
  await third.sessions.close();
});

test("a handler gets its args, and wakes the conversation only if it says so; stop cancels; what it throws ends nothing", async () => {
  const seen: unknown[] = [];
  let answer: unknown = { action: "skip" };
  const recheck = defineReminder({
    run: async ({ args, reminder, session, followup, host }: ReminderRunArgs) => {
      seen.push({ args, purpose: reminder.purpose, until: reminder.until, session: session.id });
      (args.list as unknown[]).push("changed");
      await host.kv.put("seen", seen.length);
      if (answer instanceof Error) throw answer;
      const { action } = answer as { action: "skip" | "delivered" | "stop" };
      if (action === "delivered") await followup({ message: `Look at ${String(args.url)}.` });
      return { action };
    },
  });
  const opened = await open("2026-03-02T09:00:00Z", { handlers: { recheck } });
  const sessionId = await converse(opened);
  const args = { url: "u", list: [1] };
  await opened.api.create({ ...target, every: "1m", handler: recheck, args, until: "green" });
  args.url = "changed";
  const over = async (minute: number, count: number) => {
    opened.clock.moveTo(`2026-03-02T09:0${minute}:00Z`);
    await expect.poll(() => seen.length).toBe(count);
  };
  await over(1, 1);
  answer = new Error("broken");
  await over(2, 2);
  await expect.poll(() => opened.lines.some((line) => line.includes("broken"))).toBe(true);
  answer = { action: "delivered" };
  await over(3, 3);
  await expect.poll(() => heard(opened, sessionId)).toEqual(["Look at u."]);
  answer = { action: "stop" };
  await over(4, 4);
  await expect.poll(() => opened.api.list()).toEqual([]);
  expect(seen).toEqual(
    Array.from({ length: 4 }, () => ({
      args: { url: "u", list: [1, "changed"] },
      purpose: "ci",
      until: "green",
      session: sessionId,
    })),
  );
  await opened.sessions.close();
});

test("a handler that is not there waits until the code has it; a slow one never overlaps itself", async () => {
  const releases: (() => void)[] = [];
  let runs = 0;
  const slow = {
    run: async () => {
      runs += 1;
      await new Promise<void>((resolve) => releases.push(resolve));
      return { action: "delivered" };
    },
  };
  const first = await open("2026-03-02T09:00:00Z", { handlers: { slow } });
  await converse(first);
  await first.api.create({ ...target, every: "1m", handler: "slow" });
  await first.sessions.close();

  const without = await open("2026-03-02T09:01:00Z", { root: first.root });
  await expect.poll(() => without.lines.filter((line) => line.includes('no handler "slow"'))).toHaveLength(1);
  expect(await without.api.list()).toHaveLength(1);
  await without.sessions.close();

  const back = await open("2026-03-02T09:02:30Z", { root: first.root, handlers: { slow } });
  await expect.poll(() => runs).toBe(1);
  back.clock.moveTo("2026-03-02T09:05:30Z");
  expect(runs).toBe(1);
  releases[0]?.();
  await expect.poll(() => runs).toBe(2);
  releases[1]?.();
  await back.sessions.close();
});

test("a conversation that is over takes its reminders with it", async () => {
  const opened = await open("2026-03-02T09:00:00Z");
  const sessionId = await converse(opened);
  await opened.api.create({ ...target, every: "1m", prompt: "Anyone?" });
  const { rmSync } = await import("node:fs");
  rmSync(join(opened.root, "state/sessions", sessionId), { recursive: true });
  opened.clock.moveTo("2026-03-02T09:01:00Z");
  await expect.poll(() => opened.api.list()).toEqual([]);
  expect(opened.lines.some((line) => line.includes("its conversation is over"))).toBe(true);
  await opened.sessions.close();
});

const wrong: readonly (readonly [string, Record<string, unknown>, string])[] = [
  ["no time", { prompt: "x" }, "invalid_request"],
  ["two times", { prompt: "x", delay: "1h", every: "1h" }, "invalid_request"],
  ["a text that is no duration", { prompt: "x", delay: "soon" }, "invalid_request"],
  ["a negative duration", { prompt: "x", delay: -1 }, "invalid_request"],
  ["an interval too short", { prompt: "x", every: "10ms" }, "invalid_request"],
  ["local time", { prompt: "x", at: "2026-03-02T09:00:00" }, "invalid_request"],
  ["an invalid date", { prompt: "x", at: new Date(Number.NaN) }, "invalid_request"],
  ["bad cron", { prompt: "x", cron: "61 * * * *" }, "invalid_request"],
  ["cron that never fires", { prompt: "x", cron: "0 0 30 2 *" }, "invalid_request"],
  ["no action", { delay: "1h" }, "invalid_request"],
  ["two actions", { delay: "1h", prompt: "x", handler: "known" }, "invalid_request"],
  ["a prompt with args", { delay: "1h", prompt: "x", args: {} }, "invalid_request"],
  ["args with a date", { delay: "1h", handler: "known", args: { at: new Date() } }, "invalid_request"],
  ["args that are a list", { delay: "1h", handler: "known", args: [1] }, "invalid_request"],
  ["no purpose", { delay: "1h", prompt: "x", purpose: " " }, "invalid_request"],
  ["an unknown handler", { delay: "1h", handler: "nobody" }, "unknown_handler"],
  [
    "a definition from elsewhere",
    { delay: "1h", handler: defineReminder({ run: () => ({ action: "skip" }) }) },
    "unknown_handler",
  ],
  ["an unknown conversation", { delay: "1h", prompt: "x", continuationToken: "pr:2" }, "not_found"],
  ["an unknown channel", { delay: "1h", prompt: "x", channelId: "post" }, "not_found"],
  ["no conversation", { delay: "1h", prompt: "x", continuationToken: undefined }, "invalid_request"],
];

test.each(wrong)("refused: %s", async (_what, fields, code) => {
  const opened = await open("2026-03-02T09:00:00Z", { handlers: { known: { run: () => ({ action: "skip" }) } } });
  await converse(opened);
  await expect(opened.api.create({ ...target, ...fields } as unknown as ReminderCreate)).rejects.toMatchObject({
    code,
  });
  expect(await opened.api.list()).toEqual([]);
  expect(existsSync(join(opened.root, "state/reminders.ndjson"))).toBe(false);
  await opened.sessions.close();
});

test("tokens of the built-in API find their session, and it stays found when they rotate", async () => {
  const opened = await open("2026-03-02T09:00:00Z");
  const { sessionId, continuationToken } = await run(opened.sessions, "hello");
  await opened.api.create({ purpose: "p", channelId: "http", continuationToken, every: "1h", prompt: "Wake." });
  await expect(
    opened.api.create({ purpose: "p", channelId: "drive", continuationToken, every: "1h", prompt: "x" }),
  ).rejects.toMatchObject({ code: "not_found" });
  await opened.sessions.followUp(alice, { sessionId, continuationToken, message: "More." });
  opened.clock.moveTo("2026-03-02T10:00:00Z");
  await expect.poll(() => heard(opened, sessionId)).toEqual(["More.", "Wake."]);
  opened.clock.moveTo("2026-03-02T11:00:00Z");
  await expect.poll(() => heard(opened, sessionId)).toEqual(["More.", "Wake.", "Wake."]);
  await opened.sessions.close();
});

test("tools see their own session's reminders through ctx.host, and need not name it", async () => {
  const listed: unknown[] = [];
  const opened = await open("2026-03-02T09:00:00Z", {
    tools: {
      remind: {
        execute: async (_: never, ctx: { host: { reminders: Opened["api"] } }) => {
          const { id, sessionId } = await ctx.host.reminders.create({ purpose: "p", delay: "1h", prompt: "Hi." });
          listed.push(await ctx.host.reminders.list());
          return { id, sessionId };
        },
      } as unknown as TestTool,
    },
  });
  await converse(opened);
  await opened.api.create({ ...target, delay: "5h", prompt: "Other." });
  const { sessionId } = await run(opened.sessions, "/remind");
  expect(listed).toMatchObject([[{ sessionId, prompt: "Hi.", channelId: "http" }]]);
  expect(await opened.api.list()).toHaveLength(2);
  opened.clock.moveTo("2026-03-02T10:00:00Z");
  await expect.poll(() => heard(opened, sessionId)).toEqual(["Hi."]);
  await opened.sessions.close();
});

test("the model makes, lists and cancels reminders of its own conversation", async () => {
  const call = (name: string, input: unknown) => `/${name} ${JSON.stringify(input)}`;
  const opened = await open("2026-03-02T09:00:00Z", { manifest: { builtinTools: { reminders: true } } });
  const elsewhere = await opened.api.create({
    ...target,
    continuationToken: await key(opened),
    delay: "5h",
    prompt: "x",
  });
  const first = await run(
    opened.sessions,
    call("reminders_create", { purpose: "ci", prompt: "Look.", every: "1h", at: null }),
  );
  const results = async () =>
    only(await eventsOf(opened.sessions, first.sessionId), "action.result").map(({ data }) => data);
  const say = async (message: string, continuationToken: string) => {
    const accepted = await opened.sessions.followUp(alice, { sessionId: first.sessionId, continuationToken, message });
    await opened.sessions.settled(first.sessionId);
    return accepted.continuationToken;
  };
  const [created] = (await results()).map(({ output }) => output as { id: string });
  expect(created).toMatchObject({ purpose: "ci", nextAt: "2026-03-02T10:00:00.000Z", recurring: true });
  let token = await say(call("reminders_list", {}), first.continuationToken);
  token = await say(call("reminders_create", { purpose: "ci", prompt: "Look.", delay: 5 }), token);
  token = await say(call("reminders_create", { purpose: "ci", prompt: "Look.", delay: "never" }), token);
  token = await say(call("reminders_cancel", { id: elsewhere.id }), token);
  await say(call("reminders_cancel", { id: created?.id }), token);
  expect(await results()).toMatchObject([
    { isError: false },
    { isError: false, output: { reminders: [{ id: created?.id }] } },
    { isError: true },
    { isError: true, output: { message: expect.stringContaining("never") } },
    { isError: true, output: { message: expect.stringContaining(elsewhere.id) } },
    { isError: false, output: { cancelled: true } },
  ]);
  expect((await opened.api.list()).map(({ id }) => id)).toEqual([elsewhere.id]);
  const dry = await run(opened.sessions, call("reminders_create", { purpose: "x", prompt: "x", delay: "1h" }), {
    dryRun: true,
  });
  expect(only(await eventsOf(opened.sessions, dry.sessionId), "action.result")[0]?.data).toMatchObject({
    stubbed: true,
  });
  const task = await run(opened.sessions, call("reminders_create", { purpose: "x", prompt: "x", delay: "1h" }), {
    mode: "task",
  });
  expect(only(await eventsOf(opened.sessions, task.sessionId), "action.result")[0]?.data).toMatchObject({
    isError: true,
    output: { message: expect.stringContaining("task session") },
  });
  expect(await opened.api.list()).toHaveLength(1);
  await opened.sessions.close();
});

async function key(opened: Opened): Promise<string> {
  await converse(opened, "pr:9");
  return "pr:9";
}

test("a line that a crash cut short costs that line only; what is gone is cleared away", async () => {
  const first = await open("2026-03-02T09:00:00Z");
  await converse(first);
  const file = join(first.root, "state/reminders.ndjson");
  const kept = await first.api.create({ ...target, delay: "9h", prompt: "Kept." });
  for (let n = 0; n < 300; n += 1) {
    const { id } = await first.api.create({ ...target, delay: "1h", prompt: "Gone." });
    await first.api.cancel(id);
  }
  expect(readFileSync(file, "utf8").split("\n").length).toBeLessThan(510);
  await first.sessions.close();
  const { appendFileSync } = await import("node:fs");
  appendFileSync(file, '{"put":{"id":"rem_half","purp');
  const second = await open("2026-03-02T09:10:00Z", { root: first.root });
  expect(second.lines.some((line) => line.includes("cut short"))).toBe(true);
  const added = await second.api.create({ ...target, delay: "1h", prompt: "Added." });
  await second.sessions.close();
  const third = await open("2026-03-02T09:20:00Z", { root: first.root });
  expect((await third.api.list()).map(({ id }) => id)).toEqual([added.id, kept.id]);
  await third.sessions.close();
});
