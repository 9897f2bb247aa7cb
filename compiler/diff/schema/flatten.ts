import { equal, isObject, type JsonObject, own, unionKeys } from "../json.js";
import type { Scope } from "./scope.js";

/** One schema object without `$ref` and `allOf`; `false` accepts nothing. */
export type Flat = JsonObject | false;

/** Keywords that say nothing about which values are accepted. */
export const annotations: ReadonlySet<string> = new Set([
  "$anchor",
  "$comment",
  "$id",
  "$schema",
  "default",
  "deprecated",
  "description",
  "discriminator",
  "example",
  "examples",
  "externalDocs",
  "markdownDescription",
  "readOnly",
  "title",
  "writeOnly",
]);

/** Resolves references and merges `allOf`, so that what is left can be compared keyword by keyword. */
export function flatten(schema: unknown, scope: Scope, open: readonly string[] = []): Flat {
  if (schema === false) return false;
  if (!isObject(schema)) return {};
  const modern = modernize(schema);
  const { $ref: ref, allOf: parts, $defs: _defs, ...rest } = modern;
  let flat: Flat = rest;
  if (typeof ref === "string") flat = followRef(ref, rest, scope, open);
  for (const part of Array.isArray(parts) ? parts : []) {
    if (flat === false) return false;
    const other = flatten(part, scope, open);
    flat = other === false ? false : merge(other, flat);
  }
  return flat;
}

function followRef(ref: string, siblings: JsonObject, scope: Scope, open: readonly string[]): Flat {
  const kept = scope.refHidesSiblings ? onlyAnnotations(siblings) : siblings;
  if (open.includes(ref)) return kept; // `A = A`: no constraint of its own
  const target = scope.lookup(ref);
  if (target === undefined) return { ...kept, $ref: ref };
  const flat = flatten(target, scope, [...open, ref]);
  return flat === false ? false : merge(flat, kept);
}

function onlyAnnotations(schema: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => annotations.has(key)));
}

/** Both schemas at once. Annotations of `outer` win, as it stands nearer to the reader. */
function merge(inner: JsonObject, outer: JsonObject): Flat {
  const merged: Record<string, unknown> = {};
  const rest: unknown[] = [];
  for (const key of unionKeys(inner, outer)) {
    const [a, b] = [own(inner, key), own(outer, key)];
    if (a === undefined || b === undefined || equal(a, b)) {
      set(merged, key, b === undefined ? a : b);
      continue;
    }
    const both = intersect(key, a, b);
    if (both === undefined) rest.push({ [key]: a });
    set(merged, key, both ?? b);
  }
  if (Array.isArray(merged.type) && merged.type.length === 0) return false;
  if (Array.isArray(merged.enum) && merged.enum.length === 0) return false;
  if (rest.length === 0) return merged;
  return { ...merged, allOf: [...(Array.isArray(merged.allOf) ? merged.allOf : []), ...rest] };
}

function set(target: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true });
}

/** What satisfies both values of one keyword; undefined when that can't be said in the keyword itself. */
function intersect(key: string, a: unknown, b: unknown): unknown {
  if (annotations.has(key)) return b;
  if (isObject(a) && isObject(b) && (key === "properties" || key === "patternProperties")) return bothMaps(a, b);
  if (["items", "additionalProperties", "propertyNames", "unevaluatedProperties"].includes(key))
    return { allOf: [a, b] };
  if (key === "type") return bothTypes(asArray(a), asArray(b));
  if (Array.isArray(a) && Array.isArray(b)) {
    if (key === "required") return [...new Set([...a, ...b])].sort();
    if (key === "enum") return a.filter((value) => b.some((other) => equal(value, other)));
  }
  if (typeof a === "number" && typeof b === "number") {
    if (/^(exclusiveM|m)in/.test(key)) return Math.max(a, b);
    if (/^(exclusiveM|m)ax/.test(key)) return Math.min(a, b);
  }
  if (key === "uniqueItems") return a === true || b === true;
  return undefined;
}

