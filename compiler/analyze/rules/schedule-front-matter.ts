import { type Diagnostic, diagnostic } from "../../diagnostics/diagnostic.js";
import { suggest } from "../../diagnostics/suggest.js";
import type { Rule } from "../rule.js";

/** What the front matter of a schedule may say, and what is good for it. `cron` has a rule of its own. */
const keys: Readonly<Record<string, { readonly takes: string; isGood(value: unknown): boolean }>> = {
  cron: { takes: "a text", isGood: () => true },
  description: { takes: "a text", isGood: (value) => typeof value === "string" },
  overlap: { takes: '"skip" or "queue"', isGood: (value) => value === "skip" || value === "queue" },
  catchUp: { takes: "true or false", isGood: (value) => typeof value === "boolean" },
};

/** A Markdown schedule's settings are those of `defineSchedule`: a wrong one must not count as left out. */
export const scheduleFrontMatter: Rule = ({ definition, slot, at }) => {
  const { prose, fields } = definition;
  if (slot.kind !== "schedule" || prose === undefined) return [];
  return Object.entries(prose.attributes).flatMap(([key, value]): Diagnostic[] => {
    const known = Object.hasOwn(keys, key) ? keys[key] : undefined;
    const span = fields[key] ?? at();
    if (known === undefined) {
      const near = suggest(key, Object.keys(keys));
      const help = near === undefined ? `the keys are ${Object.keys(keys).join(", ")}` : `did you mean ${near}?`;
      return [diagnostic("scheduleKey", { message: `a schedule has no key "${key}"`, at: span, help })];
    }
    if (known.isGood(value)) return [];
    const message = `${key} is ${known.takes}, not ${JSON.stringify(value)}`;
    return [diagnostic("badFrontMatter", { message, at: span, help: "correct it, or delete the line" })];
  });
};
