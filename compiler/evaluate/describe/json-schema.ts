import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { Problem } from "../protocol.js";

const options = { strict: false, allErrors: true, validateFormats: false, logger: false } as const;

/** Compiles a plain JSON Schema as the runtime will, to find what is wrong with it. */
export function checkJsonSchema(given: object, field: string): readonly Problem[] {
  const { $schema, ...schema } = given as { readonly $schema?: unknown; readonly [word: string]: unknown };
  const dialect = dialectOf($schema, schema);
  if (dialect === undefined) {
    return [
      {
        code: "badJsonSchema",
        path: `${field}.$schema`,
        message: `${field}.$schema names ${JSON.stringify($schema)}, by which input can't be checked`,
        help: "write the schema in draft 2020-12 or draft-07, or leave $schema out",
      },
    ];
  }
  const ajv = dialect === "2020-12" ? new Ajv2020(options) : new Ajv(options);
  if (!ajv.validateSchema(schema)) {
    // Where one of several forms would do, ajv also says that none of them did, once for each.
    const byPlace = new Map((ajv.errors ?? []).map((error) => [error.instancePath, error]));
    for (const error of ajv.errors ?? []) if (error.keyword === "enum") byPlace.set(error.instancePath, error);
    return [...byPlace.values()].slice(0, 5).map(({ instancePath, message = "is not valid" }) => {
      const inner = instancePath.split("/").filter(Boolean).join(".");
      const path = inner === "" ? field : `${field}.${inner}`;
      return {
        code: "badJsonSchema",
        path,
        message: `${path} ${message}`,
        help: "see https://json-schema.org/understanding-json-schema",
      };
    });
  }
  try {
    ajv.compile(schema);
    return [];
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return [{ code: "badJsonSchema", path: field, message: `${field}: ${reason}` }];
  }
}

/** What the schema says that it is, else what its words say; `undefined` for what neither the runtime nor we can read. */
function dialectOf(named: unknown, schema: object): "draft-07" | "2020-12" | undefined {
  if (named === undefined || named === "") {
    return /"(?:\$defs|prefixItems|unevaluatedProperties)":/.test(JSON.stringify(schema)) ? "2020-12" : "draft-07";
  }
  const [, older, recent] =
    /^https?:\/\/json-schema\.org\/(?:(draft-0[67])|draft\/(20\d\d-\d\d))\/schema#?$/.exec(String(named)) ?? [];
  if (older !== undefined) return "draft-07";
  return recent === "2019-09" || recent === "2020-12" ? "2020-12" : undefined;
}
