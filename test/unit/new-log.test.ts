import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { SessionEvent } from "../../runtime/session/event.js";
import { LogFile } from "../../runtime/storage/log-file.js";
import { NewLog } from "../../runtime/storage/new-log.js";

test("what was appended while a session is being made is told in its order, whichever of its files is ready first", async () => {
  const folder = mkdtempSync(join(tmpdir(), "bdk-log-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = await LogFile.create(join(folder, "log.ndjson"));
  let finish: () => void = () => undefined;
  const made = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const log = new NewLog(Promise.resolve(file), made);
  const told: number[] = [];
  const append = (index: number) => {
    const event = { type: "session.waiting", index, sessionId: "ses_1", at: "", data: {} } as SessionEvent;
    return log.append([event]).then(() => told.push(index));
  };
  const first = append(0);
  await Promise.resolve();
  const rest = [append(1), append(2)];
  await file.finish();
  expect(told).toEqual([]);
  finish();
  await made;
  const last = append(3);
  await Promise.all([first, ...rest, last]);
  expect(told).toEqual([0, 1, 2, 3]);
  await file.close();
});
