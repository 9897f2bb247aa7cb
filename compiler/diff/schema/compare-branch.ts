import { sides } from "../change.js";
import { equal, type JsonObject, join, own, show, unionKeys } from "../json.js";
import { diffText } from "../text.js";
import type { Branch } from "./branch.js";
import type { Meaning, SchemaContext } from "./compare.js";
import { annotations } from "./flatten.js";
import { compareKeyword } from "./keywords.js";

export function compareBranches(before: Branch, after: Branch, path: string, context: SchemaContext): void {
  if (before.type !== after.type) {
    compareTypes(before, after, path, context);
    if (before.type !== "any" && after.type !== "any") return; // keywords of two types have nothing to say to each other
  } else if (before.integer !== after.integer && before.values === undefined && after.values === undefined) {
    const meaning = after.integer ? "narrowed" : "widened";
    const phrase = `type changed from ${typeName(before)} to ${typeName(after)}`;
    context.report({ path: join(path, "type"), phrase, meaning, before: typeName(before), after: typeName(after) });
  }
  compareValues(before, after, path, context);
  compareAnnotations(before.keywords, after.keywords, path, context);
  for (const keyword of unionKeys(before.keywords, after.keywords)) {
    if (!annotations.has(keyword)) compareKeyword(keyword, before, after, path, context);
  }
}

function compareTypes(before: Branch, after: Branch, path: string, context: SchemaContext): void {
  const meaning: Meaning = before.type === "any" ? "narrowed" : after.type === "any" ? "widened" : "unclear";
  const phrase = `type changed from ${typeName(before)} to ${typeName(after)}`;
  context.report({ path: join(path, "type"), phrase, meaning, before: typeName(before), after: typeName(after) });
}

function typeName(branch: Branch): string {
  return branch.integer ? "integer" : branch.type;
}

function compareValues(before: Branch, after: Branch, path: string, context: SchemaContext): void {
  const [left, right] = [before.values, after.values];
  const at = join(path, "enum");
  if (left === undefined && right === undefined) return;
  if (left === undefined || right === undefined) {
    const listed = left ?? right ?? [];
    const phrase =
      left === undefined ? `only ${inWords(listed)} now allowed` : `no longer limited to ${inWords(listed)}`;
    context.report({ path: at, phrase, meaning: left === undefined ? "narrowed" : "widened", ...sides(left, right) });
    return;
  }
  const gone = left.filter((value) => !right.some((other) => equal(value, other)));
  const fresh = right.filter((value) => !left.some((other) => equal(value, other)));
  const both = { path: at, ...sides(left, right) };
  if (gone.length > 0) context.report({ ...both, phrase: `${inWords(gone)} no longer allowed`, meaning: "narrowed" });
  if (fresh.length > 0) context.report({ ...both, phrase: `${inWords(fresh)} now allowed`, meaning: "widened" });
}

function inWords(values: readonly unknown[]): string {
  const shown = values.slice(0, 6).map(show).join(", ");
  return values.length > 6 ? `${shown} and ${values.length - 6} more` : shown;
}

/** Words about a value, and `default`, which changes what leaving a field out means. */
export function compareAnnotations(before: JsonObject, after: JsonObject, path: string, context: SchemaContext): void {
  for (const keyword of unionKeys(before, after)) {
    const [left, right] = [own(before, keyword), own(after, keyword)];
    if (!annotations.has(keyword) || equal(left, right)) continue;
    // Leaving a field out now means something else: the call still passes, so it is not breaking, but look at it.
    const meaning = keyword === "default" && context.use === "input" ? "risky" : "neutral";
    const text = typeof left === "string" && typeof right === "string" && keyword !== "$schema";
    context.report({
      path: join(path, keyword),
      phrase: text ? `${keyword} changed` : `${keyword} changed from ${show(left)} to ${show(right)}`,
      meaning,
      ...sides(left, right),
      ...(text ? { textDiff: diffText(left, right) } : {}),
    });
  }
}
