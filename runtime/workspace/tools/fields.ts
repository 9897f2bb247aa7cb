import type { JsonObject } from "../../session/event.js";

/** One argument of a tool: how the model is told of it, and how it is checked. */
export interface Field<T> {
  readonly schema: JsonObject;
  readonly isOptional: boolean;
  /** What is wrong with a value; `undefined` when it will do. */
  readonly problem: (value: unknown) => string | undefined;
  /** Carries the type; never read. */
  readonly type?: T;
}

type Fields = Readonly<Record<string, Field<unknown>>>;
type Value<F> = F extends Field<infer T> ? T : never;

/** The input that a set of fields describes. */
export type InputOf<F extends Fields> = { readonly [K in keyof F]: Value<F[K]> };

/** What is wrong with an input, argument by argument. */
export type Problems = readonly { readonly path: string; readonly message: string }[];

const atLeastOne = (value: unknown) => typeof value === "string" && value !== "";

/** A text that isn't empty. */
export const text = (description: string): Field<string> => ({
  schema: { type: "string", minLength: 1, description },
  isOptional: false,
  problem: (value) => (atLeastOne(value) ? undefined : "must be a text that is not empty"),
});

/** A text that may be empty. */
export const anyText = (description: string): Field<string> => ({
  schema: { type: "string", description },
  isOptional: false,
  problem: (value) => (typeof value === "string" ? undefined : "must be a text"),
});

/** A whole number in a range. */
export const integer = (description: string, minimum: number, maximum: number): Field<number> => ({
  schema: { type: "integer", minimum, maximum, description },
  isOptional: false,
  problem: (value) =>
    Number.isInteger(value) && Number(value) >= minimum && Number(value) <= maximum
      ? undefined
      : `must be a whole number from ${minimum} to ${maximum}`,
});

export const flag = (description: string): Field<boolean> => ({
  schema: { type: "boolean", description },
  isOptional: false,
  problem: (value) => (typeof value === "boolean" ? undefined : "must be true or false"),
});

/** A text out of a list, each with what it stands for told in `description`. */
export const choice = (description: string, values: readonly string[]): Field<string> => ({
  schema: { type: "string", enum: values, description },
  isOptional: false,
  problem: (value) => (values.some((each) => each === value) ? undefined : `must be one of ${values.join(", ")}`),
});

/** Models write `null` for what they leave out. */
export const optional = <T>(field: Field<T>): Field<T | undefined> => ({
  schema: field.schema,
  isOptional: true,
  problem: (value) => (value === undefined || value === null ? undefined : field.problem(value)),
});

/** The JSON Schema of an input. */
export function schemaOf(fields: Fields): JsonObject {
  const properties = Object.fromEntries(Object.entries(fields).map(([name, { schema }]) => [name, schema]));
  const required = Object.entries(fields).flatMap(([name, { isOptional }]) => (isOptional ? [] : [name]));
  return { type: "object", properties, required, additionalProperties: false };
}

/** The input as its fields type it, or what is wrong with it. */
export function readInput<F extends Fields>(
  fields: F,
  input: unknown,
): { readonly value: InputOf<F> } | { readonly issues: Problems } {
  if (typeof input !== "object" || input === null || Array.isArray(input)) {
    return { issues: [{ path: "", message: "must be an object" }] };
  }
  const given = input as Readonly<Record<string, unknown>>;
  const issues = Object.entries(fields).flatMap(([path, field]) => {
    const value = Object.hasOwn(given, path) ? given[path] : undefined;
    if (value === undefined && !field.isOptional) return [{ path, message: "is required" }];
    const message = field.problem(value);
    return message === undefined ? [] : [{ path, message }];
  });
  for (const path of Object.keys(given)) {
    if (!Object.hasOwn(fields, path)) {
      issues.push({ path, message: `is not known; there are ${Object.keys(fields).join(", ")}` });
    }
  }
  if (issues.length > 0) return { issues };
  const value = Object.fromEntries(Object.keys(fields).map((name) => [name, given[name] ?? undefined]));
  return { value: value as InputOf<F> };
}
