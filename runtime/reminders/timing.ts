/** When reminders fire. Pure. */
import { everFires, next, parseCron } from "../schedules/cron.js";
import { isInstant } from "../session/as-of.js";
import type { StoredReminder } from "./contract.js";

const units: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** Shortest interval of a recurring reminder, in milliseconds. */
const shortestMs = 1_000;

/** Longest wait, in milliseconds: ten years. What is longer is a mistake of units. */
const longestMs = 3_660 * 86_400_000;

/** The first firing, and what is needed for the next ones. */
export type Timing = Pick<StoredReminder, "nextAt" | "every" | "cron">;

/** What can't be read as a time; the message says why. */
export class TimingError extends Error {
  override readonly name = "TimingError";
}

/**
 * A duration in milliseconds.
 *
 * @example parseDuration("1h30m") // 5_400_000
 * @returns `undefined` for what is no duration
 */
export function parseDuration(value: unknown): number | undefined {
  if (typeof value === "number") return Number.isFinite(value) && value >= 0 ? value : undefined;
  if (typeof value !== "string") return undefined;
  const text = value.replaceAll(/\s+/g, "");
  if (!/^(?:\d+(?:\.\d+)?(?:ms|[smhdw]))+$/.test(text)) return undefined;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|[smhdw])/g)) {
    total += Number(amount) * (units[unit ?? ""] ?? Number.NaN);
  }
  return total;
}

/**
 * Reads `delay`, `at`, `every` or `cron`, exactly one of which is given.
 *
 * @param now milliseconds since the epoch
 * @throws TimingError
 */
export function readTiming(given: Readonly<Record<string, unknown>>, now: number): Timing {
  const named = ["delay", "at", "every", "cron"].filter((name) => given[name] !== undefined && given[name] !== null);
  const [name] = named;
  if (name === undefined || named.length > 1) {
    const found = named.length === 0 ? "none is given" : `${named.join(" and ")} are given`;
    throw new TimingError(`a reminder has exactly one of delay, at, every and cron; ${found}`);
  }
  switch (name) {
    case "delay":
      return { nextAt: toIso(now + readDuration("delay", given.delay)) };
    case "every": {
      const every = readDuration("every", given.every);
      if (every < shortestMs) throw new TimingError("every is at least one second");
      return { nextAt: toIso(now + every), every };
    }
    case "at":
      return { nextAt: readInstant(given.at, now) };
    default:
      return readCron(given.cron, now);
  }
}

/** When a recurring reminder fires next, in its own rhythm; `undefined` for one that fires once. */
export function following({ nextAt, every, cron }: Timing, now: number): string | undefined {
  const due = Date.parse(nextAt);
  if (due > now) return every === undefined && cron === undefined ? undefined : nextAt;
  if (every !== undefined) return toIso(due + (Math.floor((now - due) / every) + 1) * every);
  if (cron !== undefined) return next(cron, new Date(now))?.toISOString();
  return undefined;
}

function readDuration(name: string, value: unknown): number {
  const duration = parseDuration(value);
  if (duration === undefined) {
    throw new TimingError(`${name} is a duration such as "90s", "2h" or "1d12h", or milliseconds; not ${shown(value)}`);
  }
  if (duration > longestMs) throw new TimingError(`${name} is longer than ten years`);
  return duration;
}

/** An instant with its time zone: what is local time here may be another there. */
function readInstant(value: unknown, now: number): string {
  const instant = value instanceof Date ? value.getTime() : parseInstant(value);
  if (Number.isNaN(instant)) {
    throw new TimingError(
      `at is a Date, or an ISO-8601 instant with a time zone such as 2026-03-01T09:00:00Z; not ${shown(value)}`,
    );
  }
  if (instant - now > longestMs) throw new TimingError("at is more than ten years away");
  return toIso(instant);
}

function parseInstant(value: unknown): number {
  return typeof value === "string" && isInstant(value) ? Date.parse(value) : Number.NaN;
}

function readCron(value: unknown, now: number): Timing {
  if (typeof value !== "string") throw new TimingError(`cron is a text of five fields; not ${shown(value)}`);
  const parsed = parseCron(value);
  if (!parsed.ok) throw new TimingError(`cron "${value}": ${parsed.reason}`);
  const first = everFires(parsed.cron) ? next(parsed.cron, new Date(now)) : undefined;
  if (first === undefined) throw new TimingError(`cron "${value}" never fires`);
  return { nextAt: first.toISOString(), cron: value };
}

function toIso(instant: number): string {
  return new Date(instant).toISOString();
}

function shown(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value) : value instanceof Date ? "an invalid Date" : String(value);
}
