import { byBytes, canonical, isObject, own, unionKeys } from "./json.js";

/** One side's entry that the other side does not have. */
export interface Candidate {
  readonly key: string;
  /** What a rename keeps: the fields that make the entry what it is. `undefined`: nothing worth comparing. */
  readonly content: unknown;
  /** Name of the package that brings it; merely similar entries of two packages are two entries. */
  readonly package: string | undefined;
  /** Its name below the mount: a mount under another namespace keeps package and short name. */
  readonly short: string | undefined;
}

/** Share of common words and facts from which two entries are one under another name. */
const threshold = 0.75;
/** Fewer tokens than this say too little to be similar by; they must be equal. */
const fewTokens = 6;
/** Pairs past which only equal content counts. */
const maxScored = 40_000;

/**
 * Which removed entries live on under another name, as `[before, after]` keys. Symmetric: swapping the sides swaps the
 * pairs and nothing else.
 */
export function matchRenames(removed: readonly Candidate[], added: readonly Candidate[]): ReadonlyMap<string, string> {
  const similar = removed.length * added.length <= maxScored;
  const [old, now] = [removed.map(prepare), added.map(prepare)];
  const scored = old.flatMap((before) =>
    now.flatMap((after) => {
      const score = likeness(before, after, similar);
      return score >= threshold ? [{ before: before.key, after: after.key, score }] : [];
    }),
  );
  scored.sort((a, b) => b.score - a.score || byBytes(tie(a.before, a.after), tie(b.before, b.after)));
  const pairs = new Map<string, string>();
  const taken = new Set<string>();
  for (const { before, after } of scored) {
    if (pairs.has(before) || taken.has(after)) continue;
    pairs.set(before, after);
    taken.add(after);
  }
  return pairs;
}

function tie(before: string, after: string): string {
  return [before, after].sort().join("\n");
}

interface Prepared extends Candidate {
  readonly text: string | undefined;
  readonly tokens: ReadonlyMap<string, number>;
  readonly count: number;
}

function prepare(candidate: Candidate): Prepared {
  const tokens = new Map<string, number>();
  let count = 0;
  collect(candidate.content, "", (token) => {
    tokens.set(token, (tokens.get(token) ?? 0) + 1);
    count += 1;
  });
  const text = candidate.content === undefined ? undefined : canonical(candidate.content);
  return { ...candidate, text, tokens, count };
}

function collect(value: unknown, path: string, add: (token: string) => void): void {
  if (typeof value === "string") {
    for (const word of value.split(/\s+/)) if (word !== "") add(word);
  } else if (Array.isArray(value)) {
    for (const item of value) collect(item, `${path}[]`, add);
  } else if (isObject(value)) {
    for (const key of unionKeys(value, {})) {
      add(`${path}.${key}`);
      collect(own(value, key), `${path}.${key}`, add);
    }
  } else if (value !== undefined) add(`${path}=${String(value)}`);
}

/** 0 to 1: Dice's coefficient over words and facts; 1 for equal content or the same contribution of the same package. */
function likeness(before: Prepared, after: Prepared, similar: boolean): number {
  const sibling = before.package === after.package;
  if (sibling && before.package !== undefined && before.short !== undefined && before.short === after.short) return 1;
  if (before.text === undefined || after.text === undefined) return 0;
  if (before.text === after.text) return 1;
  if (!similar || !sibling || before.count < fewTokens || after.count < fewTokens) return 0;
  let common = 0;
  for (const [token, count] of before.tokens) common += Math.min(count, after.tokens.get(token) ?? 0);
  return (2 * common) / (before.count + after.count);
}
