import fs from "node:fs";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { RuntimeError } from "../errors.js";
import { isMissing, privateFile, readIfThere } from "./files.js";
import { beatMs, judge, parseHolder, self } from "./lock-holder.js";

/** How long several that take a dead holder's lock may take to sort themselves out, in milliseconds. */
const settleMs = 30;
/** How often a lock elsewhere is looked at while it isn't known whether its holder lives, in milliseconds. */
const lookMs = 250;

/** The lock is another's; `isKnown` once it is known that that one lives. */
interface Taken {
  readonly refusal: RuntimeError;
  readonly isKnown: boolean;
}

/**
 * Takes the store for this process; returns how to give it back. Decision 38: one process a file store.
 *
 * @throws RuntimeError `storage_unavailable` when another process, or this one, has it, or may have it.
 */
export function lockStore(dir: string, onLost?: () => void): () => void {
  const taken = tryLock(dir, onLost);
  if (typeof taken === "function") return taken;
  throw taken.refusal;
}

/**
 * As `lockStore`; a lock of another machine or container, whose process can't be asked for, is watched for some seconds.
 *
 * @param onLost called once, when another process has taken the store all the same
 */
export async function takeStore(dir: string, warn: (message: string) => void, onLost: () => void): Promise<() => void> {
  for (let isTold = false; ; isTold = true) {
    const taken = tryLock(dir, onLost);
    if (typeof taken === "function") return taken;
    if (taken.isKnown) throw taken.refusal;
    if (!isTold) warn(`${taken.refusal.message}: its process can't be seen from here; watching whether it lives`);
    await wait(lookMs);
  }
}

function tryLock(dir: string, onLost: (() => void) | undefined): (() => void) | Taken {
  const lock = path.join(dir, "lock");
  const own = `${lock}.${process.pid}.${Date.now()}`;
  const text = JSON.stringify(self());
  fs.writeFileSync(own, text, { mode: privateFile });
  let isContested = false;
  try {
    for (let attempt = 0; attempt < 10; attempt += 1) {
      if (link(own, lock)) {
        if (!isContested || keepsStill(lock, text)) return keep(lock, text, onLost);
        continue;
      }
      const found = readIfThere(lock);
      if (found === undefined) continue;
      const verdict = judge(lock, found);
      if (verdict !== "dead") return { refusal: refuse(dir, found), isKnown: verdict === "alive" };
      takeAway(lock, found, own);
      isContested = true;
    }
    throw new RuntimeError("storage_unavailable", `${lock} keeps changing; several servers are starting at once`);
  } finally {
    fs.rmSync(own, { force: true });
  }
}

function refuse(dir: string, text: string): RuntimeError {
  const { pid, host } = parseHolder(text) ?? {};
  const where = host === undefined || host === self().host ? "" : ` on ${host}`;
  return new RuntimeError(
    "storage_unavailable",
    `another server (pid ${pid}${where}) is using ${dir}; stop it, wait for its end with --standby, or choose another folder with --state-root`,
  );
}

/** Pid of the process that has the store of a folder, as far as one can tell; `undefined` when nobody has. */
export function storeHolder(dir: string): number | undefined {
  const lock = path.join(dir, "lock");
  const text = readIfThere(lock);
  return text === undefined || judge(lock, text) === "dead" ? undefined : parseHolder(text)?.pid;
}

/** Touches the lock while it is held, for those who can't ask for our process; returns how to give it back. */
function keep(lock: string, text: string, onLost: (() => void) | undefined): () => void {
  const timer = setInterval(() => {
    if (beat(lock, text)) return;
    clearInterval(timer);
    onLost?.();
  }, beatMs).unref();
  return () => {
    clearInterval(timer);
    if (readIfThere(lock) === text) fs.rmSync(lock, { force: true });
  };
}

/** False when the lock is another's. One that is nobody's, because somebody removed the file, is taken again. */
function beat(lock: string, text: string): boolean {
  try {
    const found = readIfThere(lock);
    if (found === undefined) fs.writeFileSync(lock, text, { mode: privateFile, flag: "wx" });
    else if (found !== text) return false;
    else fs.utimesSync(lock, new Date(), new Date());
    return true;
  } catch {
    return true; // a disk that refuses says nothing of whose the lock is: the next beat may be luckier
  }
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
