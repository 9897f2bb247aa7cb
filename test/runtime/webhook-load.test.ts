/** Many webhooks at once while streams are open: each is acknowledged, none is lost, none is answered twice. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { channelSources, environmentOf, startRecorder, storm } from "../bench/webhook-storm.mjs";
import { type Emitted, emitProject } from "./support/emitted.js";

const empty = mkdtempSync(join(tmpdir(), "bdk-empty-"));
let bot: Emitted;
let url = "";
let recorder: Awaited<ReturnType<typeof startRecorder>>;

beforeAll(async () => {
  bot = await emitProject(channelSources);
  recorder = await startRecorder();
  url = await bot.start({ ...environmentOf(recorder), HOME: empty });
}, 90_000);

afterAll(async () => {
  await bot.kill();
  recorder.close();
  rmSync(empty, { recursive: true, force: true });
});

test.each(["github", "slack", "billing"] as const)(
  "100 webhooks of %s in a second, 20 streams open, on server.mjs alone",
  { timeout: 90_000 },
  async (channel) => {
    recorder.forget();
    const { refused, times, events } = await storm(url, channel, { count: 100, ms: 1_000, streams: 20 });
    expect(refused).toEqual([]);
    expect(times).toHaveLength(100);
    expect(events.every((lines) => lines > 0)).toBe(true);
    await recorder.reached(100, 60_000);
    expect(recorder.replies().size).toBe(100);
    expect([...recorder.replies().values()].every((count) => count === 1)).toBe(true);
  },
);
