import { type Level, sides } from "../change.js";
import { join, show } from "../json.js";
import type { Branch } from "./branch.js";
import type { Meaning, SchemaContext } from "./compare.js";

/** Two sides of one keyword in two branches of one type. */
export interface Pair {
  readonly keyword: string;
  readonly left: unknown;
  readonly right: unknown;
  readonly before: Branch;
  readonly after: Branch;
  /** Path of the schema that the keyword stands in. */
  readonly path: string;
}

/** Compares one keyword and reports what changed; silent when nothing did. */
export type KeywordRule = (pair: Pair, context: SchemaContext) => void;

/** Reports the keyword itself, with its two values in the words unless others are given. */
export function reportKeyword(
  { keyword, left, right, path }: Pair,
  meaning: Meaning | Level,
  context: SchemaContext,
  phrase = `${keyword} changed from ${show(left)} to ${show(right)}`,
): void {
  context.report({ path: join(path, keyword), phrase, meaning, ...sides(left, right) });
}

export function listed(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
