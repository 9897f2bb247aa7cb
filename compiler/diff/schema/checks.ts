import type { Level } from "../change.js";
import { equal, join, own } from "../json.js";
import type { Meaning } from "./compare.js";
import { type KeywordRule, listed, reportKeyword } from "./pair.js";

/** A schema that describes a part of the value. */
export const subschema: KeywordRule = ({ keyword, left, right, path }, context) => {
  context.compare(left, right, join(path, keyword));
};

/** A position that one side does not list is described by its `items`. */
export const prefixItems: KeywordRule = ({ keyword, left, right, before, after, path }, context) => {
  const [first, second] = [listed(left), listed(right)];
  for (let index = 0; index < Math.max(first.length, second.length); index++) {
    const old = index < first.length ? first[index] : own(before.keywords, "items");
    const now = index < second.length ? second[index] : own(after.keywords, "items");
    context.compare(old, now, join(path, keyword, String(index)));
  }
};

export const uniqueItems: KeywordRule = (pair, context) => {
  const now = pair.right === true;
  if ((pair.left === true) === now) return;
  const phrase = now ? "items must now be unique" : "items need not be unique any more";
  reportKeyword(pair, now ? "narrowed" : "widened", context, phrase);
};

/** A check that can be there, be gone, or be another one nobody can compare. */
export const constraint: KeywordRule = (pair, context) => {
  if (equal(pair.left, pair.right)) return;
  reportKeyword(pair, pair.left === undefined ? "narrowed" : pair.right === undefined ? "widened" : "unclear", context);
};

/** A schema in a place where narrower and wider no longer mean what they say. */
export const condition: KeywordRule = (pair, context) => {
  const { keyword, left, right, path } = pair;
  if (left === undefined || right === undefined) constraint(pair, context);
  else if (context.differs(left, right, join(path, keyword))) reportKeyword(pair, "unclear", context);
};

/** The parts of `allOf` that could not be merged. */
export const conditions: KeywordRule = (pair, context) => {
  const [before, after] = [listed(pair.left), listed(pair.right)];
  const longest = before.length > after.length ? before : after;
  const differs = longest.some((_part, index) => context.differs(before[index], after[index], pair.path));
  if (differs) reportKeyword(pair, "unclear", context);
};

/** Formats of which the second takes all that the first takes. */
const widerFormats: ReadonlySet<string> = new Set([
  "email idn-email",
  "float double",
  "hostname idn-hostname",
  "int32 int64",
  "iri iri-reference",
  "uri iri",
  "uri iri-reference",
  "uri uri-reference",
  "uri-reference iri-reference",
]);

export const format: KeywordRule = (pair, context) => {
  if (widerFormats.has(`${pair.left} ${pair.right}`)) reportKeyword(pair, "widened", context);
  else if (widerFormats.has(`${pair.right} ${pair.left}`)) reportKeyword(pair, "narrowed", context);
  else constraint(pair, context);
};

/** A keyword whose change always means the same. */
export function always(meaning: Meaning | Level): KeywordRule {
  return (pair, context) => {
    if (!equal(pair.left, pair.right)) reportKeyword(pair, meaning, context);
  };
}
