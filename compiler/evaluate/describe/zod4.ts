import { toJSONSchema } from "zod/v4/core";
import type { Problem } from "../protocol.js";
import { type DescribedSchema, type Direction, plain, stable, unsayable } from "./schema.js";

const noJson = new Set(["bigint", "symbol", "map", "set", "nan", "function", "promise"]);

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
