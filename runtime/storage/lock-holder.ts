/** Who holds a lock, and whether that one lives. */
import fs from "node:fs";
import { hostname } from "node:os";
import { performance } from "node:perf_hooks";
import { isMissing, readIfThere } from "./files.js";

/** How often a holder touches its lock, and after how long without a touch one of another machine counts as gone, in milliseconds. */
export const beatMs = 1_000;
const silenceMs = 6 * beatMs;

export interface Holder {
  readonly pid: number;
  /** Tells a process from a later one with the same pid; absent where the system doesn't say. */
  readonly startedAt?: string;
  readonly bootId?: string;
  /** Name of the machine or container; absent in locks of earlier versions. */
  readonly host?: string;
  /** Process namespace: only within it do pids mean the same. */
  readonly space?: string;
}

/** `unknown`: a process that can't be asked for, whose lock has not been watched for long enough. */
export type Verdict = "alive" | "dead" | "unknown";

/** Identity of the machine's current run; `undefined` where the system doesn't say. */
export function bootId(): string | undefined {
  return readIfThere("/proc/sys/kernel/random/boot_id")?.trim();
}

function processSpace(): string | undefined {
  try {
    return fs.readlinkSync("/proc/self/ns/pid");
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Start time of a process in clock ticks since boot: field 22 of its stat line, after a name that may hold anything. */
function startOf(pid: number): string | undefined {
  const stat = readIfThere(`/proc/${pid}/stat`);
  return stat?.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
}

export function self(): Holder {
  const startedAt = startOf(process.pid);
  const boot = bootId();
  const space = processSpace();
  return {
    pid: process.pid,
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(boot === undefined ? {} : { bootId: boot }),
    host: hostname(),
    ...(space === undefined ? {} : { space }),
  };
}

export function parseHolder(text: string): Holder | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && "pid" in value && typeof value.pid === "number"
      ? (value as Holder)
      : undefined;
  } catch {
    return undefined; // a lock cut off by a crash belongs to nobody
  }
}

/** Whether the holder of a lock that reads `text` lives. Ask again, a few times a second, while that is unknown. */
export function judge(lock: string, text: string): Verdict {
  const holder = parseHolder(text);
  if (holder === undefined) return "dead";
  if (isNear(holder)) return isAlive(holder) ? "alive" : "dead";
  return watch(lock, text);
}

/** Whether pids tell anything of a holder. A lock of an earlier version says nothing of where it is: then they must. */
function isNear({ host, space, bootId: boot }: Holder): boolean {
  return host === undefined || (host === hostname() && space === processSpace() && boot === bootId());
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

/** Whether a process has ended and only waits for its parent to ask how. */
function isZombie(pid: number): boolean {
  const stat = readIfThere(`/proc/${pid}/stat`);
  const state = stat?.slice(stat.lastIndexOf(")") + 2, stat.lastIndexOf(")") + 3);
  return state === "Z" || state === "X";
}

/** What was seen of locks elsewhere. Only changes count, and our own clock: those of two machines need not agree. */
const seen = new Map<string, { readonly text: string; touchedAt: number; since: number; beats: boolean }>();

function watch(lock: string, text: string): Verdict {
  const touchedAt = fs.statSync(lock, { throwIfNoEntry: false })?.mtimeMs;
  if (touchedAt === undefined) return "unknown"; // gone this very moment: whoever asks finds no lock next time
  const now = performance.now();
  const known = seen.get(lock);
  if (known?.text !== text) {
    seen.set(lock, { text, touchedAt, since: now, beats: false });
    return "unknown";
  }
  if (known.touchedAt !== touchedAt) Object.assign(known, { touchedAt, since: now, beats: true });
  if (now - known.since > silenceMs) return "dead";
  return known.beats ? "alive" : "unknown";
}
