import type { HostOtelApi, OtelTags } from "../authoring/host.js";
import type { Log } from "../session/ports.js";

/** Series kept; beyond it new ones are dropped, with one warning. */
const maxSeries = 10_000;
/** Sessions whose tags are kept; the oldest leave first. */
const maxTagged = 1_000;

export interface Counter {
  readonly name: string;
  readonly tags: OtelTags;
  readonly value: number;
}

export interface Histogram {
  readonly name: string;
  readonly tags: OtelTags;
  readonly count: number;
  readonly sum: number;
  readonly min: number;
  readonly max: number;
}

/** What authored code measured, in this process. */
export interface Measurements {
  /** `host.otel` of a session, or of work outside any. */
  for(sessionId: string | undefined): HostOtelApi;
  counters(): readonly Counter[];
  histograms(): readonly Histogram[];
  tags(sessionId: string): OtelTags;
}

/** Keeps counters and histograms in memory, by name and tags, and writes every measurement to the log. */
export function createMeasurements(log: Log): Measurements {
  const counters = new Map<string, Counter>();
  const histograms = new Map<string, Histogram>();
  const tagged = new Map<string, Record<string, string | number | boolean>>();
  let hasWarned = false;
  let hasDoubted = false;

  function update<T>(series: Map<string, T>, name: string, tags: OtelTags, next: (before: T | undefined) => T): void {
    const key = `${name} ${JSON.stringify(Object.entries(tags).sort())}`;
    const before = series.get(key);
    if (before === undefined && series.size >= maxSeries) {
      if (!hasWarned) log("warn", `otel: more than ${maxSeries} combinations of name and tags; new ones are dropped`);
      hasWarned = true;
      return;
    }
    series.set(key, next(before));
  }

  function write(
    kind: string,
    name: string,
    value: number | string | boolean,
    tags: OtelTags,
    sessionId?: string,
  ): void {
    const told = Object.entries(tags).map(([key, tag]) => ` ${key}=${String(tag)}`);
    log(
      "debug",
      `otel ${kind} ${name} ${String(value)}${told.join("")}${sessionId === undefined ? "" : ` session=${sessionId}`}`,
    );
  }

  /** Measuring must never fail what is measured: what is no number is left out, and said once. */
  function isNumber(name: string, value: unknown): value is number {
    if (Number.isFinite(value)) return true;
    if (!hasDoubted)
      log("warn", `otel: "${String(name)}" was given what is no finite number; such values are left out`);
    hasDoubted = true;
    return false;
  }

  return {
    for(sessionId) {
      return {
        increment(name: string, value: number | OtelTags = 1, more: OtelTags = {}) {
          const isTagged = typeof value === "object" && value !== null;
          const by = isTagged ? 1 : value;
          const tags = plain(isTagged ? value : more);
          if (!isNumber(name, by)) return;
          update(counters, name, tags, (before) => ({ name, tags, value: (before?.value ?? 0) + by }));
          write("counter", name, by, tags, sessionId);
        },
        histogram(name, value, given = {}) {
          const tags = plain(given);
          if (!isNumber(name, value)) return;
          update(histograms, name, tags, (before) => ({
            name,
            tags,
            count: (before?.count ?? 0) + 1,
            sum: (before?.sum ?? 0) + value,
            min: Math.min(before?.min ?? value, value),
            max: Math.max(before?.max ?? value, value),
          }));
          write("histogram", name, value, tags, sessionId);
        },
        tag(name, value) {
          if (!isTag(value)) return;
          write("tag", name, value, {}, sessionId);
          if (sessionId === undefined) return;
          const tags = tagged.get(sessionId) ?? {};
          tagged.delete(sessionId);
          tagged.set(sessionId, { ...tags, [name]: value });
          const [oldest] = tagged.keys();
          if (tagged.size > maxTagged && oldest !== undefined) tagged.delete(oldest);
        },
      };
    },
    counters: () => [...counters.values()],
    histograms: () => [...histograms.values()],
    tags: (sessionId) => ({ ...tagged.get(sessionId) }),
  };
}

/** Tags as they are meant to be; JavaScript may give anything. */
function plain(tags: OtelTags): OtelTags {
  if (typeof tags !== "object" || tags === null || Array.isArray(tags)) return {};
  return Object.fromEntries(Object.entries(tags).filter(([, value]) => isTag(value)));
}

function isTag(value: unknown): value is string | number | boolean {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}
