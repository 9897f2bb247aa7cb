/** Who makes reminders, and what is refused: the host, tools, the model. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ReminderCreate } from "../../runtime/authoring/host.js";
import { defineReminder } from "../../runtime/authoring/reminders.js";
import { converse, heard, type OpenedReminders as Opened, openReminders as open, target } from "./support/reminders.js";
import { alice, eventsOf, only, run, type TestTool } from "./support/sessions.js";

const wrong: readonly (readonly [string, Record<string, unknown>, string])[] = [
  ["no time", { prompt: "x" }, "invalid_request"],
  ["two times", { prompt: "x", delay: "1h", every: "1h" }, "invalid_request"],
  ["a text that is no duration", { prompt: "x", delay: "soon" }, "invalid_request"],
  ["a negative duration", { prompt: "x", delay: -1 }, "invalid_request"],
  ["an interval too short", { prompt: "x", every: "10ms" }, "invalid_request"],
  ["local time", { prompt: "x", at: "2026-03-02T09:00:00" }, "invalid_request"],
  ["a day that does not exist", { prompt: "x", at: "2026-02-30T09:00:00Z" }, "invalid_request"],
  ["a year that nobody means", { prompt: "x", at: "9999-12-31T23:59:59Z" }, "invalid_request"],
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

test("tools see and cancel their own session's reminders through ctx.host, and need not name it", async () => {
  const listed: unknown[] = [];
  const other = { id: "" };
  const opened = await open("2026-03-02T09:00:00Z", {
    tools: {
      remind: {
        execute: async (_: never, ctx: { host: { reminders: Opened["api"] } }) => {
          const { id, sessionId } = await ctx.host.reminders.create({ purpose: "p", delay: "1h", prompt: "Hi." });
          listed.push(await ctx.host.reminders.list(), await ctx.host.reminders.cancel(other.id));
          return { id, sessionId };
        },
      } as unknown as TestTool,
    },
  });
  await converse(opened);
  other.id = (await opened.api.create({ ...target, delay: "5h", prompt: "Other." })).id;
  const { sessionId } = await run(opened.sessions, "/remind");
  expect(listed).toMatchObject([[{ sessionId, prompt: "Hi.", channelId: "http" }], false]);
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
  token = await say(call("reminders_create", { purpose: "ci", prompt: "x", delay: "1h", constructor: "x" }), token);
  token = await say(call("reminders_cancel", { id: elsewhere.id }), token);
  await say(call("reminders_cancel", { id: created?.id }), token);
  expect(await results()).toMatchObject([
    { isError: false },
    { isError: false, output: { reminders: [{ id: created?.id }] } },
    { isError: true },
    { isError: true, output: { message: expect.stringContaining("never") } },
    { isError: true, output: { message: expect.stringContaining("constructor: is no field") } },
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
