import { everFires, parseCron } from "../../../runtime/schedules/cron.js";
import { type Diagnostic, diagnostic, type Span } from "../../diagnostics/diagnostic.js";
import type { Rule } from "../rule.js";

/** A schedule says when, in five fields, and the moment must come some day. */
export const cron: Rule = ({ definition, slot, config, at }) => {
  if (slot.kind !== "schedule") return [];
  const { prose, fields, name } = definition;
  if (prose !== undefined) {
    if (prose.isUnread === true) return [];
    const value = prose.attributes.cron;
    if (value === undefined || value === null) {
      return [missing(name, fields.cron ?? at(), 'start the file with front matter: cron: "0 9 * * 1-5"')];
    }
    return checkExpression(value, fields.cron ?? at());
  }
  if (config === undefined) return [];
  const found = config.get("cron");
  if (found === undefined) return config.open ? [] : [missing(name, at(), 'add `cron: "0 9 * * 1-5"`')];
  return found.literal === undefined ? [] : checkExpression(found.literal, at(found.value));
};

/** Also for expressions that only running the module tells. */
export function checkExpression(value: unknown, at: Span): readonly Diagnostic[] {
  if (typeof value !== "string") {
    return [diagnostic("badCron", { message: "the cron expression is no text", at, help: "put it in quotes" })];
  }
  const parsed = parseCron(value);
  if (!parsed.ok) {
    const help = "use five fields in UTC: minute hour day-of-month month day-of-week, such as 0 9 * * 1-5";
    return [diagnostic("badCron", { message: `can't read cron "${value}": ${parsed.reason}`, at, help })];
  }
  if (everFires(parsed.cron)) return [];
  const message = `cron "${value}" never fires: none of its months has such a day`;
  const help = "for the last days of a month, name a day that each month has, such as 28, or run on the 1st";
  return [diagnostic("cronNeverFires", { message, at, help })];
}

function missing(name: string, at: Span, help: string): Diagnostic {
  return diagnostic("cronMissing", { message: `the schedule "${name}" has no cron expression`, at, help });
}
