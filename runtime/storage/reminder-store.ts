import fs from "node:fs";
import path from "node:path";
import type { ReminderStore, StoredReminder } from "../reminders/contract.js";
import type { Log } from "../session/ports.js";
import { appendWhole, guardStorage, privateFile, readIfThere, replaceFile, storageError, syncPath } from "./files.js";
import { createSharedSync, type SharedSync } from "./shared-sync.js";

/** Lines beyond the live ones before the file is written anew. */
const slack = 500;

type Line = { readonly put: StoredReminder } | { readonly gone: string };

const fileIn = (dir: string) => path.join(dir, "reminders.ndjson");

/** Whether reminders were ever made here. */
export function hasReminders(dir: string): boolean {
  return fs.existsSync(fileIn(dir));
}

/** `reminders.ndjson`: a line for each reminder that is set or changed, and for each that is gone. Synced, in groups. */
export function openReminderStore(dir: string, log: Log): ReminderStore {
  const file = fileIn(dir);
  const live = new Map<string, StoredReminder>();
  const text = guardStorage(() => readIfThere(file));
  let opened: { readonly fd: number; readonly sync: SharedSync; size: number } | undefined;
  let lines = 0;
  /** Writes that are not on disk yet: while there are any, the file stays open. */
  let pending = 0;
  let isClosing = false;

  for (const [at, each] of (text ?? "").split("\n").entries()) {
    if (each === "") continue;
    const line = parseLine(each);
    if (line === undefined) {
      log("warn", `reminders.ndjson: line ${at + 1} was cut short by a crash and is passed over`);
      continue;
    }
    if ("put" in line) live.set(line.put.id, line.put);
    else live.delete(line.gone);
    lines += 1;
  }

  function open() {
    if (opened === undefined) {
      const fd = fs.openSync(file, "a", privateFile);
      opened = { fd, sync: createSharedSync([file]), size: fs.fstatSync(fd).size };
      // A line that was cut short must not swallow the next one.
      if (opened.size > 0 && text?.endsWith("\n") === false) append(opened, "\n");
    }
    return opened;
  }

  function append(to: { readonly fd: number; size: number }, written: string): void {
    const bytes = Buffer.from(written);
    appendWhole(to.fd, bytes, to.size);
    to.size += bytes.length;
  }

  async function write(line: Line): Promise<void> {
    pending += 1;
    try {
      const isNew = opened === undefined && text === undefined;
      const to = open();
      append(to, `${JSON.stringify(line)}\n`);
      lines += 1;
      await to.sync.sync();
      if (isNew) await syncPath(dir);
    } catch (error) {
      throw storageError(error);
    } finally {
      pending -= 1;
      if (pending === 0) tidy();
    }
  }

  function tidy(): void {
    if (isClosing) close();
    else if (lines > live.size * 2 + slack) compact();
  }

  /** A store that can't be made smaller works all the same. */
  function compact(): void {
    try {
      replaceFile(file, [...live.values()].map((put) => `${JSON.stringify({ put })}\n`).join(""));
      close();
      lines = live.size;
    } catch (error) {
      log("warn", `reminders.ndjson could not be written anew: ${storageError(error).message}`);
    }
  }

  function close(): void {
    if (opened === undefined) return;
    fs.closeSync(opened.fd);
    opened.sync.close();
    opened = undefined;
  }

  return {
    all: () => live.values(),
    async put(reminder) {
      const before = live.get(reminder.id);
      live.set(reminder.id, reminder);
      await write({ put: reminder }).catch((error: unknown) => {
        if (before === undefined) live.delete(reminder.id);
        throw error;
      });
    },
    async remove(id) {
      if (live.delete(id)) await write({ gone: id });
    },
    close() {
      isClosing = true;
      if (pending === 0) close();
    },
  };
}

function parseLine(text: string): Line | undefined {
  try {
    const line = JSON.parse(text) as { readonly put?: Partial<StoredReminder>; readonly gone?: unknown };
    const { put, gone } = line;
    if (typeof gone === "string") return { gone };
    const isWhole = typeof put?.id === "string" && typeof put.sessionId === "string" && typeof put.nextAt === "string";
    return isWhole ? { put: put as StoredReminder } : undefined;
  } catch {
    return undefined; // cut short
  }
}
