import { canonical, equal, isObject, type JsonObject, own } from "../json.js";
import { annotations, asArray, flatten } from "./flatten.js";
import type { Scope } from "./scope.js";

/**
 * One way for a value to be valid: a single JSON type with its own keywords. A schema is the union of its branches,
 * so `{ type: ["string", "null"] }`, `{ anyOf: [{ type: "string" }, { type: "null" }] }` and `nullable` look alike.
 */
export interface Branch {
  readonly type: BranchType;
  /** For `number`: whole numbers only. */
  readonly integer: boolean;
  /** The only values it takes (`enum`, `const`), when it lists them. */
  readonly values?: readonly unknown[];
  /** Everything else that the type gives a meaning to, annotations included. */
  readonly keywords: JsonObject;
}

export type BranchType = "any" | "array" | "boolean" | "null" | "number" | "object" | "string";

export interface Branches {
  readonly list: readonly Branch[];
  /** `oneOf`: a value may match one branch only. */
  readonly exclusive: boolean;
  /** Annotations of the union itself; empty when there is one branch, which carries them. */
  readonly annotations: JsonObject;
}

/** Nesting at which a schema is taken as it is written. */
const maxUnionDepth = 12;

export function branchesOf(schema: unknown, scope: Scope): Branches {
  const flat = flatten(schema, scope);
  if (flat === false) return { list: [], exclusive: false, annotations: {} };
  const list = join(expand(flat, scope, 0));
  const outer = hasUnion(flat) && list.length > 1;
  return {
    list,
    exclusive: Array.isArray(own(flat, "oneOf")) && own(flat, "anyOf") === undefined,
    annotations: outer ? pick(flat, (key) => annotations.has(key)) : {},
  };
}

function hasUnion(flat: JsonObject): boolean {
  return Array.isArray(own(flat, "anyOf")) || Array.isArray(own(flat, "oneOf"));
}

function expand(flat: JsonObject, scope: Scope, depth: number): Branch[] {
  const key = Array.isArray(own(flat, "anyOf")) ? "anyOf" : "oneOf";
  const alternatives = own(flat, key);
  if (!Array.isArray(alternatives) || depth > maxUnionDepth) return split(flat);
  const base = pick(flat, (name) => name !== key);
  const constraints = pick(base, (name) => !annotations.has(name));
  // A lone alternative keeps the union's own description; several have their own.
  const shared = alternatives.length === 1 ? base : constraints;
  return alternatives.flatMap((alternative) => {
    const each = flatten({ allOf: [alternative, shared] }, scope);
    return each === false ? [] : expand(each, scope, depth + 1);
  });
}

/** One branch a type. */
function split(flat: JsonObject): Branch[] {
  const { type, enum: values, ...keywords } = flat;
  const types = type === undefined ? undefined : asArray(type).map(String);
  if (Array.isArray(values)) return splitValues(values, types, keywords);
  if (types === undefined) return [{ type: "any", integer: false, keywords }];
  const names = [...new Set(types.map((name) => (name === "integer" ? "number" : name)))];
  return names.map((name) => {
    const known = branchTypes.find((each) => each === name) ?? "any";
    return { type: known, integer: known === "number" && !types.includes("number"), keywords: meant(known, keywords) };
  });
}

const branchTypes: readonly BranchType[] = ["any", "array", "boolean", "null", "number", "object", "string"];

function splitValues(values: readonly unknown[], types: readonly string[] | undefined, keywords: JsonObject): Branch[] {
  const byType = new Map<BranchType, unknown[]>();
  for (const value of values) {
    const type = typeOf(value);
    const integer = type === "number" && Number.isInteger(value);
    if (types !== undefined && !types.includes(type) && !(integer && types.includes("integer"))) continue;
    byType.set(type, [...(byType.get(type) ?? []), value]);
  }
  return [...byType].map(([type, listed]) => branchOfValues(type, listed, meant(type, keywords)));
}

function branchOfValues(type: BranchType, listed: readonly unknown[], keywords: JsonObject): Branch {
  const values = [...new Map(listed.map((value) => [canonical(value), value])).values()];
  const all = type === "null" || (type === "boolean" && values.length === 2);
  return { type, integer: false, ...(all ? {} : { values }), keywords };
}

function typeOf(value: unknown): BranchType {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  const type = typeof value;
  return type === "string" || type === "number" || type === "boolean" ? type : "object";
}

/** Which type gives a keyword its meaning; the rest count for every type. */
const typeOfKeyword: ReadonlyMap<string, BranchType> = new Map([
  ...["minLength", "maxLength", "pattern", "contentEncoding", "contentMediaType"].map(
    (key) => [key, "string"] as const,
  ),
  ...["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"].map(
    (key) => [key, "number"] as const,
  ),
  ...["items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains", "minContains", "maxContains"].map(
    (key) => [key, "array"] as const,
  ),
  ...["properties", "required", "additionalProperties", "patternProperties", "propertyNames", "minProperties"].map(
    (key) => [key, "object"] as const,
  ),
  ...["maxProperties", "dependentRequired", "dependentSchemas", "unevaluatedProperties"].map(
    (key) => [key, "object"] as const,
  ),
]);

function meant(type: BranchType, keywords: JsonObject): JsonObject {
  return type === "any" ? keywords : pick(keywords, (key) => (typeOfKeyword.get(key) ?? type) === type);
}

/** Branches that only list values of one type are one branch, and equal ones are one. */
function join(branches: readonly Branch[]): Branch[] {
  const joined: Branch[] = [];
  for (const branch of branches) {
    const at = joined.findIndex(
      (other) => equal(other, branch) || (listsOnly(other) && listsOnly(branch) && other.type === branch.type),
    );
    const other = joined[at];
    if (other === undefined) joined.push(branch);
    else if (!equal(other, branch))
      joined[at] = branchOfValues(other.type, [...valuesOf(other), ...valuesOf(branch)], {});
  }
  return joined;
}

function listsOnly(branch: Branch): boolean {
  return branch.values !== undefined && Object.keys(branch.keywords).every((key) => annotations.has(key));
}

function valuesOf(branch: Branch): readonly unknown[] {
  return branch.values ?? [];
}

/** True when nothing at all is refused. */
export function acceptsAll(branch: Branch): boolean {
  return branch.type === "any" && Object.keys(branch.keywords).every((key) => annotations.has(key));
}

/** Properties of object branches that each fix to one value, such as `kind` in a tagged union. */
export function tags(branches: readonly Branch[], scope: Scope): ReadonlyMap<Branch, ReadonlyMap<string, string>> {
  const result = new Map<Branch, ReadonlyMap<string, string>>();
  for (const branch of branches) {
    const properties = own(branch.keywords, "properties");
    if (branch.type !== "object" || !isObject(properties)) continue;
    const fixed = Object.entries(properties).flatMap(([name, schema]) => {
      const flat = flatten(schema, scope);
      const values = flat === false ? undefined : own(flat, "enum");
      return Array.isArray(values) && values.length === 1 ? [[name, canonical(values[0])] as const] : [];
    });
    result.set(branch, new Map(fixed));
  }
  return result;
}

function pick(object: JsonObject, keep: (key: string) => boolean): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => keep(key)));
}
