import type { Finding } from "../change.js";
import { compareSchemas, type Use } from "../schema/compare.js";

type JsonSchema = Readonly<Record<string, unknown>> | undefined;

/** A JSON Schema as its callers feel it; an absent one promises and demands nothing. */
export function schema(use: Use) {
  return (before: JsonSchema, after: JsonSchema, { path }: { readonly path: string }): Finding[] =>
    compareSchemas(before ?? true, after ?? true, use, path);
}
