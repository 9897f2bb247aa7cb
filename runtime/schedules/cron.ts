/**
 * Cron expressions: the five fields of vixie cron, strictly, in UTC. Pure: shared by the compiler, which checks
 * expressions, and the scheduler, which waits for them. Source of the rules: decision 26, `schedules.md`.
 *
 * Not taken, on purpose: `L W # ? @`, a sixth field, ranges that wrap around, names longer than three letters.
 */

/** A parsed expression: for each field, which values fire. */
export interface Cron {
  readonly minutes: ReadonlySet<number>;
  readonly hours: ReadonlySet<number>;
  /** Days of the month, 1 to 31. */
  readonly days: ReadonlySet<number>;
  /** 1 to 12. */
  readonly months: ReadonlySet<number>;
  /** 0 (Sunday) to 6. */
  readonly weekdays: ReadonlySet<number>;
  /**
   * True when both day fields are restricted: then a day fires that either allows. A field that starts with `*` counts
   * as unrestricted, even with a step; otherwise both must allow the day.
   */
  readonly eitherDay: boolean;
}

/** An expression parsed, or the reason why it can't be. */
export type CronParse = { readonly ok: true; readonly cron: Cron } | { readonly ok: false; readonly reason: string };

interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly words?: readonly string[];
}

const fields = [
  { name: "minute", min: 0, max: 59 },
  { name: "hour", min: 0, max: 23 },
  { name: "day of month", min: 1, max: 31 },
  {
    name: "month",
    min: 1,
    max: 12,
    words: ["", "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
  },
  { name: "day of week", min: 0, max: 7, words: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"] },
] as const satisfies readonly Field[];

/**
 * Parses an expression.
 *
 * @example parseCron("0 9 * * 1-5") // { ok: true, cron: … }
 * @example parseCron("60 * * * *")  // { ok: false, reason: "minute 60 is outside 0-59" }
 */
export function parseCron(expression: string): CronParse {
  const texts = expression.split(/[ \t]+/).filter((text) => text !== "");
  const [minute, hour, day, month, weekday] = texts;
  if (
    texts.length !== fields.length ||
    minute === undefined ||
    hour === undefined ||
    day === undefined ||
    month === undefined ||
    weekday === undefined
  ) {
    return { ok: false, reason: `it has ${texts.length} ${texts.length === 1 ? "field" : "fields"}, not 5` };
  }
  try {
    const weekdays = parseField(fields[4], weekday);
    return {
      ok: true,
      cron: {
        minutes: parseField(fields[0], minute),
        hours: parseField(fields[1], hour),
        days: parseField(fields[2], day),
        months: parseField(fields[3], month),
        weekdays: new Set([...weekdays].map((each) => each % 7)),
        eitherDay: !day.startsWith("*") && !weekday.startsWith("*"),
      },
    };
  } catch (error) {
    if (error instanceof FieldError) return { ok: false, reason: error.message };
    throw error;
  }
}

/** False when no date will ever match, such as 30 February. */
export function everFires(cron: Cron): boolean {
  if (cron.eitherDay) return true;
  return [...cron.months].some((month) => [...cron.days].some((day) => day <= longest(month)));
}

/**
 * The first minute strictly after the instant at which the expression fires, in UTC; undefined when it never does or
 * can't be parsed.
 *
 * @example next("0 9 * * 1-5", new Date("2026-11-30T08:00:30Z")) // 2026-11-30T09:00Z
 */
export function next(expression: string | Cron, after: Date): Date | undefined {
  const parsed = typeof expression === "string" ? parseCron(expression) : { ok: true as const, cron: expression };
  if (!parsed.ok || !everFires(parsed.cron)) return undefined;
  const { cron } = parsed;
  const start = new Date(Math.floor(after.getTime() / 60_000) * 60_000 + 60_000);
  const day = new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth(), start.getUTCDate()));
  let earliest = start.getUTCHours() * 60 + start.getUTCMinutes();
  // The calendar repeats after 400 years, and something fires in each such span.
  for (const end = day.getUTCFullYear() + 401; day.getUTCFullYear() < end; earliest = 0) {
    if (!cron.months.has(day.getUTCMonth() + 1)) {
      day.setUTCMonth(day.getUTCMonth() + 1, 1);
      continue;
    }
    if (dayFires(cron, day)) {
      const minute = firstMinute(cron, earliest);
      if (minute !== undefined) return new Date(day.getTime() + minute * 60_000);
    }
    day.setUTCDate(day.getUTCDate() + 1);
  }
  return undefined;
}

function dayFires(cron: Cron, day: Date): boolean {
  const ofMonth = cron.days.has(day.getUTCDate());
  const ofWeek = cron.weekdays.has(day.getUTCDay());
  return cron.eitherDay ? ofMonth || ofWeek : ofMonth && ofWeek;
}

/** The first minute of the day, counted from midnight, at or after `earliest`. */
function firstMinute(cron: Cron, earliest: number): number | undefined {
  for (let minute = earliest; minute < 24 * 60; minute++) {
    const hour = Math.floor(minute / 60);
    if (!cron.hours.has(hour)) minute = hour * 60 + 59;
    else if (cron.minutes.has(minute % 60)) return minute;
  }
  return undefined;
}

function longest(month: number): number {
  return month === 2 ? 29 : [4, 6, 9, 11].includes(month) ? 30 : 31;
}

class FieldError extends Error {}

/** A comma-separated list of `*`, values and ranges; `*` and ranges may have a step. */
function parseField(field: Field, text: string): ReadonlySet<number> {
  const values = new Set<number>();
  for (const item of text.split(",")) {
    const match = /^(?:(\*)|([A-Za-z0-9]+)(?:-([A-Za-z0-9]+))?)(?:\/(\d+))?$/.exec(item);
    const [, star, first, last, step] = match ?? [];
    if (match === null || (step !== undefined && star === undefined && last === undefined)) {
      throw new FieldError(`${field.name} "${item}" is not a value, a range or a step over one`);
    }
    const from = star === undefined ? parseValue(field, first ?? "") : field.min;
    const to = star !== undefined ? field.max : last === undefined ? from : parseValue(field, last);
    const stride = step === undefined ? 1 : Number(step);
    if (from > to) throw new FieldError(`${field.name} range ${item} runs backwards`);
    if (stride < 1) throw new FieldError(`${field.name} step of ${item} is zero`);
    for (let value = from; value <= to; value += stride) values.add(value);
  }
  return values;
}

function parseValue(field: Field, text: string): number {
  const word = (field.words ?? []).indexOf(text.toLowerCase());
  const value = word >= 0 ? word : /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(value)) throw new FieldError(`${field.name} "${text}" is not a number${namesOf(field)}`);
  if (value < field.min || value > field.max) {
    throw new FieldError(`${field.name} ${text} is outside ${field.min}-${field.max}`);
  }
  return value;
}

function namesOf(field: Field): string {
  const words = (field.words ?? []).filter((word) => word !== "");
  return words.length === 0 ? "" : ` or one of ${words.join(" ")}`;
}
