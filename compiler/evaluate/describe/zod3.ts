import { ignoreOverride, zodToJsonSchema } from "zod-to-json-schema";
import type { Problem } from "../protocol.js";
import { type DescribedSchema, type Direction, plain, stable, unsayable } from "./schema.js";
import { isObject } from "./shape.js";

const noJson: Readonly<Record<string, string>> = {
  ZodBigInt: "bigint",
  ZodSymbol: "symbol",
  ZodMap: "map",
  ZodSet: "set",
  ZodNaN: "nan",
  ZodFunction: "function",
  ZodPromise: "promise",
};

/** A zod 3 schema. The converter answers a schema of another version with an empty object, which is an error here. */
export function describeZod3(schema: object, field: string, direction: Direction): DescribedSchema {
  const problems: Problem[] = [];
  const read = (): Record<string, unknown> => {
    problems.length = 0;
    const strategy = direction === "input" ? "input" : "output";
    const said = zodToJsonSchema(schema as Parameters<typeof zodToJsonSchema>[0], {
      target: "jsonSchema7",
      pipeStrategy: strategy,
      effectStrategy: direction === "input" ? "input" : "any",
      override(def, refs) {
        const { typeName, coerce } = def as unknown as { readonly typeName: string; readonly coerce?: boolean };
        const path = refs.currentPath.slice(1);
        const type = typeName === "ZodDate" ? "date" : noJson[typeName];
        const taken = coerce === true || (type === "date" && direction === "output");
        if (type !== undefined && !taken) problems.push(unsayable(field, path, type, direction));
        return ignoreOverride;
      },
    });
    return recent(plain(said)) as Record<string, unknown>;
  };
  const said = read();
  const { $schema: _, ...own } = said;
  const any = (schema as { readonly _def?: { readonly typeName?: string } })._def?.typeName;
  if (Object.keys(own).length === 0 && any !== "ZodAny" && any !== "ZodUnknown") {
    problems.push({
      code: "unknownSchema",
      path: field,
      message: `${field}: this version of zod can't be read`,
      help: "use zod 3.25 or zod 4",
    });
  }
  return stable({ schema: said, validates: "standard", problems }, read);
}

/**
 * The converter writes draft-07, and whoever reads a schema without a dialect takes it for 2020-12: there a tuple's parts
 * stand in `prefixItems`. It also names a type twice where one is nullable twice, which no draft allows.
 */
function recent(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(recent);
  if (!isObject(value)) return value;
  const { items, additionalItems, ...rest } = value;
  const tuple = Array.isArray(items) ? { prefixItems: items, items: additionalItems } : { items, additionalItems };
  const entries = Object.entries({ ...rest, ...tuple }).filter(([, each]) => each !== undefined);
  return Object.fromEntries(
    entries.map(([key, each]) => {
      if (key === "default" || key === "const" || key === "enum") return [key, each];
      if (key === "type" && Array.isArray(each)) {
        const types = [...new Set(each)];
        return [key, types.length === 1 ? types[0] : types];
      }
      if (key === "$ref" && typeof each === "string") {
        return [key, each.replace(/\/items\/(\d+)/g, "/prefixItems/$1").replaceAll("/additionalItems", "/items")];
      }
      return [key, recent(each)];
    }),
  );
}
