import type { ChangeKind, Finding } from "./change.js";
import { equal, type JsonObject, join, own, type Tolerance, unionKeys } from "./json.js";
import { fallback } from "./rules/fallback.js";

/** Where a rule stands: the two owners of the field, so that a route can ask for its channel's auth. */
export interface Scene<E> {
  readonly before: E;
  readonly after: E;
  /** Path of the field below its entry. */
  readonly path: string;
  /** Lets package versions differ where the mount's own upgrade says so already. */
  readonly tolerate: Tolerance;
}

/** Looks at one field whose two values differ. An empty answer hands the field to the fallback: nothing goes unsaid. */
export type FieldRule<E, K extends keyof E> = (before: E[K], after: E[K], scene: Scene<E>) => readonly Finding[];

export type FieldRules<E> = { readonly [K in keyof E]?: FieldRule<E, K> };

/** Compares two objects field by field; what no rule covers, or a rule passes over, the fallback reports. */
export function compareFields<E extends object>(
  before: E,
  after: E,
  rules: FieldRules<E>,
  place: { readonly path: string; readonly tolerate: Tolerance; readonly skip?: ReadonlySet<string> },
): Finding[] {
  const [left, right] = [record(before), record(after)];
  return unionKeys(left, right).flatMap((key) => {
    const [old, now] = [own(left, key), own(right, key)];
    if (place.skip?.has(key) === true || equal(old, now, place.tolerate, key)) return [];
    const scene: Scene<E> = { before, after, path: join(place.path, key), tolerate: place.tolerate };
    const found = isField(rules, key) ? (rules[key]?.(before[key], after[key], scene) ?? []) : [];
    return found.length > 0 ? found : [fallback(key, old, now, scene.path)];
  });
}

function record(value: object): JsonObject {
  return Object.fromEntries(Object.entries(value));
}

function isField<E>(rules: FieldRules<E>, key: PropertyKey): key is keyof E & string {
  return Object.hasOwn(rules, key);
}

export interface KeyedPair<T> {
  readonly key: string;
  readonly before?: T;
  readonly after?: T;
}

/** Pairs the items of two lists by key, in key order; of several items with one key the nth goes with the nth. */
export function pairByKey<T>(before: readonly T[], after: readonly T[], key: (item: T) => string): KeyedPair<T>[] {
  const [left, right] = [index(before, key), index(after, key)];
  return unionKeys(Object.fromEntries(left), Object.fromEntries(right)).map((name) => {
    const [old, now] = [left.get(name), right.get(name)];
    return { key: name, ...(old === undefined ? {} : { before: old }), ...(now === undefined ? {} : { after: now }) };
  });
}

function index<T>(items: readonly T[], key: (item: T) => string): Map<string, T> {
  const result = new Map<string, T>();
  for (const item of items) {
    const name = key(item);
    let free = name;
    for (let count = 2; result.has(free); count++) free = `${name}#${count}`;
    result.set(free, item);
  }
  return result;
}

/** `added` or `removed` when one side is absent. */
export function kindOf(before: unknown, after: unknown): ChangeKind {
  return before === undefined ? "added" : after === undefined ? "removed" : "changed";
}
