/**
 * Time arguments under `asOf`: a tool must not be asked about a later time than the session's own. Decision 33.
 * A time argument is whatever a schema gives `format: "date-time" | "date"` or `x-bdk-time: true`, at any depth: in
 * objects, lists and maps, behind `$ref`, and in the alternatives of a union that fit what was given.
 */
import { isCalendarDay, isInstant } from "../session/as-of.js";

type Fields = Readonly<Record<string, unknown>>;

/** Why a call may not run in a session that is frozen at `asOf`; `undefined` when it may. */
export function checkTimes(schema: unknown, input: unknown, asOf: string): string | undefined {
  const problems: string[] = [];
  const look = (times: unknown, value: unknown, path: string, behind: readonly Step[]): void => {
    const declared = resolve(times, schema);
    // A schema that names itself goes on only as far as there is something more to look at.
    const isSeen = (step: Step) => step.declared === declared && (value === undefined || step.value === value);
    if (!isFields(declared) || behind.some(isSeen)) return;
    const seen = [...behind, { declared, value }];
    if (path !== "" && isTime(declared)) {
      const problem = problemOf(value, asOf);
      if (problem !== undefined) problems.push(`${path} ${problem}`);
      return;
    }
    for (const each of listOf(declared.allOf)) look(each, value, path, seen);
    for (const each of alternatives(declared, value, schema)) look(each, value, path, seen);
    for (const [part, of, at] of partsOf(declared, value)) look(part, of, path === "" ? at : `${path}.${at}`, seen);
  };
  look(schema, input, "", []);
  if (problems.length === 0) return undefined;
  const told = [...new Set(problems)].join("; ");
  return `This session is frozen at ${asOf}: ${told}. Give an absolute ISO-8601 time no later than that.`;
}

interface Step {
  readonly declared: Fields;
  readonly value: unknown;
}

function isTime({ format, "x-bdk-time": isMarked }: Fields): boolean {
  return isMarked === true || format === "date-time" || format === "date";
}

function problemOf(value: unknown, asOf: string): string | undefined {
  if (value === undefined || value === null) return "is left out";
  if (typeof value !== "string" || !(isInstant(value) || isCalendarDay(value))) return "is not an absolute time";
  return Date.parse(value) > Date.parse(asOf) ? `(${value}) is later` : undefined;
}

/** What a value consists of, each with the schema that is meant for it and its place. */
function* partsOf(schema: Fields, value: unknown): Iterable<readonly [schema: unknown, value: unknown, at: string]> {
  if (Array.isArray(value)) {
    const first = listOf(schema.prefixItems);
    for (const [at, item] of value.entries()) yield [first[at] ?? schema.items, item, String(at)];
    return;
  }
  const properties = isFields(schema.properties) ? schema.properties : {};
  const given = isFields(value) ? value : {};
  for (const [name, property] of Object.entries(properties)) {
    yield [property, Object.hasOwn(given, name) ? given[name] : undefined, name];
  }
  for (const [name, item] of Object.entries(given)) {
    if (!Object.hasOwn(properties, name)) yield [schema.additionalProperties, item, name];
  }
}

/** The alternatives of a union that the value may be of; of nothing given, those that are a time by themselves. */
function alternatives(schema: Fields, value: unknown, root: unknown): readonly Fields[] {
  const all = [...listOf(schema.anyOf), ...listOf(schema.oneOf)]
    .map((each) => resolve(each, root))
    .filter(isFields)
    .filter(({ type }) => type !== "null");
  if (all.length < 2) return all;
  const isGiven = typeof value === "object" && value !== null;
  return all.filter((each) => (isTime(each) ? !isGiven : isGiven && fits(each, value as Fields, root)));
}

/** Whether an object may be of a schema, by what is required and what is fixed. */
function fits({ properties, required }: Fields, value: Fields, root: unknown): boolean {
  if (listOf(required).some((name) => typeof name === "string" && !Object.hasOwn(value, name))) return false;
  return Object.entries(isFields(properties) ? properties : {}).every(([name, declared]) => {
    const property = resolve(declared, root);
    return !isFields(property) || !("const" in property) || property.const === value[name];
  });
}

/** Follows references within the schema: `#`, `#/$defs/Name`. */
function resolve(schema: unknown, root: unknown): unknown {
  let found = schema;
  for (let hops = 0; hops < 16 && isFields(found) && typeof found.$ref === "string"; hops += 1) {
    found = pointed(found.$ref, root);
  }
  return found;
}

function pointed(reference: string, root: unknown): unknown {
  if (!reference.startsWith("#")) return undefined;
  return reference
    .split("/")
    .slice(1)
    .reduce<unknown>((at, part) => {
      const name = decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
      return typeof at === "object" && at !== null && Object.hasOwn(at, name) ? (at as Fields)[name] : undefined;
    }, root);
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
