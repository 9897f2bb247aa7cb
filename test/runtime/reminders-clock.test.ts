/** Reminders by a clock that the test moves: when they fire. */
import { appendFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { defineReminder, type ReminderRunArgs } from "../../runtime/authoring/reminders.js";
import { converse, heard, openReminders as open, target } from "./support/reminders.js";

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

test("a conversation that can't be read is tried again, less and less often, and is told once", async () => {
  const first = await open("2026-03-02T09:00:00Z");
  const sessionId = await converse(first);
  await first.api.create({ ...target, delay: "1h", prompt: "Now." });
  await first.sessions.close();
  const file = join(first.root, "state/sessions", sessionId, "session.json");
  const text = readFileSync(file, "utf8");
  writeFileSync(file, "{ damaged\n");

  const second = await open("2026-03-02T10:00:30Z", { root: first.root });
  const tries = () => second.lines.filter((line) => line.includes("is tried again")).length;
  await expect.poll(tries).toBe(1);
  second.clock.moveTo("2026-03-02T10:00:31Z");
  await expect.poll(tries).toBe(2);
  second.clock.moveTo("2026-03-02T10:00:32Z");
  expect(tries()).toBe(2);
  writeFileSync(file, text);
  second.clock.moveTo("2026-03-02T10:00:34Z");
  await expect.poll(() => heard(second, sessionId)).toEqual(["Now."]);
  await expect.poll(() => second.api.list()).toEqual([]);
  await second.sessions.close();
});

test("a conversation that is over takes its reminders with it", async () => {
  const opened = await open("2026-03-02T09:00:00Z");
  const sessionId = await converse(opened);
  await opened.api.create({ ...target, every: "1m", prompt: "Anyone?" });
  rmSync(join(opened.root, "state/sessions", sessionId), { recursive: true });
  opened.clock.moveTo("2026-03-02T09:01:00Z");
  await expect.poll(() => opened.api.list()).toEqual([]);
  expect(opened.lines.some((line) => line.includes("its conversation is over"))).toBe(true);
  await opened.sessions.close();
});

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
  appendFileSync(file, '{"put":{"id":"rem_half","purp');
  const second = await open("2026-03-02T09:10:00Z", { root: first.root });
  expect(second.lines.some((line) => line.includes("cut short"))).toBe(true);
  const added = await second.api.create({ ...target, delay: "1h", prompt: "Added." });
  await second.sessions.close();
  const third = await open("2026-03-02T09:20:00Z", { root: first.root });
  expect((await third.api.list()).map(({ id }) => id)).toEqual([added.id, kept.id]);
  await third.sessions.close();
});
