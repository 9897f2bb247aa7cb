/** Hundreds of reminders that come due together. */
import { expect, test } from "vitest";
import { converse, heard, openReminders as open, target } from "./support/reminders.js";

test("of many that are due at once each is sent once; those cancelled or fired by hand meanwhile are not sent as well", async () => {
  const opened = await open("2026-03-02T09:00:00Z");
  const sessionId = await converse(opened);
  const names = Array.from({ length: 400 }, (_, at) => `prompt ${at}`);
  const made = await Promise.all(names.map((prompt) => opened.api.create({ ...target, delay: "1h", prompt })));
  const rhythm = await opened.api.create({ ...target, every: "1h", prompt: "again" });
  const last = made.at(-1);
  if (last === undefined) throw new Error("none was made");
  opened.clock.moveTo("2026-03-02T10:00:00Z");
  const byHand = opened.sessions.reminders.dispatch(rhythm.id);
  expect(await opened.api.cancel(last.id)).toBe(true);
  expect(await byHand).toMatchObject({ action: "delivered" });
  await expect.poll(() => opened.api.list()).toMatchObject([{ id: rhythm.id, nextAt: "2026-03-02T11:00:00.000Z" }]);
  expect((await heard(opened, sessionId)).sort()).toEqual(["again", ...names.slice(0, -1)].sort());
  await opened.sessions.close();
});
