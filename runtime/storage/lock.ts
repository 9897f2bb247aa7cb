import fs from "node:fs";
import path from "node:path";
import { RuntimeError } from "../errors.js";
import { isMissing, privateFile, readIfThere } from "./files.js";

/** How long several that take a dead holder's lock may take to sort themselves out, in milliseconds. */
const settleMs = 30;

interface Holder {
  readonly pid: number;
  /** Tells a process from a later one with the same pid; absent where the system doesn't say. */
  readonly startedAt?: string;
  readonly bootId?: string;
}

/** Identity of the machine's current run; `undefined` where the system doesn't say. */
export function bootId(): string | undefined {
  return readIfThere("/proc/sys/kernel/random/boot_id")?.trim();
}

/** Start time of a process in clock ticks since boot: field 22 of its stat line, after a name that may hold anything. */
function startOf(pid: number): string | undefined {
  const stat = readIfThere(`/proc/${pid}/stat`);
  return stat?.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
}

function self(): Holder {
  const startedAt = startOf(process.pid);
  const boot = bootId();
  return {
    pid: process.pid,
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(boot === undefined ? {} : { bootId: boot }),
  };
}

/** Whether a process has ended and only waits for its parent to ask how. */
function isZombie(pid: number): boolean {
  const stat = readIfThere(`/proc/${pid}/stat`);
  const state = stat?.slice(stat.lastIndexOf(")") + 2, stat.lastIndexOf(")") + 3);
  return state === "Z" || state === "X";
}

function isAlive(holder: Holder): boolean {
  const boot = bootId();
  if (holder.bootId !== undefined && boot !== undefined && holder.bootId !== boot) return false;
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
  if (isZombie(holder.pid)) return false;
  const startedAt = startOf(holder.pid);
  return holder.startedAt === undefined || startedAt === undefined || startedAt === holder.startedAt;
}

function parseHolder(text: string): Holder | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && "pid" in value && typeof value.pid === "number"
      ? (value as Holder)
      : undefined;
  } catch {
    return undefined; // a lock cut off by a crash belongs to nobody
  }
}

/**
 * Takes the store for this process; returns how to give it back. Decision 38: one process a file store.
 *
 * @throws RuntimeError `storage_unavailable` when another process, or this one, has it.
 */
export function lockStore(dir: string): () => void {
  const lock = path.join(dir, "lock");
  const own = `${lock}.${process.pid}.${Date.now()}`;
  const text = JSON.stringify(self());
  fs.writeFileSync(own, text, { mode: privateFile });
  let isContested = false;
  try {
    for (let attempt = 0; attempt < 10; attempt += 1) {
      if (link(own, lock)) {
        if (!isContested || keepsStill(lock, text)) return () => giveBack(lock, text);
        continue;
      }
      const found = readIfThere(lock);
      if (found === undefined) continue;
      const holder = parseHolder(found);
      if (holder !== undefined && isAlive(holder)) {
        throw new RuntimeError(
          "storage_unavailable",
          `another server (pid ${holder.pid}) is using ${dir}; stop it, wait for its end with --standby, or choose another folder with --state-root`,
        );
      }
      takeAway(lock, found, own);
      isContested = true;
    }
    throw new RuntimeError("storage_unavailable", `${lock} keeps changing; several servers are starting at once`);
  } finally {
    fs.rmSync(own, { force: true });
  }
}

/** Pid of the live process that has the store of a folder; `undefined` when nobody has. */
export function storeHolder(dir: string): number | undefined {
  const text = readIfThere(path.join(dir, "lock"));
  const holder = text === undefined ? undefined : parseHolder(text);
  return holder !== undefined && isAlive(holder) ? holder.pid : undefined;
}

/** Makes `lock` exist with our contents, unless it exists already. */
function link(own: string, lock: string): boolean {
  try {
    fs.linkSync(own, lock);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  }
}

/**
 * Whether the lock is ours a moment later. Several that found the same dead holder may each have moved a lock aside,
 * ours among them: the moment is long enough for them to see it and to put it back.
 */
function keepsStill(lock: string, text: string): boolean {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, settleMs);
  return readIfThere(lock) === text;
}

/** Removes our lock; one that is not ours any more stays. */
function giveBack(lock: string, text: string): void {
  if (readIfThere(lock) === text) fs.rmSync(lock, { force: true });
}

/** Removes a dead holder's lock; a lock that someone else took meanwhile is put back. */
function takeAway(lock: string, text: string, own: string): void {
  const aside = `${own}.stale`;
  try {
    fs.renameSync(lock, aside);
  } catch (error) {
    if (isMissing(error)) return;
    throw error;
  }
  if (readIfThere(aside) !== text) link(aside, lock);
  fs.rmSync(aside, { force: true });
}
