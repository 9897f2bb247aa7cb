/** Checks of what authors returned. Anything may come; nothing is trusted. */
import * as z from "zod/mini";
import en from "zod/v4/locales/en.js";
import type { Problem } from "../protocol.js";

z.config(en());

/** A function of any kind. */
export const callable = z.custom<(...args: never[]) => unknown>(
  (value) => typeof value === "function",
  "expected a function",
);

/** Text that says something. */
export const text = z.string().check(z.refine((value) => value.trim() !== "", "must not be empty"));

/** A time that somebody waits: what is longer than the longest timer would be over at once. */
export const milliseconds = z.number().check(z.positive(), z.maximum(2 ** 31 - 1));

/** What a description of a definition yields: facts when all is well enough, and what is wrong. */
export interface Described {
  readonly facts?: Readonly<Record<string, unknown>>;
  readonly problems: readonly Problem[];
}

/** Checks a value against a shape; each thing wrong is one problem with the field's dotted path. */
export function check<T>(
  shape: z.ZodMiniType<T>,
  value: unknown,
): { readonly data?: T; readonly problems: readonly Problem[] } {
  const result = shape.safeParse(value);
  if (result.success) return { data: result.data, problems: [] };
  return { problems: result.error.issues.map((issue) => wrongShape(issue.path.map(String).join("."), issue.message)) };
}

/** A field of the wrong shape. */
export function wrongShape(path: string, message: string, help?: string): Problem {
  const words = message.replace(/^Invalid input: /, "").replace(/^./, (first) => first.toLowerCase());
  return {
    code: "badDefinition",
    path,
    message: path === "" ? words : `${path}: ${words}`,
    ...(help === undefined ? {} : { help }),
  };
}

/** A copy without absent fields. */
export function present(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
