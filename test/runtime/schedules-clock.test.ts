/** Schedules by a clock that the test moves. */
import { expect, test } from "vitest";
import { allSections } from "../../cli/api/sections.js";
import { allowAll, defineChannel } from "../../runtime/authoring/channels.js";
import type { ScheduleRunArgs } from "../../runtime/authoring/schedules.js";
import type { ScheduleEntry } from "../../runtime/manifest/schema.js";
import { tickSessionId } from "../../runtime/schedules/ticks.js";
import type { Caller } from "../../runtime/session/service.js";
import type { AgentSessions } from "../../runtime/storage/agent-sessions.js";
import { clockAt, type TestClock } from "./support/clock.js";
import { agentOf, openSessions, type TestTool, tempDir } from "./support/sessions.js";

const everyone: Caller = { owner: "x:x", seesAll: true, auth: { kind: "x", id: "x" } };

type Run = (args: ScheduleRunArgs) => unknown;
type Written = Partial<ScheduleEntry> & { readonly cron: string; readonly run?: Run };

interface Opened {
  readonly sessions: AgentSessions;
  readonly clock: TestClock;
  readonly lines: string[];
  readonly root: string;
}

async function open(
  at: string,
  schedules: Readonly<Record<string, Written>>,
  more: { readonly root?: string; readonly tools?: Readonly<Record<string, TestTool>> } = {},
): Promise<Opened> {
  const clock = clockAt(at);
  const lines: string[] = [];
  const root = more.root ?? tempDir();
  const origin = { source: "bot/x.ts:1", layer: "project" } as const;
  const entries = Object.entries(schedules).map(([name, { run, ...entry }]): ScheduleEntry => {
    const form = run === undefined ? "markdown" : "run";
    return {
      ...origin,
      id: `schedule:${name}`,
      name,
      form,
      ...(run === undefined && { prompt: `do ${name}` }),
      ...entry,
    };
  });
  const channel = { ...origin, id: "channel:inbox", name: "inbox", routes: [], events: [] };
  const code = agentOf({
    ...(more.tools && { tools: more.tools }),
    manifest: { schedules: entries, channels: [channel] },
  });
  const definitions = {
    ...code.definitions,
    "channel:inbox": inbox,
    ...Object.fromEntries(Object.entries(schedules).map(([name, { run }]) => [`schedule:${name}`, { run }])),
  };
  const sessions = await openSessions({
    root,
    options: {
      clock,
      sections: allSections,
      generation: () => generation,
      log: (_level, message) => lines.push(message),
    },
  });
  const generation = { ...code, definitions };
  await sessions.schedules.start();
  return { sessions, clock, lines, root };
}

const inbox = defineChannel({ auth: [allowAll()], routes: [] });

/** Resolves when that many runs are over. */
async function runsOver({ lines }: Opened, count: number): Promise<void> {
  await expect.poll(() => lines.filter((line) => line.endsWith("is over")).length).toBe(count);
}

async function ids({ sessions }: Opened): Promise<string[]> {
  const { sessions: rows } = await sessions.list(everyone, { limit: 100 });
  return rows.map(({ id }) => id).reverse();
}

const tick = (name: string, at: string) => tickSessionId(name, Date.parse(at));

test("a prompt starts one task session a tick, in UTC, owned by the schedule", async () => {
  const opened = await open("2026-03-02T08:58:20Z", { daily: { cron: "0 9 * * 1-5" } });
  opened.clock.moveTo("2026-03-02T08:59:59Z");
  expect(await ids(opened)).toEqual([]);
  opened.clock.moveTo("2026-03-02T09:00:00Z");
  const expected = [tick("daily", "2026-03-02T09:00:00Z")];
  await expect.poll(() => ids(opened)).toEqual(expected);
  await runsOver(opened, 1);
  const { sessions } = await opened.sessions.list(everyone, { limit: 10 });
  expect(sessions).toMatchObject([
    {
      mode: "task",
      status: "completed",
      channelId: "schedule",
      title: "daily",
      owner: "app:schedule:daily",
      continuationToken: null,
    },
  ]);
  opened.clock.moveTo("2026-03-02T23:00:00Z");
  expect(await ids(opened)).toEqual(expected);
  opened.clock.moveTo("2026-03-03T09:00:30Z");
  await expect.poll(() => ids(opened)).toEqual([...expected, tick("daily", "2026-03-03T09:00:00Z")]);
  await opened.sessions.close();
});

