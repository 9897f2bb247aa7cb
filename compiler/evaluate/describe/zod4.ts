import { toJSONSchema } from "zod/v4/core";
import type { Problem } from "../protocol.js";
import { type DescribedSchema, type Direction, plain, stable, unsayable } from "./schema.js";
import { isObject } from "./shape.js";

const noJson = new Set(["bigint", "symbol", "map", "set", "nan", "function", "promise", "file"]);

/** A zod 4 schema that its own `~standard.jsonSchema` gave up on, or one too old to have it. */
export function describeZod4(schema: object, field: string, direction: Direction): DescribedSchema {
  const problems: Problem[] = [];
  const read = (): Record<string, unknown> => {
    problems.length = 0;
    const said = toJSONSchema(schema as Parameters<typeof toJSONSchema>[0], {
      io: direction,
      unrepresentable: "any",
      override({ zodSchema, jsonSchema, path }) {
        const def = zodSchema._zod.def as { readonly type: string; readonly coerce?: boolean };
        Object.assign(jsonSchema, toldBy(zodSchema));
        if (def.type === "date") {
          Object.assign(jsonSchema, { type: "string", format: "date-time" });
          if (def.coerce !== true && direction === "input") problems.push(unsayable(field, path, "date", direction));
        } else if (def.type === "bigint" && def.coerce === true) {
          Object.assign(jsonSchema, { type: ["integer", "string"] });
        } else if (noJson.has(def.type)) {
          problems.push(unsayable(field, path, def.type, direction));
        }
      },
    });
    return plain(said);
  };
  return stable({ schema: read(), validates: "standard", problems }, read);
}

/**
 * Description, title and examples of a schema, by its own account: before 4.1 every copy of zod has a registry to
 * itself, which the converter of another copy knows nothing of.
 */
function toldBy(schema: object): Readonly<Record<string, unknown>> {
  const meta: unknown = Reflect.get(schema, "meta");
  const said: unknown = typeof meta === "function" ? meta.call(schema) : undefined;
  if (!isObject(said)) return {};
  const { id: _, ...told } = said;
  return told;
}
