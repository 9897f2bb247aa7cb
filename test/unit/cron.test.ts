import { readFileSync } from "node:fs";
import fc from "fast-check";
import { createTask } from "node-cron";
import { afterEach, describe, expect, it, vi } from "vitest";
import { everFires, next, parseCron } from "../../runtime/schedules/cron.js";

interface Vectors {
  readonly from: string;
  /** An expression and its next three fires: none when it never fires, a reason when it is invalid. */
  readonly vectors: readonly (readonly [string, readonly string[] | string])[];
}

const { from, vectors }: Vectors = JSON.parse(readFileSync(new URL("../vectors/cron.json", import.meta.url), "utf8"));

function fires(expression: string, count: number): string[] {
  const found: string[] = [];
  for (let at = next(expression, new Date(from)); at !== undefined && found.length < count; at = next(expression, at)) {
    found.push(at.toISOString().replace(/:00\.000Z$/, "Z"));
  }
  return found;
}

describe("vixie vectors", () => {
  it("has them all", () => expect(vectors).toHaveLength(68));

  it.each(vectors)("%j", (expression, expected) => {
    if (typeof expected === "string") {
      expect(parseCron(expression).ok).toBe(false);
      expect(next(expression, new Date(from))).toBeUndefined();
    } else {
      expect(fires(expression, 3)).toEqual(expected);
    }
  });
});

describe("properties", () => {
  afterEach(() => void vi.useRealTimers());

  const number = (min: number, max: number) => fc.integer({ min, max }).map(String);
  const field = (min: number, max: number) => {
    const range = fc
      .tuple(fc.integer({ min, max }), fc.integer({ min, max }))
      .map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`);
    const step = fc.integer({ min: 1, max: 70 });
    const item = fc.oneof(
      fc.constant("*"),
      number(min, max),
      range,
      fc.tuple(fc.oneof(fc.constant("*"), range), step).map(([of, by]) => `${of}/${by}`),
    );
    return fc.array(item, { minLength: 1, maxLength: 3 }).map((items) => items.join(","));
  };
  const expression = fc
    .tuple(field(0, 59), field(0, 23), field(1, 31), field(1, 12), field(0, 7))
    .map((fields) => fields.join(" "));
  const instant = fc.date({ min: new Date("1990-01-01Z"), max: new Date("2090-01-01Z"), noInvalidDate: true });

  it("fires on a whole minute, strictly later, and nothing in between would", () => {
    fc.assert(
      fc.property(expression, instant, (text, after) => {
        const at = next(text, after);
        const parsed = parseCron(text);
        if (!parsed.ok) throw new Error(`${text}: ${parsed.reason}`);
        if (at === undefined) return !everFires(parsed.cron);
        const wholeMinute = at.getTime() % 60_000 === 0;
        // Asking again from just before the answer gives the same answer.
        const again = next(text, new Date(at.getTime() - 1));
        return wholeMinute && at > after && again?.getTime() === at.getTime();
      }),
    );
  });

  /** node-cron lets a day fire that both fields allow: with two restricted ones it says something else, by design. */
  it("agrees with node-cron, where that follows the same rule", () => {
    fc.assert(
      fc.property(expression, instant, (text, after) => {
        const parsed = parseCron(text);
        fc.pre(parsed.ok && !parsed.cron.eitherDay && everFires(parsed.cron));
        vi.useFakeTimers({ toFake: ["Date"], now: after });
        const theirs = createTask(text, () => undefined, { timezone: "UTC" }).getNextRuns(3);
        const first = next(text, after);
        const second = first && next(text, first);
        expect([first, second, second && next(text, second)]).toEqual(theirs);
      }),
    );
  });

  it("takes whatever blanks stand between the fields", () => {
    fc.assert(
      fc.property(expression, fc.array(fc.constantFrom(" ", "\t"), { minLength: 1, maxLength: 4 }), (text, blanks) => {
        const at = new Date("2026-01-01Z");
        const spaced = text.replaceAll(" ", blanks.join(""));
        return next(text, at)?.getTime() === next(` ${spaced}\t`, at)?.getTime();
      }),
    );
  });

  it("never throws, whatever the text", () => {
    fc.assert(fc.property(fc.string(), (text) => typeof parseCron(text).ok === "boolean"));
  });
});