test("a handler calls tools, hands work into a channel, and is told its tick; one that fails stops nothing", async () => {
  const seen: unknown[] = [];
  const opened = await open(
    "2026-03-02T09:29:59Z",
    {
      broken: {
        cron: "*/30 * * * *",
        run: () => {
          throw new Error("broken for good");
        },
      },
      sweep: {
        cron: "*/30 * * * *",
        run: async ({ callTool, receive, waitUntil, appAuth, schedule, scheduledAt, host }) => {
          seen.push([schedule.id, scheduledAt.toISOString(), appAuth, await callTool("double", { n: 2 })]);
          await host.kv.put("swept", true);
          waitUntil(receive(inbox, { message: "check", auth: appAuth, continuationToken: "alerts" }));
        },
      },
    },
    { tools: { double: { effect: "read", execute: ({ n }: { n: number }) => n * 2 } } },
  );
  opened.clock.moveTo("2026-03-02T09:30:00Z");
  await expect.poll(() => ids(opened)).toHaveLength(1);
  opened.clock.moveTo("2026-03-02T09:45:00Z");
  await runsOver(opened, 2);
  await expect.poll(() => opened.lines.filter((line) => line.includes("broken for good")).length).toBe(1);
  expect(seen).toEqual([
    ["sweep", "2026-03-02T09:30:00.000Z", { kind: "app", id: "schedule:sweep" }, { isError: false, result: 4 }],
  ]);
  const { sessions } = await opened.sessions.list(everyone, { limit: 10 });
  expect(sessions).toMatchObject([
    { channelId: "inbox", owner: "app:schedule:sweep", continuationToken: "inbox:alerts" },
  ]);
  opened.clock.moveTo("2026-03-02T10:00:00Z");
  await expect.poll(() => opened.lines.filter((line) => line.includes("broken for good")).length).toBe(2);
  await expect.poll(() => seen.length).toBe(2);
  await opened.sessions.close();
});

test.each([
  ["skip", ["09:01", "09:04"]],
  ["queue", ["09:01", "09:02", "09:04"]],
] as const)("overlap: %s", async (overlap, expected) => {
  const runs: string[] = [];
  const releases: (() => void)[] = [];
  const opened = await open("2026-03-02T09:00:30Z", {
    slow: {
      cron: "* * * * *",
      overlap,
      run: async ({ scheduledAt }) => {
        runs.push(scheduledAt.toISOString().slice(11, 16));
        if (runs.length === 1) await new Promise<void>((resolve) => releases.push(resolve));
      },
    },
  });
  opened.clock.moveTo("2026-03-02T09:01:00Z");
  await expect.poll(() => releases.length).toBe(1);
  opened.clock.moveTo("2026-03-02T09:03:00Z");
  expect(opened.lines.filter((line) => line.includes("is skipped"))).toHaveLength(overlap === "skip" ? 2 : 1);
  releases[0]?.();
  await expect.poll(() => runs.length).toBe(expected.length - 1);
  await runsOver(opened, expected.length - 1);
  opened.clock.moveTo("2026-03-02T09:04:00Z");
  await expect.poll(() => runs).toEqual(expected);
  await opened.sessions.close();
});

