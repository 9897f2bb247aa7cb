import fs from "node:fs";
import path from "node:path";
import { appendWhole, makeDir, privateFile, readIfThere, replaceFile, storageError, syncPath } from "./files.js";
import { syncFd } from "./shared-sync.js";

/** Bytes of a file that is not worth writing anew. */
const smallBytes = 4 * 1024 * 1024;

/** A file of lines that only grows, and is written anew when most of it says nothing any more. */
export interface LineLog {
  /** Hands over the lines that are there, in order. Called once, before anything is appended. */
  read(take: (line: unknown, bytes: number) => void): void;
  /** Appends a line, at once; gives its bytes. */
  append(line: unknown): number;
  /** Says that so many bytes of the file tell nothing any more. */
  waste(bytes: number): void;
  /** Everything appended before is on disk when it resolves; one `fdatasync` serves all that wait for it. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens the file, which is made by the first append. A last line that was cut short was never confirmed, and is dropped.
 *
 * @param print the lines that say what is so now
 * @throws RuntimeError `storage_unavailable`, from every member too
 */
export function openLineLog(file: string, print: () => Iterable<unknown>): LineLog {
  const dir = path.dirname(file);
  let fd: number | undefined;
  let size = 0;
  let wasted = 0;
  /** Its name is not on disk yet. */
  let isNew = false;
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  function open(): number {
    if (fd !== undefined) return fd;
    makeDir(dir);
    isNew ||= !fs.existsSync(file);
    fd = fs.openSync(file, "a", privateFile);
    size = fs.fstatSync(fd).size;
    return fd;
  }

  function rewrite(): void {
    if (fd !== undefined) fs.closeSync(fd);
    fd = undefined;
    replaceFile(file, [...print()].map((line) => `${JSON.stringify(line)}\n`).join(""));
    wasted = 0;
    isNew = true;
  }

  async function run(earlier: Promise<void> | undefined): Promise<void> {
    await earlier?.catch(() => undefined); // its own callers were told
    running = next;
    next = undefined;
    if (wasted > Math.max(smallBytes, size / 2)) rewrite();
    else if (fd !== undefined) await syncFd(fd);
    if (!isNew) return;
    isNew = false;
    await syncPath(dir);
  }

  return {
    read(take) {
      const text = guard(() => readIfThere(file));
      if (text === undefined || text === "") return;
      for (const each of text.split("\n")) {
        const line = parse(each);
        if (line !== undefined) take(line, Buffer.byteLength(each) + 1);
      }
      if (!text.endsWith("\n") || text.length > smallBytes) guard(rewrite);
    },
    append(line) {
      const bytes = Buffer.from(`${JSON.stringify(line)}\n`);
      return guard(() => {
        appendWhole(open(), bytes, size);
        size += bytes.length;
        return bytes.length;
      });
    },
    waste(bytes) {
      wasted += bytes;
    },
    sync() {
      next ??= run(running).catch((error: unknown) => {
        throw storageError(error);
      });
      return next;
    },
    async close() {
      await (next ?? running)?.catch(() => undefined); // whoever waits for it is told
      if (fd !== undefined) fs.closeSync(fd);
      fd = undefined;
    },
  };
}

function guard<T>(act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw storageError(error);
  }
}

function parse(text: string): unknown {
  if (!text.endsWith("}")) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // cut short
  }
}
