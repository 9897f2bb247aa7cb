import fs from "node:fs";
import path from "node:path";
import type { Inbox, InboxEntry } from "../channels/contract.js";
import type { JsonValue } from "../session/event.js";
import { appendWhole, makeDir, privateFile, readIfThere, replaceFile, storageError, syncPath } from "./files.js";
import { syncFd } from "./shared-sync.js";

/** How long an id is known after it was done with, in milliseconds: longer than senders offer to send again. */
const memoryMs = 7 * 24 * 60 * 60 * 1000;
/** Most ids that are known. */
const mostIds = 100_000;
/** Bytes of a file that is not worth writing anew. */
const smallBytes = 4 * 1024 * 1024;

interface Held {
  readonly at: string;
  readonly lane?: string;
  /** Gone when it is done with. */
  payload?: JsonValue;
  /** Bytes of its line. */
  readonly bytes: number;
  isDone: boolean;
  hasBegun: boolean;
  /** Resolves when the delivery is on disk. */
  taken: Promise<void>;
}

/** One line of the file: a delivery is taken, its work begins, it is done with, or it may come again. */
type Line = { readonly channel: string; readonly id: string; readonly at: string } & (
  | { readonly is: "taken"; readonly lane?: string; readonly payload: JsonValue }
  | { readonly is: "begun" | "done" | "released" }
);

/**
 * `inbox.ndjson`: what came from outside and must not be lost once its sender was told that it arrived. One `fdatasync`
 * serves all that were taken before it began. That a delivery is done is not synced: after a crash of the machine it may
 * be handed over again.
 */
export function openInbox(dir: string, now: () => number): Inbox {
  const file = path.join(dir, "inbox.ndjson");
  const held = new Map<string, Held>();
  const onDisk = Promise.resolve();
  let fd: number | undefined;
  let size = 0;
  /** Bytes that a new file would do without. */
  let waste = 0;
  /** Its name is not on disk yet. */
  let isNew = !fs.existsSync(file);
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  const keyOf = (channel: string, id: string) => `${channel} ${id}`;

  function apply(line: Line, bytes: number, taken: Promise<void>): void {
    const key = keyOf(line.channel, line.id);
    if (line.is === "taken") {
      const { at, lane, payload } = line;
      held.set(key, { at, ...(lane !== undefined && { lane }), payload, bytes, isDone: false, hasBegun: false, taken });
      return;
    }
    const entry = held.get(key);
    if (entry === undefined) return;
    if (line.is === "begun") {
      entry.hasBegun = true;
      return;
    }
    if (entry.payload !== undefined) waste += entry.bytes;
    if (line.is === "released") held.delete(key);
    entry.isDone = true;
    delete entry.payload;
  }

  function load(): void {
    const text = readIfThere(file) ?? "";
    for (const each of text.split("\n")) {
      const line = parseLine(each);
      if (line !== undefined) apply(line, each.length, onDisk);
    }
    if (text === "") return;
    forgetOld();
    const live = print();
    if (Buffer.byteLength(text) > Math.max(smallBytes, 2 * live.length) || !text.endsWith("\n")) {
      replaceFile(file, live);
    }
  }

  function forgetOld(): void {
    const oldest = new Date(now() - memoryMs).toISOString();
    let extra = held.size - mostIds;
    for (const [key, { at, isDone }] of held) {
      if (!isDone || (at >= oldest && extra <= 0)) continue;
      held.delete(key);
      extra -= 1;
    }
  }

  function print(): Buffer {
    const lines: string[] = [];
    for (const [key, { at, lane, payload, isDone, hasBegun }] of held) {
      const space = key.indexOf(" ");
      const same = { channel: key.slice(0, space), id: key.slice(space + 1), at };
      const taken = { ...same, is: "taken", ...(lane !== undefined && { lane }), payload: payload ?? null };
      lines.push(JSON.stringify(taken));
      if (hasBegun) lines.push(JSON.stringify({ ...same, is: "begun" }));
      if (isDone) lines.push(JSON.stringify({ ...same, is: "done" }));
    }
    return Buffer.from(lines.map((line) => `${line}\n`).join(""));
  }

  /** Appends a line; gives its bytes. */
  function write(line: Line): number {
    try {
      if (fd === undefined) {
        makeDir(dir);
        fd = fs.openSync(file, "a", privateFile);
        size = fs.fstatSync(fd).size;
      }
      const bytes = Buffer.from(`${JSON.stringify(line)}\n`);
      appendWhole(fd, bytes, size);
      size += bytes.length;
      return bytes.length;
    } catch (error) {
      throw storageError(error);
    }
  }

  async function run(earlier: Promise<void> | undefined): Promise<void> {
    await earlier?.catch(() => undefined); // its own callers were told
    running = next;
    next = undefined;
    if (waste > Math.max(smallBytes, size / 2)) compact();
    else if (fd !== undefined) await syncFd(fd);
    if (isNew) await syncPath(dir);
    isNew = false;
  }

  /** Everything written so far is on disk when it resolves. */
  function sync(): Promise<void> {
    next ??= run(running).catch((error: unknown) => {
      throw storageError(error);
    });
    return next;
  }

  function compact(): void {
    forgetOld();
    if (fd !== undefined) fs.closeSync(fd);
    fd = undefined;
    const live = print();
    replaceFile(file, live);
    size = live.length;
    isNew = true;
    waste = 0;
  }

  load();
  return {
    async take(channel, id, payload, lane) {
      const known = held.get(keyOf(channel, id));
      if (known !== undefined) {
        await known.taken;
        return false;
      }
      const at = new Date(now()).toISOString();
      const line: Line = { is: "taken", channel, id, at, ...(lane !== undefined && { lane }), payload };
      const bytes = write(line);
      const taken = sync();
      apply(line, bytes, taken);
      try {
        await taken;
      } catch (error) {
        held.delete(keyOf(channel, id));
        throw error;
      }
      return true;
    },

    async begin(channel, id) {
      const line: Line = { is: "begun", channel, id, at: new Date(now()).toISOString() };
      apply(line, write(line), onDisk);
      await sync();
    },

    settle(channel, id, how) {
      const line: Line = { is: how, channel, id, at: new Date(now()).toISOString() };
      apply(line, write(line), onDisk);
    },

    pending(channel) {
      return [...held].flatMap(([key, { at, lane, payload, isDone, hasBegun }]): InboxEntry[] => {
        if (isDone || payload === undefined || !key.startsWith(`${channel} `)) return [];
        return [{ id: key.slice(channel.length + 1), at, payload, hasBegun, ...(lane !== undefined && { lane }) }];
      });
    },

    async close() {
      await (next ?? running)?.catch(() => undefined); // whoever waits for it is told
      if (fd !== undefined) fs.closeSync(fd);
      fd = undefined;
    },
  };
}

/** `undefined` for a line that was cut short: its sender was never told that it arrived. */
function parseLine(text: string): Line | undefined {
  if (!text.endsWith("}")) return undefined;
  try {
    const line = JSON.parse(text) as Partial<Line>;
    return typeof line.channel === "string" && typeof line.id === "string" ? (line as Line) : undefined;
  } catch {
    return undefined; // cut short
  }
}
