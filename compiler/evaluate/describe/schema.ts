/**
 * The JSON Schema of whatever an author gave: `~standard.jsonSchema`, zod 4, zod 3, or JSON Schema itself.
 * Sources of the rule: decision 3, `standards.md` (Schemas).
 */
import type { Problem } from "../protocol.js";
import { isObject } from "./shape.js";

export interface DescribedSchema {
  readonly schema: Readonly<Record<string, unknown>>;
  /** `json-schema` is checked by ajv at run time, `standard` by the schema's own validator. */
  readonly validates: "standard" | "json-schema" | "none";
  readonly problems: readonly Problem[];
}

export type Direction = "input" | "output";

type JsonSchema = Record<string, unknown>;

/**
 * Reads a schema. `field` names where it stands (`inputSchema`); an absent one takes any object. One that takes anything
 * (`z.unknown()`) takes any object where only objects can be given (`of: "fields"`), and is `{}` elsewhere.
 */
export async function describeSchema(
  value: unknown,
  field: string,
  direction: Direction,
  of: "fields" | "value" = "fields",
): Promise<DescribedSchema> {
  if (value === undefined || value === null) return { schema: { type: "object" }, validates: "none", problems: [] };
  const standard = standardOf(value);
  const found =
    standard === undefined ? await readPlain(value, field) : await readStandard(value, standard, field, direction, of);
  const { $schema, ...schema } = found.schema;
  // Libraries all say the same dialect; an author who names one means it, and has it checked as that.
  const dialect = found.validates === "json-schema" && typeof $schema === "string" ? { $schema } : {};
  const settled = of === "value" && Object.keys(schema).length === 0 ? schema : settle(schema);
  return { ...found, schema: { ...dialect, ...settled } };
}

interface Standard {
  readonly vendor: string;
  readonly jsonSchema?: Readonly<Record<Direction, (options: { readonly target: string }) => unknown>>;
}

function standardOf(value: unknown): Standard | undefined {
  if (typeof value !== "object" && typeof value !== "function") return undefined;
  const standard: unknown = value === null ? undefined : Reflect.get(value, "~standard");
  if (!isObject(standard)) return undefined;
  return {
    vendor: String(standard.vendor),
    ...(isObject(standard.jsonSchema) ? { jsonSchema: standard.jsonSchema as never } : {}),
  };
}

async function readStandard(
  value: unknown,
  standard: Standard,
  field: string,
  direction: Direction,
  of: "fields" | "value",
): Promise<DescribedSchema> {
  const said = say(standard, direction);
  if (said !== undefined)
    return stable({ schema: said, validates: "standard", problems: [] }, () => say(standard, direction));
  if (isObject(value) && "_zod" in value) {
    const { describeZod4 } = await import("./zod4.js");
    return readable(value, field, () => describeZod4(value, field, direction));
  }
  if (isObject(value) && "_def" in value && standard.vendor === "zod") {
    const { describeZod3 } = await import("./zod3.js");
    return readable(value, field, () => describeZod3(value, field, direction));
  }
  const told = of === "value" ? "nothing is told of what it takes" : "the model is told only that it takes an object";
  return {
    schema: of === "value" ? {} : { type: "object" },
    validates: "standard",
    problems: [
      {
        code: "unknownSchema",
        severity: "warning",
        path: field,
        message: `${field}: a schema of "${standard.vendor}" can't say its JSON Schema, so ${told}`,
        help: "use zod, or a library that implements Standard JSON Schema",
      },
    ],
  };
}

/** What zod's converter says, or why it can't read the schema: it throws for what is no schema within one. */
async function readable(value: object, field: string, read: () => DescribedSchema): Promise<DescribedSchema> {
  const { strangers } = await import("./strangers.js");
  const unreadable = (problems: readonly Problem[]): DescribedSchema => ({
    schema: { type: "object" },
    validates: "standard",
    problems,
  });
  try {
    const problems = strangers(value, field);
    return problems.length > 0 ? unreadable(problems) : read();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return unreadable([
      {
        code: "unknownSchema",
        path: field,
        message: `${field}: its JSON Schema can't be made: ${reason}`,
        help: "look for a default that JSON can't carry, or a lazy schema that yields none",
      },
    ]);
  }
}

/** What the schema's own library says; `undefined` when it can't, which another reader may explain better. */
function say({ jsonSchema }: Standard, direction: Direction): JsonSchema | undefined {
  try {
    const said = jsonSchema?.[direction]({ target: "draft-2020-12" });
    if (!isObject(said) || Object.keys(said).length === 0) return undefined;
    const schema = plain(said);
    // As zod says z.file(): nobody can send one, which its reader tells.
    return JSON.stringify(schema).includes('"contentEncoding":"binary"') ? undefined : schema;
  } catch (error) {
    // Libraries throw for whatever JSON Schema has no word for: the reader of that library names the field.
    if (error instanceof Error) return undefined;
    throw error;
  }
}

