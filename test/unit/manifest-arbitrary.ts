import fc from "fast-check";
import type * as z from "zod/v4";
import { type Manifest, manifest } from "../../runtime/manifest/schema.js";

const word = fc.constantFrom("alpha", "beta", "gamma", "delta", "tool:ci__log", "a/b.md", "read\nme\n", "");
const jsonSchema = fc.letrec<{ schema: Record<string, unknown>; leaf: Record<string, unknown> }>((tie) => ({
  leaf: fc.oneof(
    fc.record({ type: fc.constantFrom("string", "number", "integer", "boolean", "null") }),
    fc.record({ type: fc.constant("string"), maxLength: fc.nat(9), description: word }, { requiredKeys: ["type"] }),
    fc.record({ enum: fc.uniqueArray(fc.constantFrom("a", "b", "c"), { minLength: 1 }) }),
    fc.record({ $ref: fc.constant("#/$defs/shared") }),
  ),
  schema: fc.oneof(
    { depthSize: "small" },
    tie("leaf"),
    fc.record({
      type: fc.constant("object"),
      properties: fc.dictionary(fc.constantFrom("x", "y", "z"), tie("schema"), { maxKeys: 3 }),
      required: fc.uniqueArray(fc.constantFrom("x", "y"), { maxLength: 2 }),
      additionalProperties: fc.boolean(),
    }),
    fc.record({ type: fc.constant("array"), items: tie("schema"), minItems: fc.nat(3) }),
    fc.record({ anyOf: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }) }),
    fc.record({ "x-note": word, madeUp: fc.nat(2) }),
  ),
})).schema;
const schemaDocument = fc
  .tuple(jsonSchema, fc.constantFrom({ type: "string" }, { type: "number" }))
  .map(([schema, shared]) => ({
    ...schema,
    $defs: { shared },
  }));

function draw(type: z.core.$ZodType): fc.Arbitrary<unknown> {
  const { def } = (type as z.ZodType)._zod as unknown as { def: Definition };
  switch (def.type) {
    case "object": {
      const entries = Object.entries(def.shape);
      const requiredKeys = entries.filter(([, field]) => !isOptional(field)).map(([key]) => key);
      return fc.record(Object.fromEntries(entries.map(([key, field]) => [key, draw(field)])), { requiredKeys });
    }
    case "optional":
      return draw(def.innerType);
    case "array":
      return fc.array(draw(def.element), { maxLength: 3 });
    case "union":
      return fc.oneof(...def.options.map(draw));
    case "enum":
      return fc.constantFrom(...Object.values(def.entries));
    case "literal":
      return fc.constantFrom(...def.values);
    case "record":
      return schemaDocument;
    case "string":
      return word;
    case "number":
      return fc.integer({ min: 1, max: 9 });
    case "boolean":
      return fc.boolean();
    case "unknown":
      return fc.jsonValue();
  }
}

/** The parts of zod's definitions that the manifest uses; another one makes `draw` fail, loudly. */
type Definition =
  | { type: "object"; shape: Record<string, z.core.$ZodType> }
  | { type: "optional"; innerType: z.core.$ZodType }
  | { type: "array"; element: z.core.$ZodType }
  | { type: "union"; options: z.core.$ZodType[] }
  | { type: "enum"; entries: Record<string, string> }
  | { type: "literal"; values: unknown[] }
  | { type: "record" | "string" | "number" | "boolean" | "unknown" };

function isOptional(type: z.core.$ZodType): boolean {
  return ((type as z.ZodType)._zod as unknown as { def: Definition }).def.type === "optional";
}

/** Valid manifests drawn from the contract itself, so that a new field is generated as soon as it exists. */
export const anyManifest: fc.Arbitrary<Manifest> = draw(manifest).map((value) => manifest.parse(value));
