import { type Finding, sides } from "../change.js";
import { kindOf } from "../rule.js";
import { compareSchemas, type Use } from "../schema/compare.js";

type JsonSchema = Readonly<Record<string, unknown>> | undefined;

/** A JSON Schema as its callers feel it; an absent one promises nothing and demands nothing. */
export function schema(use: Use) {
  return (before: JsonSchema, after: JsonSchema, { path }: { readonly path: string }): Finding[] => {
    if (before !== undefined && after !== undefined) return compareSchemas(before, after, use, path);
    const gained = after !== undefined;
    const level = gained === (use === "input") ? "breaking" : "compatible";
    const message = `${use} ${gained ? "now has a schema" : "is no longer described"}`;
    return [{ path, kind: kindOf(before, after), level, message, ...sides(before, after) }];
  };
}
