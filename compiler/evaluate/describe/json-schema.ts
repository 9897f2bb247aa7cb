import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { Problem } from "../protocol.js";

const options = { strict: false, allErrors: true, validateFormats: false, logger: false } as const;

/** Compiles a plain JSON Schema as the runtime will, to find what is wrong with it. */
export function checkJsonSchema(schema: object, field: string): readonly Problem[] {
  const words = JSON.stringify(schema);
  const recent =
    /"\$schema":"[^"]*20(?:19-09|20-12)/.test(words) || /"(?:\$defs|prefixItems|unevaluatedProperties)":/.test(words);
  const ajv = recent ? new Ajv2020(options) : new Ajv(options);
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
