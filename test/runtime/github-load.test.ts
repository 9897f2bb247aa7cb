/** Many webhooks at once while streams are open: each is acknowledged, none is lost, none is answered twice. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { channelSource, environmentOf, startRecorder, storm } from "../bench/webhook-storm.mjs";
import { emitProject } from "./support/emitted.js";

test("100 webhooks in a second, 20 streams open, on server.mjs alone", { timeout: 90_000 }, async () => {
  const bot = await emitProject({ "bot/channels/github.ts": channelSource });
  const recorder = await startRecorder();
  const empty = mkdtempSync(join(tmpdir(), "bdk-empty-"));
  try {
    const url = await bot.start({ ...environmentOf(recorder), HOME: empty });
    const { refused, times, events } = await storm(url, { count: 100, ms: 1_000, streams: 20 });
    expect(refused).toEqual([]);
    expect(times).toHaveLength(100);
    expect(events.every((lines) => lines > 0)).toBe(true);
    await recorder.reached(100, 60_000);
    expect(recorder.comments.size).toBe(100);
    expect([...recorder.comments.values()].every((count) => count === 1)).toBe(true);
    await bot.kill();
  } finally {
    recorder.close();
    rmSync(empty, { recursive: true, force: true });
  }
});
