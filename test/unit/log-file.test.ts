import { mkdtempSync, readFileSync, rmSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { SessionEvent } from "../../runtime/session/event.js";
import { LogFile } from "../../runtime/storage/log-file.js";
import { Positions, readLines } from "../../runtime/storage/log-reader.js";

function eventAt(index: number, text: string): SessionEvent {
  const isFlushed = text.length % 2 === 0;
  const head = { index, sessionId: "ses_1", turnId: "turn_1", at: "2026-01-01T00:00:00.000Z" };
  return isFlushed
    ? { ...head, type: "message.received", data: { text } }
    : { ...head, type: "message.appended", data: { delta: text, messageId: "m" } };
}

async function collect(file: LogFile, startIndex: number): Promise<string[]> {
  const lines: string[] = [];
  for await (const batch of readLines(file, new Positions(), startIndex)) lines.push(...batch);
  return lines;
}

const texts = fc.array(fc.array(fc.string({ unit: "grapheme", maxLength: 40 }), { minLength: 1, maxLength: 4 }), {
  minLength: 1,
  maxLength: 20,
});

test("what was appended is what is read, live, from every index, and from a file cut at any byte", async () => {
  const dir = mkdtempSync(join(tmpdir(), "bdk-log-"));
  let files = 0;
  try {
    await fc.assert(
      fc.asyncProperty(texts, fc.nat(), fc.double({ min: 0, max: 1, noNaN: true }), async (batches, start, cut) => {
        const path = join(dir, `${files++}.ndjson`);
        const file = await LogFile.create(path);
        const stop = new AbortController();
        const followed: string[] = [];
        const following = (async () => {
          const live = { signal: stop.signal, hasEnded: () => false };
          for await (const lines of readLines(file, new Positions(), 0, live)) followed.push(...lines);
        })();
        const expected: string[] = [];
        const written = batches.map((batch) => {
          const events = batch.map((text, at) => eventAt(expected.length + at, text));
          expected.push(...events.map((event) => JSON.stringify(event)));
          return file.append(events);
        });
        await Promise.all(written);
        expect(readFileSync(path, "utf8")).toBe(expected.map((line) => `${line}\n`).join(""));
        const from = start % (expected.length + 1);
        expect(await collect(file, from)).toEqual(expected.slice(from));
        file.end();
        await following;
        expect(followed).toEqual(expected);
        await file.close();

        const size = Math.floor(Buffer.byteLength(readFileSync(path)) * cut);
        truncateSync(path, size);
        const warnings: string[] = [];
        const again = LogFile.open(path, (message) => warnings.push(message));
        if (again === undefined) throw new Error("the file is gone");
        const kept = await collect(again, 0);
        expect(kept).toEqual(expected.slice(0, kept.length));
        expect(again.nextIndex).toBe(kept.length);
        const whole = kept.reduce((bytes, line) => bytes + Buffer.byteLength(line) + 1, 0);
        expect(warnings.length).toBe(whole === size ? 0 : 1);
        await again.append([eventAt(again.nextIndex, "more")]);
        expect((await collect(again, 0)).length).toBe(kept.length + 1);
        await again.close();
      }),
      { numRuns: 60 },
    );
  } finally {
    rmSync(dir, { recursive: true });
  }
});

test("nothing is visible before its sync: an event that must be flushed is not read until append resolves", async () => {
  const dir = mkdtempSync(join(tmpdir(), "bdk-log-"));
  try {
    const file = await LogFile.create(join(dir, "log.ndjson"));
    const flushed = file.append([eventAt(0, "ab")]);
    const after = file.append([eventAt(1, "a")]);
    expect(await collect(file, 0)).toEqual([]);
    await flushed;
    expect((await collect(file, 0)).length).toBeGreaterThanOrEqual(1);
    await after;
    expect(await collect(file, 0)).toHaveLength(2);
    await file.close();
  } finally {
    rmSync(dir, { recursive: true });
  }
});
