import { sides } from "../change.js";
import { equal, join, own, show } from "../json.js";
import type { Branch } from "./branch.js";
import type { SchemaContext } from "./compare.js";
import { type KeywordRule, type Pair, reportKeyword } from "./pair.js";

/** `minLength` and its like: a larger one narrows. */
export const lower: KeywordRule = (pair, context) => {
  const absent = pair.keyword === "minContains" ? 1 : 0;
  const [left, right] = [numberOr(pair.left, absent), numberOr(pair.right, absent)];
  if (left !== right) reportKeyword(pair, right > left ? "narrowed" : "widened", context);
};

/** `maxLength` and its like: a smaller one narrows. */
export const upper: KeywordRule = (pair, context) => {
  const [left, right] = [numberOr(pair.left, Infinity), numberOr(pair.right, Infinity)];
  if (left !== right) reportKeyword(pair, right < left ? "narrowed" : "widened", context);
};

function numberOr(value: unknown, absent: number): number {
  return typeof value === "number" ? value : absent;
}

export const lowerBound: KeywordRule = (pair, context) => range(pair, context, "minimum", "exclusiveMinimum", 1);
export const upperBound: KeywordRule = (pair, context) => range(pair, context, "maximum", "exclusiveMaximum", -1);

/** Both keywords of one end together. `sign` turns an upper end into a lower one, so that larger means narrower. */
function range(pair: Pair, context: SchemaContext, inclusive: string, exclusive: string, sign: 1 | -1): void {
  const { before, after, keyword, path } = pair;
  const said = [before, after].some((branch) => own(branch.keywords, inclusive) !== undefined);
  if (keyword === exclusive && said) return; // reported under the inclusive keyword
  const [left, right] = [end(before, inclusive, exclusive, sign), end(after, inclusive, exclusive, sign)];
  if (left.at === right.at && left.open === right.open) return;
  const narrowed = right.at > left.at || (right.at === left.at && right.open);
  const [from, to] = [written(before, inclusive, exclusive), written(after, inclusive, exclusive)];
  context.report({
    path: join(path, inclusive),
    phrase: `${inclusive} changed from ${show(from)} to ${show(to)}`,
    meaning: narrowed ? "narrowed" : "widened",
    ...sides(from, to),
  });
}

/** One end of a number range; `open` leaves the bound itself out. */
interface End {
  readonly at: number;
  readonly open: boolean;
}

function end(branch: Branch, inclusive: string, exclusive: string, sign: 1 | -1): End {
  const closed = numberOr(own(branch.keywords, inclusive), -Infinity * sign) * sign;
  const open = numberOr(own(branch.keywords, exclusive), -Infinity * sign) * sign;
  const tight: End = open >= closed && open !== -Infinity ? { at: open, open: true } : { at: closed, open: false };
  if (!branch.integer) return tight;
  const at = tight.open ? Math.floor(tight.at) + 1 : Math.ceil(tight.at);
  // Integers past this one can't be told apart in JavaScript, so validators that name it (zod) say nothing new.
  return { at: at <= -Number.MAX_SAFE_INTEGER ? -Infinity : at, open: false };
}

function written(branch: Branch, inclusive: string, exclusive: string): unknown {
  const [closed, open] = [own(branch.keywords, inclusive), own(branch.keywords, exclusive)];
  if (open === undefined) return closed;
  return closed === undefined ? { exclusive: open } : { inclusive: closed, exclusive: open };
}

export const multipleOf: KeywordRule = (pair, context) => {
  if (equal(pair.left, pair.right)) return;
  const [old, now] = [numberOr(pair.left, 0), numberOr(pair.right, 0)];
  if (old === 0 || isMultiple(now, old)) reportKeyword(pair, "narrowed", context);
  else reportKeyword(pair, now === 0 || isMultiple(old, now) ? "widened" : "unclear", context);
};

function isMultiple(value: number, of: number): boolean {
  const quotient = value / of;
  return value !== 0 && Math.abs(quotient - Math.round(quotient)) < 1e-9;
}
