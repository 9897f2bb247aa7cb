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
 * Which removed entries live on under another name, as `[before, after]` keys: first those that the same package brings
 * under another namespace, then those with equal content, then the most similar ones. Symmetric: swapping the sides
 * swaps the pairs and nothing else.
 */
export function matchRenames(removed: readonly Candidate[], added: readonly Candidate[]): ReadonlyMap<string, string> {
  const pairs = new Map<string, string>();
  const taken = new Set<string>();
  const pair = (before: string, after: string) => {
    if (pairs.has(before) || taken.has(after)) return;
    pairs.set(before, after);
    taken.add(after);
  };
  const left = (candidates: readonly Candidate[], used: { has(key: string): boolean }) =>
    candidates.filter(({ key }) => !used.has(key));
  for (const identity of [mountedAs, contentOf]) {
    pairEqual(left(removed, pairs), left(added, taken), identity, pair);
  }
  pairSimilar(left(removed, pairs).map(prepare), left(added, taken).map(prepare), pair);
  return pairs;
}

type Pair = (before: string, after: string) => void;

function mountedAs(candidate: Candidate): string | undefined {
  const { package: from, short } = candidate;
  return from === undefined || short === undefined ? undefined : `${from}\n${short}`;
}

function contentOf(candidate: Candidate): string | undefined {
  return candidate.content === undefined ? undefined : canonical(candidate.content);
}

/** Of several with one identity, the nth goes with the nth, in order of their keys. */
function pairEqual(
  removed: readonly Candidate[],
  added: readonly Candidate[],
  identity: (candidate: Candidate) => string | undefined,
  pair: Pair,
): void {
  const waiting = new Map<string, string[]>();
  for (const candidate of inOrder(added)) {
    const name = identity(candidate);
    if (name !== undefined) waiting.set(name, [...(waiting.get(name) ?? []), candidate.key]);
  }
  for (const candidate of inOrder(removed)) {
    const name = identity(candidate);
    const after = name === undefined ? undefined : waiting.get(name)?.shift();
    if (after !== undefined) pair(candidate.key, after);
  }
}

function inOrder(candidates: readonly Candidate[]): Candidate[] {
  return [...candidates].sort((a, b) => byBytes(a.key, b.key));
}

function pairSimilar(removed: readonly Prepared[], added: readonly Prepared[], pair: Pair): void {
  if (removed.length * added.length > maxScored) return;
  const scored = removed.flatMap((before) =>
    added.flatMap((after) => {
      const score = likeness(before, after);
      return score >= threshold ? [{ before: before.key, after: after.key, score }] : [];
    }),
  );
  scored.sort((a, b) => b.score - a.score || byBytes(tie(a.before, a.after), tie(b.before, b.after)));
  for (const { before, after } of scored) pair(before, after);
}

function tie(before: string, after: string): string {
  return [before, after].sort().join("\n");
}

interface Prepared extends Candidate {
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
  return { ...candidate, tokens, count };
}

/** Words of texts, and every key and plain value with its place. */
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

/** Dice's coefficient over words and facts, 0 to 1. Entries of two packages are never merely similar. */
function likeness(before: Prepared, after: Prepared): number {
  if (before.package !== after.package || before.count < fewTokens || after.count < fewTokens) return 0;
  let common = 0;
  for (const [token, count] of before.tokens) common += Math.min(count, after.tokens.get(token) ?? 0);
  return (2 * common) / (before.count + after.count);
}