async function readPlain(value: unknown, field: string): Promise<DescribedSchema> {
  if (!isObject(value)) {
    return {
      schema: { type: "object" },
      validates: "none",
      problems: [
        {
          code: "unknownSchema",
          path: field,
          message: `${field}: expected a zod schema, another Standard Schema or a JSON Schema object, found ${typeof value}`,
          help: "for example z.object({ id: z.string() })",
        },
      ],
    };
  }
  const { checkJsonSchema } = await import("./json-schema.js");
  return { schema: plain(value), validates: "json-schema", problems: checkJsonSchema(value, field) };
}

/** Defaults that are made anew each time (`new Date()`, ids) would differ between two builds of the same code. */
export function stable(described: DescribedSchema, again: () => JsonSchema | undefined): DescribedSchema {
  const first = JSON.stringify(described.schema);
  if (!mayVary.test(first) || first === JSON.stringify(again())) return described;
  return { ...described, schema: withoutDefaults(described.schema) as JsonSchema };
}

/** A default that could come from the clock or from chance: long text with digits, a large or a fractional number. */
const mayVary = /"default":(?:"(?=[^"]{8})[^"]*\d|-?(?:\d{6}|\d*\.\d)|[[{])/;

function withoutDefaults(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDefaults);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => key !== "default")
      .map(([key, inner]) => [key, withoutDefaults(inner)]),
  );
}

/** Alternatives that are all objects make an object, which is what callers look for first. */
function settle(schema: JsonSchema): JsonSchema {
  return schema.type === undefined && isObjectLike(schema, schema) ? { type: "object", ...schema } : schema;
}

function isObjectLike(schema: unknown, root: JsonSchema, depth = 0): boolean {
  if (!isObject(schema) || depth > 8) return false;
  if (schema.type === "object") return true;
  if (Object.keys(schema).length === 0) return depth === 0;
  if (typeof schema.$ref === "string") return isObjectLike(resolveRef(schema.$ref, root), root, depth + 1);
  const some = [schema.allOf].filter(Array.isArray).flat();
  if (some.length > 0) return some.some((each) => isObjectLike(each, root, depth + 1));
  const every = [schema.anyOf, schema.oneOf].filter(Array.isArray).flat();
  return every.length > 0 && every.every((each) => isObjectLike(each, root, depth + 1));
}

function resolveRef(ref: string, root: JsonSchema): unknown {
  if (!ref.startsWith("#")) return undefined;
  let current: unknown = root;
  for (const part of ref.slice(1).split("/").filter(Boolean)) {
    current = isObject(current) ? current[part.replaceAll("~1", "/").replaceAll("~0", "~")] : undefined;
  }
  return current;
}

/** Only what JSON keeps. */
export function plain(value: unknown): JsonSchema {
  return JSON.parse(JSON.stringify(value)) as JsonSchema;
}

/** `["properties","when","items"]` → `when[]`, as a person would write it. */
export function fieldPath(path: readonly PropertyKey[]): string {
  let result = "";
  for (let index = 0; index < path.length; index += 1) {
    const part = path[index];
    if (part === "properties") {
      index += 1;
      result += `${result === "" ? "" : "."}${String(path[index])}`;
    } else if (part === "items" || part === "prefixItems") {
      result += "[]";
    }
  }
  return result;
}

/** A type that no JSON value has. */
export function unsayable(field: string, path: readonly PropertyKey[], type: string, direction: Direction): Problem {
  const inner = fieldPath(path);
  const where = inner === "" ? field : `${field}.${inner}`;
  const alternative = path.some((part) => part === "anyOf" || part === "oneOf");
  const help = alternatives[type] ?? "use a type that JSON has, and convert it in execute";
  return {
    code: "unsayableSchema",
    path: where,
    message: `${where} is ${articled(type)}, which no JSON value is`,
    help,
    // Another alternative may still be met, and an output is turned to JSON anyway.
    ...(alternative || direction === "output" ? { severity: "warning" as const } : {}),
  };
}

const alternatives: Readonly<Record<string, string>> = {
  date: "use z.coerce.date() or z.iso.datetime(), which take an ISO string",
  bigint: "use z.coerce.bigint(), or z.string() with a check",
  map: "use z.record(z.string(), …)",
  set: "use z.array(…)",
};

function articled(type: string): string {
  return `${/^[aeiou]/.test(type) ? "an" : "a"} ${type}`;
}
