import { createHash } from "node:crypto";
import { next } from "./cron.js";

/** What was missed longer ago than this, in milliseconds, is not made up for. */
export const catchUpMs = 60 * 60 * 1000;

/** The last tick in `(from, now]`, no older than an hour; `undefined` when there is none. Milliseconds. */
export function lastDue(cron: string, from: number, now: number): number | undefined {
  let due: number | undefined;
  let at = next(cron, new Date(Math.max(from, now - catchUpMs)));
  while (at !== undefined && at.getTime() <= now) {
    due = at.getTime();
    at = next(cron, at);
  }
  return due;
}

/**
 * Up to when a schedule has been looked at, in milliseconds. A clock that was set back a little repeats no tick; one that
 * was set back further than an hour had been wrong, and what it showed counts for nothing.
 */
export function seenUpTo(before: number | undefined, now: number): number {
  return before !== undefined && before > now && before - now <= catchUpMs ? before : now;
}

const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** The id of a tick's session: the same for the same tick, and sorted by its time as all session ids are. */
export function tickSessionId(scheduleId: string, tick: number): string {
  let time = "";
  for (let rest = tick; time.length < 10; rest = Math.floor(rest / 32)) time = alphabet[rest % 32] + time;
  const digest = createHash("sha256")
    .update(`${scheduleId} ${new Date(tick).toISOString()}`)
    .digest();
  return `ses_${time}${[...digest.subarray(0, 16)].map((byte) => alphabet[byte & 31]).join("")}`;
}