test("what was missed within the last hour is made up for, once; longer ago, or with catchUp: false, it is not", async () => {
  const schedules = {
    often: { cron: "*/10 * * * *" },
    never: { cron: "*/10 * * * *", catchUp: false },
    early: { cron: "30 9 * * *" },
  };
  const first = await open("2026-03-02T09:05:00Z", schedules);
  await first.sessions.close();
  const second = await open("2026-03-02T11:03:00Z", schedules, { root: first.root });
  await expect.poll(() => ids(second)).toEqual([tick("often", "2026-03-02T11:00:00Z")]);
  await second.sessions.close();
  const third = await open("2026-03-02T11:04:00Z", schedules, { root: first.root });
  expect(await ids(third)).toHaveLength(1);
  await third.sessions.close();
});

test("a schedule that was given other times misses nothing of them before its next start", async () => {
  const first = await open("2026-03-02T09:55:00Z", { moved: { cron: "0 9 * * *" }, same: { cron: "0 10 * * *" } });
  await first.sessions.close();
  const moved = { moved: { cron: "2 10 * * *" }, same: { cron: "0 10 * * *" } };
  const second = await open("2026-03-02T10:03:00Z", moved, { root: first.root });
  await expect.poll(() => ids(second)).toEqual([tick("same", "2026-03-02T10:00:00Z")]);
  await runsOver(second, 1);
  second.clock.moveTo("2026-03-03T10:02:00Z");
  await runsOver(second, 3);
  expect(await ids(second)).toContain(tick("moved", "2026-03-03T10:02:00Z"));
  expect(await ids(second)).toHaveLength(3);
  await second.sessions.close();
});

test("a tick that an earlier process began is not begun again", async () => {
  const schedules = { daily: { cron: "0 10 * * *" } };
  const first = await open("2026-03-02T09:59:00Z", schedules);
  // As a process that is killed between making the session and noting the tick leaves it.
  const id = tick("daily", "2026-03-02T10:00:00Z");
  const create = () =>
    first.sessions.create(everyone, { id, message: "do daily", channelId: "schedule", mode: "task" });
  await create();
  await expect(create()).rejects.toMatchObject({ code: "token_in_use" });
  await first.sessions.close();
  const second = await open("2026-03-02T10:00:30Z", schedules, { root: first.root });
  second.clock.moveTo("2026-03-02T10:30:00Z");
  expect(await ids(second)).toEqual([id]);
  await second.sessions.close();
});

test("a clock that is set back fires nothing twice", async () => {
  const opened = await open("2026-03-02T09:00:30Z", { often: { cron: "* * * * *" } });
  opened.clock.moveTo("2026-03-02T09:01:10Z");
  await expect.poll(() => ids(opened)).toHaveLength(1);
  opened.clock.moveTo("2026-03-02T09:00:40Z");
  opened.clock.moveTo("2026-03-02T09:01:20Z");
  await runsOver(opened, 1);
  expect(await ids(opened)).toHaveLength(1);
  await opened.sessions.close();
});

test("a clock that is set back while no server runs fires nothing twice either; one that had been far ahead stops nothing", async () => {
  const ran: string[] = [];
  const note = { cron: "* * * * *", run: ({ scheduledAt }: ScheduleRunArgs) => ran.push(scheduledAt.toISOString()) };
  const first = await open("2026-03-02T09:00:30Z", { note });
  first.clock.moveTo("2026-03-02T09:01:10Z");
  await runsOver(first, 1);
  await first.sessions.close();

  const second = await open("2026-03-02T09:00:40Z", { note }, { root: first.root });
  second.clock.moveTo("2026-03-02T09:01:20Z");
  second.clock.moveTo("2026-03-02T09:02:20Z");
  await runsOver(second, 1);
  expect(ran).toEqual(["2026-03-02T09:01:00.000Z", "2026-03-02T09:02:00.000Z"]);

  second.clock.setTo("2025-03-02T09:00:00Z");
  second.clock.moveTo("2025-03-02T09:01:00Z");
  await runsOver(second, 2);
  second.clock.moveTo("2025-03-02T09:02:00Z");
  await runsOver(second, 3);
  expect(ran.slice(2)).toEqual(["2025-03-02T09:01:00.000Z", "2025-03-02T09:02:00.000Z"]);
  await second.sessions.close();
});