function bothMaps(a: JsonObject, b: JsonObject): JsonObject {
  const result: Record<string, unknown> = {};
  for (const name of unionKeys(a, b)) {
    const [left, right] = [own(a, name), own(b, name)];
    const one = left === undefined ? right : right === undefined || equal(left, right) ? left : undefined;
    set(result, name, one ?? { allOf: [left, right] });
  }
  return result;
}

function bothTypes(a: readonly unknown[], b: readonly unknown[]): unknown[] {
  const accepts = (types: readonly unknown[], type: unknown) =>
    types.includes(type) || (type === "integer" && types.includes("number"));
  return [...new Set([...a.filter((type) => accepts(b, type)), ...b.filter((type) => accepts(a, type))])];
}

export function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value];
}

/** Rewrites older spellings into those of draft 2020-12, so that a change of draft is no change of meaning. */
function modernize(schema: JsonObject): JsonObject {
  const result: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(schema)) set(result, key, value);
  for (const [bound, exclusive] of [
    ["minimum", "exclusiveMinimum"],
    ["maximum", "exclusiveMaximum"],
  ] as const) {
    if (typeof result[exclusive] !== "boolean") continue; // draft 4
    if (result[exclusive] === true && result[bound] !== undefined) {
      result[exclusive] = result[bound];
      delete result[bound];
    } else delete result[exclusive];
  }
  if (Array.isArray(result.items)) {
    result.prefixItems = result.items;
    delete result.items;
    if (result.additionalItems !== undefined) result.items = result.additionalItems;
    delete result.additionalItems;
  } else if (result.items === undefined || result.prefixItems === undefined) {
    delete result.additionalItems; // without a tuple it never had a meaning
  }
  if (isObject(result.dependencies)) splitDependencies(result, result.dependencies);
  if (result.const !== undefined && result.enum === undefined) {
    result.enum = [result.const];
    delete result.const;
  } else if (result.const !== undefined && Array.isArray(result.enum)) {
    const constant = result.const;
    result.enum = result.enum.filter((value) => equal(value, constant));
    delete result.const;
  }
  const nullable = result.nullable === true;
  delete result.nullable;
  delete result.definitions;
  for (const empty of ["required", "allOf"]) {
    const value = result[empty];
    if (Array.isArray(value) && value.length === 0) delete result[empty];
  }
  for (const open of ["additionalProperties", "unevaluatedProperties", "items", "unevaluatedItems", "propertyNames"]) {
    const value = result[open];
    if (value === true || (isObject(value) && Object.keys(value).length === 0)) delete result[open];
  }
  return nullable ? orNull(result) : result;
}

/** OpenAPI 3.0's `nullable`. */
function orNull(schema: JsonObject): JsonObject {
  const type = own(schema, "type");
  const values = own(schema, "enum");
  if (type === undefined && values === undefined) {
    const reference = ["$ref", "allOf", "anyOf", "oneOf"].some((key) => own(schema, key) !== undefined);
    return reference ? { anyOf: [schema, { type: "null" }] } : schema;
  }
  return {
    ...schema,
    ...(type === undefined ? {} : { type: [...asArray(type).filter((name) => name !== "null"), "null"] }),
    ...(Array.isArray(values) && !values.includes(null) ? { enum: [...values, null] } : {}),
  };
}

function splitDependencies(schema: Record<string, unknown>, dependencies: JsonObject): void {
  const names: Record<string, unknown> = { ...(isObject(schema.dependentRequired) ? schema.dependentRequired : {}) };
  const schemas: Record<string, unknown> = { ...(isObject(schema.dependentSchemas) ? schema.dependentSchemas : {}) };
  for (const [key, value] of Object.entries(dependencies)) set(Array.isArray(value) ? names : schemas, key, value);
  delete schema.dependencies;
  if (Object.keys(names).length > 0) schema.dependentRequired = names;
  if (Object.keys(schemas).length > 0) schema.dependentSchemas = schemas;
}
