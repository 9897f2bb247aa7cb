import type { JsonValue } from "../session/event.js";
import { formatPath } from "./issues.js";

/** Deepest nesting that a result may have. */
const maxDepth = 200;

/** True when `JSON.stringify` gives the value back unchanged. Cheap: it allocates nothing. */
export function isJson(value: unknown, depth = 0): value is JsonValue {
  switch (typeof value) {
    case "string":
    case "boolean":
      return true;
    case "number":
      return Number.isFinite(value) && !Object.is(value, -0);
    case "object":
      break;
    default:
      return false;
  }
  if (value === null) return true;
  if (depth > maxDepth) return false;
  if (Array.isArray(value)) {
    for (const item of value) if (!isJson(item, depth + 1)) return false;
    return true;
  }
  const prototype = Object.getPrototypeOf(value);
  if ((prototype !== Object.prototype && prototype !== null) || "toJSON" in value) return false;
  for (const key in value) {
    const part = (value as Record<string, unknown>)[key];
    if (part !== undefined && !isJson(part, depth + 1)) return false;
  }
  return true;
}

/**
 * A fresh JSON copy of any value. Nothing becomes `null`, dates ISO strings, big integers decimal strings, maps with
 * string keys objects, sets arrays, bytes base64, errors their name and message; functions and symbols are left out,
 * as JSON does.
 *
 * @throws Error naming the place, when the value contains itself or is nested too deeply.
 */
export function toJson(value: unknown): JsonValue {
  return convert(value, [], new Set()) ?? null;
}

function convert(value: unknown, path: readonly PropertyKey[], within: Set<object>): JsonValue | undefined {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      // JSON knows one zero.
      return Number.isFinite(value) ? value + 0 : null;
    case "bigint":
      return value.toString();
    case "object":
      return value === null ? null : convertObject(value, path, within);
    default:
      return undefined;
  }
}

function convertObject(value: object, path: readonly PropertyKey[], within: Set<object>): JsonValue | undefined {
  if (within.has(value)) throw new Error(`the result contains itself at ${formatPath(path) || "its root"}`);
  if (path.length > maxDepth) throw new Error(`the result is nested more than ${maxDepth} levels deep`);
  within.add(value);
  const converted = convertParts(value, path, within);
  within.delete(value);
  return converted;
}

function convertParts(value: object, path: readonly PropertyKey[], within: Set<object>): JsonValue | undefined {
  const part = (item: unknown, key: PropertyKey) => convert(item, [...path, key], within);
  const list = (items: readonly unknown[]) => items.map((item, position) => part(item, position) ?? null);
  if (Array.isArray(value)) return list(value);
  if (value instanceof Uint8Array)
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64");
  if ("toJSON" in value && typeof value.toJSON === "function") return part(value.toJSON(), "toJSON()");
  if (value instanceof Map) {
    const entries = [...value.entries()];
    return entries.every(([key]) => typeof key === "string") ? fields(entries, part) : list(entries);
  }
  if (value instanceof Set) return list([...value]);
  if (value instanceof Error) return { name: value.name, message: value.message };
  if (value instanceof Number || value instanceof String || value instanceof Boolean)
    return part(value.valueOf(), "value");
  return fields(Object.entries(value), part);
}

function fields(
  entries: readonly (readonly [string, unknown])[],
  part: (item: unknown, key: PropertyKey) => JsonValue | undefined,
): JsonValue {
  const copy: Record<string, JsonValue> = {};
  for (const [key, item] of entries) {
    const converted = part(item, key);
    // Defined, not assigned: a key such as __proto__ is data here.
    if (converted !== undefined)
      Object.defineProperty(copy, key, { value: converted, enumerable: true, configurable: true, writable: true });
  }
  return copy;
}
