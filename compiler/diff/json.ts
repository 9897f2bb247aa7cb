/** JSON as the diff sees it: equality without regard to key order, pointers, and short text for messages. */

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Own property or undefined: names from a manifest may be `constructor` or `__proto__`. */
export function own(object: JsonObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Judges two values that differ, at the key where they stand; `true` lets them pass as equal. */
export type Tolerance = (key: string, before: unknown, after: unknown) => boolean;

/** Deep equality of JSON values; a key with `undefined` counts as absent. */
export function equal(before: unknown, after: unknown, tolerate?: Tolerance, key = ""): boolean {
  if (Object.is(before, after)) return true;
  if (Array.isArray(before) && Array.isArray(after)) {
    return before.length === after.length && before.every((item, index) => equal(item, after[index], tolerate, key));
  }
  if (isObject(before) && isObject(after)) {
    const holds = (name: string) => equal(own(before, name), own(after, name), tolerate, name);
    return (
      Object.keys(before).every(holds) && Object.keys(after).every((name) => Object.hasOwn(before, name) || holds(name))
    );
  }
  return tolerate?.(key, before, after) ?? false;
}

/** Keys of both objects whose value is not undefined, in byte order. */
export function unionKeys(before: JsonObject, after: JsonObject): string[] {
  const keys = new Set<string>();
  for (const side of [before, after]) for (const key of Object.keys(side)) if (side[key] !== undefined) keys.add(key);
  return [...keys].sort(byBytes);
}

/** JSON text with sorted keys: one text for one value. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? "null";
  const members = unionKeys(value, {}).map((key) => `${JSON.stringify(key)}:${canonical(own(value, key))}`);
  return `{${members.join(",")}}`;
}

/** Appends segments to a path, escaped as in a JSON Pointer. */
export function join(path: string, ...segments: readonly string[]): string {
  return segments.reduce((whole, segment) => `${whole}/${segment.replaceAll("~", "~0").replaceAll("/", "~1")}`, path);
}

/** The reverse of `join`. */
export function split(path: string): string[] {
  return path
    .split("/")
    .slice(1)
    .map((segment) => segment.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** A value for a message: canonical JSON, cut at 80 characters. */
export function show(value: unknown): string {
  if (value === undefined) return "none";
  const text = canonical(value);
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}

/** Names for a message: quoted, in order. */
export function list(values: readonly unknown[]): string {
  return values.map(show).join(", ");
}

export function byBytes(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
