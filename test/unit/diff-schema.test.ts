import { describe, expect, it } from "vitest";
import { compareSchemas, type Use } from "../../compiler/diff/schema/compare.js";

type Verdict = "breaking" | "risky" | "compatible";
type Row = readonly [title: string, before: unknown, after: unknown, input: Verdict, output: Verdict, path?: string];

const object = (properties: Record<string, unknown>, required: string[] = [], more: object = {}) => ({
  type: "object",
  properties,
  required,
  ...more,
});
const text = { type: "string" };
const count = { type: "number" };
const wrap = (schema: unknown) => object({ x: schema }, ["x"]);

const conditional: object = JSON.parse('{"if":{"required":["a"]},"then":{"required":["b"]}}');

/** before → after, and how grave the gravest finding is for a caller who writes it (input) and reads it (output). */
// biome-ignore format: one row a line
const rows: readonly Row[] = [
  // fields
  ["new required field", object({}), object({ a: text }, ["a"]), "breaking", "compatible", "/properties/a"],
  ["new optional field", object({}), object({ a: text }), "compatible", "compatible", "/properties/a"],
  ["field removed", object({ a: text }), object({}), "breaking", "breaking", "/properties/a"],
  ["required field removed", object({ a: text }, ["a"]), object({}), "breaking", "breaking", "/properties/a"],
  ["field becomes required", object({ a: text }), object({ a: text }, ["a"]), "breaking", "compatible", "/properties/a"],
  ["field becomes optional", object({ a: text }, ["a"]), object({ a: text }), "compatible", "breaking", "/properties/a"],
  ["required name without a schema", { type: "object" }, { type: "object", required: ["a"] }, "breaking", "compatible"],
  ["field named like a prototype member", object({}), object({ constructor: text }, ["constructor"]), "breaking", "compatible"],
  ["nested new required field", wrap(object({})), wrap(object({ a: text }, ["a"])), "breaking", "compatible", "/properties/x/properties/a"],
  // types
  ["type swapped", wrap(text), wrap(count), "breaking", "breaking", "/properties/x/type"],
  ["integer to number", wrap({ type: "integer" }), wrap(count), "compatible", "breaking", "/properties/x/type"],
  ["number to integer", wrap(count), wrap({ type: "integer" }), "breaking", "compatible", "/properties/x/type"],
  ["anything to string", wrap({}), wrap(text), "breaking", "compatible", "/properties/x/type"],
  ["string to anything", wrap(text), wrap({}), "compatible", "breaking", "/properties/x/type"],
  ["type added to a list", wrap(text), wrap({ type: ["string", "number"] }), "compatible", "breaking"],
  ["type taken from a list", wrap({ type: ["string", "number"] }), wrap(text), "breaking", "compatible"],
  ["list of types reordered", wrap({ type: ["string", "null"] }), wrap({ type: ["null", "string"] }), "compatible", "compatible"],
  ["union opened to anything", wrap({ type: ["string", "null"] }), wrap(true), "compatible", "breaking"],
  ["anything limited to a union", wrap(true), wrap({ type: ["string", "null"] }), "breaking", "compatible"],
  ["nothing to something", wrap(false), wrap(text), "compatible", "breaking"],
  // null in its spellings
  ["null allowed", wrap(text), wrap({ type: ["string", "null"] }), "compatible", "breaking"],
  ["null no longer allowed", wrap({ anyOf: [text, { type: "null" }] }), wrap(text), "breaking", "compatible"],
  ["anyOf null is a type list", wrap({ anyOf: [text, { type: "null" }] }), wrap({ type: ["string", "null"] }), "compatible", "compatible"],
  ["nullable is a type list", wrap({ type: "string", nullable: true }), wrap({ type: ["string", "null"] }), "compatible", "compatible"],
  ["nullable reference", { $defs: { A: text }, ...wrap({ $ref: "#/$defs/A" }) }, { $defs: { A: text }, ...wrap({ $ref: "#/$defs/A", nullable: true }) }, "compatible", "breaking"],
  ["narrowed beside null", wrap({ type: ["string", "null"] }), wrap({ type: ["string", "null"], maxLength: 3 }), "breaking", "compatible", "/properties/x/maxLength"],
  // enum and const
  ["value removed", wrap({ enum: ["a", "b"] }), wrap({ enum: ["a"] }), "breaking", "compatible", "/properties/x/enum"],
  ["value added", wrap({ enum: ["a"] }), wrap({ enum: ["a", "b"] }), "compatible", "breaking", "/properties/x/enum"],
  ["value replaced", wrap({ enum: ["a"] }), wrap({ enum: ["b"] }), "breaking", "breaking"],
  ["enum from open string", wrap(text), wrap({ type: "string", enum: ["a"] }), "breaking", "compatible", "/properties/x/enum"],
  ["enum opened", wrap({ enum: ["a", "b"] }), wrap(text), "compatible", "breaking"],
  ["const is an enum of one", wrap({ const: "a" }), wrap({ type: "string", enum: ["a"] }), "compatible", "compatible"],
  ["literals in anyOf are an enum", wrap({ anyOf: [{ const: "a" }, { const: "b" }] }), wrap({ enum: ["b", "a"] }), "compatible", "compatible"],
  ["const changed", wrap({ const: 1 }), wrap({ const: 2 }), "breaking", "breaking"],
  ["both booleans are the type", wrap({ enum: [true, false] }), wrap({ type: "boolean" }), "compatible", "compatible"],
  ["boolean pinned", wrap({ type: "boolean" }), wrap({ const: true }), "breaking", "compatible"],
  // bounds
  ["minLength raised", wrap(text), wrap({ type: "string", minLength: 1 }), "breaking", "compatible", "/properties/x/minLength"],
  ["minLength 0 says nothing", wrap(text), wrap({ type: "string", minLength: 0 }), "compatible", "compatible"],
  ["maxLength lowered", wrap({ type: "string", maxLength: 9 }), wrap({ type: "string", maxLength: 5 }), "breaking", "compatible"],
  ["maxLength gone", wrap({ type: "string", maxLength: 9 }), wrap(text), "compatible", "breaking"],
  ["minimum raised", wrap({ type: "number", minimum: 0 }), wrap({ type: "number", minimum: 1 }), "breaking", "compatible", "/properties/x/minimum"],
  ["maximum raised", wrap({ type: "number", maximum: 1 }), wrap({ type: "number", maximum: 2 }), "compatible", "breaking"],
  ["minimum becomes exclusive", wrap({ type: "number", minimum: 0 }), wrap({ type: "number", exclusiveMinimum: 0 }), "breaking", "compatible"],
  ["integer > 0 is ≥ 1", wrap({ type: "integer", exclusiveMinimum: 0 }), wrap({ type: "integer", minimum: 1 }), "compatible", "compatible"],
  ["draft 4 exclusiveMinimum", wrap({ type: "number", minimum: 0, exclusiveMinimum: true }), wrap({ type: "number", exclusiveMinimum: 0 }), "compatible", "compatible"],
  ["safe integers are integers", wrap({ type: "integer" }), wrap({ type: "integer", minimum: -9007199254740991, maximum: 9007199254740991 }), "compatible", "compatible"],
  ["multipleOf coarser", wrap({ type: "number", multipleOf: 2 }), wrap({ type: "number", multipleOf: 4 }), "breaking", "compatible"],
  ["multipleOf finer", wrap({ type: "number", multipleOf: 0.5 }), wrap({ type: "number", multipleOf: 0.25 }), "compatible", "breaking"],
  ["multipleOf other", wrap({ type: "number", multipleOf: 2 }), wrap({ type: "number", multipleOf: 3 }), "breaking", "breaking"],
  ["minItems raised", wrap({ type: "array", minItems: 1 }), wrap({ type: "array", minItems: 2 }), "breaking", "compatible"],
  ["uniqueItems", wrap({ type: "array" }), wrap({ type: "array", uniqueItems: true }), "breaking", "compatible"],
  ["maxProperties", { type: "object" }, { type: "object", maxProperties: 1 }, "breaking", "compatible"],
  // text checks
  ["pattern added", wrap(text), wrap({ type: "string", pattern: "^a" }), "breaking", "compatible"],
  ["pattern removed", wrap({ type: "string", pattern: "^a" }), wrap(text), "compatible", "breaking"],
  ["pattern replaced", wrap({ type: "string", pattern: "^a" }), wrap({ type: "string", pattern: "^b" }), "breaking", "breaking"],
  ["format added", wrap(text), wrap({ type: "string", format: "email" }), "breaking", "compatible"],
  ["format replaced", wrap({ type: "string", format: "date" }), wrap({ type: "string", format: "email" }), "breaking", "breaking"],
  ["format widened", wrap({ type: "string", format: "uri" }), wrap({ type: "string", format: "uri-reference" }), "compatible", "breaking"],
  ["format narrowed", wrap({ type: "string", format: "uri-reference" }), wrap({ type: "string", format: "uri" }), "breaking", "compatible"],
  ["a bound of another type says nothing", wrap(text), wrap({ type: "string", minimum: 3 }), "compatible", "compatible"],
  ["contentEncoding", wrap({ type: "string", contentEncoding: "base64" }), wrap({ type: "string", contentEncoding: "base32" }), "breaking", "breaking"],
  // open and closed objects
  ["object closed", object({}), object({}, [], { additionalProperties: false }), "breaking", "compatible", "/additionalProperties"],
  ["object opened", object({}, [], { additionalProperties: false }), object({}), "compatible", "compatible"],
  ["additionalProperties: true is the default", object({}), object({}, [], { additionalProperties: true }), "compatible", "compatible"],
  ["record values narrowed", { type: "object", additionalProperties: {} }, { type: "object", additionalProperties: text }, "breaking", "compatible"],
  ["record values widened", { type: "object", additionalProperties: { enum: ["a"] } }, { type: "object", additionalProperties: text }, "compatible", "breaking"],
  ["record closed", { type: "object", additionalProperties: text }, { type: "object", additionalProperties: false }, "breaking", "breaking"],
  ["patternProperties narrowed", { type: "object", patternProperties: { "^a": {} } }, { type: "object", patternProperties: { "^a": text } }, "breaking", "compatible"],
  ["patternProperties added", { type: "object" }, { type: "object", patternProperties: { "^a": text } }, "breaking", "breaking"],
  ["propertyNames", { type: "object" }, { type: "object", propertyNames: { pattern: "^a" } }, "breaking", "compatible"],
  ["dependentRequired added", object({ a: text, b: text }), object({ a: text, b: text }, [], { dependentRequired: { a: ["b"] } }), "breaking", "compatible"],
  ["dependencies is dependentRequired", object({ a: text }, [], { dependencies: { a: ["b"] } }), object({ a: text }, [], { dependentRequired: { a: ["b"] } }), "compatible", "compatible"],
  // arrays and tuples
  ["items narrowed", wrap({ type: "array" }), wrap({ type: "array", items: text }), "breaking", "compatible", "/properties/x/items/type"],
  ["items deep", wrap({ type: "array", items: object({ a: text }) }), wrap({ type: "array", items: object({}) }), "breaking", "breaking", "/properties/x/items/properties/a"],
  ["draft-07 tuple is prefixItems", { type: "array", items: [text], additionalItems: false }, { type: "array", prefixItems: [text], items: false }, "compatible", "compatible"],
  ["tuple position narrowed", { type: "array", prefixItems: [{}] }, { type: "array", prefixItems: [text] }, "breaking", "compatible"],
  ["contains added", { type: "array" }, { type: "array", contains: text }, "breaking", "compatible"],
  // references
  ["inlined reference", { $defs: { A: text }, ...wrap({ $ref: "#/$defs/A" }) }, wrap(text), "compatible", "compatible"],
  ["definition narrowed", { $defs: { A: text }, ...wrap({ $ref: "#/$defs/A" }) }, { $defs: { A: { enum: ["a"] } }, ...wrap({ $ref: "#/$defs/A" }) }, "breaking", "compatible", "/properties/x/enum"],
  ["definitions renamed to $defs", { definitions: { A: text }, ...wrap({ $ref: "#/definitions/A" }) }, { $defs: { B: text }, ...wrap({ $ref: "#/$defs/B" }) }, "compatible", "compatible"],
  ["unused definition", { $defs: { A: text } }, { $defs: { A: count } }, "compatible", "compatible"],
  ["recursive schema narrowed", tree({}), tree({ maxLength: 4 }), "breaking", "compatible"],
  ["recursive schema respelled", tree({ enum: ["a", "b"] }), tree({ enum: ["b", "a"] }), "compatible", "compatible"],
  ["reference to itself", { $ref: "#" }, { $ref: "#", type: "string" }, "breaking", "compatible"],
  ["foreign reference replaced", wrap({ $ref: "https://a.test/x.json" }), wrap({ $ref: "https://a.test/y.json" }), "breaking", "breaking"],
  ["anchor", { $defs: { A: { $anchor: "a", type: "string" } }, ...wrap({ $ref: "#a" }) }, wrap(text), "compatible", "compatible"],
  ["draft 7 hides siblings of a reference", { $schema: "http://json-schema.org/draft-07/schema#", definitions: { A: text }, ...wrap({ $ref: "#/definitions/A", maxLength: 1 }) }, { $schema: "http://json-schema.org/draft-07/schema#", ...wrap(text) }, "compatible", "compatible"],
  ["2020-12 counts siblings of a reference", { $defs: { A: text }, ...wrap({ $ref: "#/$defs/A", maxLength: 1 }) }, wrap(text), "compatible", "breaking"],
  ["pointer with escapes", { $defs: { "a/b c": text }, ...wrap({ $ref: "#/$defs/a~1b%20c" }) }, wrap(text), "compatible", "compatible"],
  ["dialect changed", { $schema: "http://json-schema.org/draft-07/schema#", type: "string" }, { $schema: "https://json-schema.org/draft/2020-12/schema", type: "string" }, "compatible", "compatible", "/$schema"],
  // combinations
  ["allOf merged", { allOf: [object({ a: text }, ["a"]), object({ b: text })] }, object({ a: text, b: text }, ["a"]), "compatible", "compatible"],
  ["allOf gains a part", { allOf: [object({ a: text })] }, { allOf: [object({ a: text }), object({ b: text }, ["b"])] }, "breaking", "compatible", "/properties/b"],
  ["allOf of two patterns changed", { allOf: [{ type: "string", pattern: "a" }, { pattern: "b" }] }, { allOf: [{ type: "string", pattern: "c" }, { pattern: "b" }] }, "breaking", "breaking"],
  ["alternative added", { anyOf: [text] }, { anyOf: [text, count] }, "compatible", "breaking", "/anyOf/number"],
  ["alternative removed", { anyOf: [text, count] }, { anyOf: [text] }, "breaking", "compatible", "/anyOf/number"],
  ["alternatives reordered", { anyOf: [text, count] }, { anyOf: [count, text] }, "compatible", "compatible"],
  ["tagged alternative added", { oneOf: [event("a")] }, { oneOf: [event("a"), event("b")] }, "compatible", "breaking", '/anyOf/kind="b"'],
  ["tagged alternative narrowed", { oneOf: [event("a"), event("b")] }, { oneOf: [event("a"), event("b", ["n"])] }, "breaking", "compatible", '/anyOf/kind="b"/properties/n'],
  ["tagged anyOf to oneOf", { anyOf: [event("a"), event("b")] }, { oneOf: [event("b"), event("a")] }, "compatible", "compatible"],
  ["overlapping anyOf to oneOf", { anyOf: [object({ a: text }), object({ b: text })] }, { oneOf: [object({ a: text }), object({ b: text })] }, "breaking", "compatible"],
  ["not added", wrap(text), wrap({ type: "string", not: { const: "a" } }), "breaking", "compatible"],
  ["not changed", wrap({ not: { const: "a" } }), wrap({ not: { const: "b" } }), "breaking", "breaking"],
  ["not through a definition", { $defs: { A: text }, ...wrap({ not: { $ref: "#/$defs/A" } }) }, { $defs: { A: count }, ...wrap({ not: { $ref: "#/$defs/A" } }) }, "breaking", "breaking"],
  ["if/then added", object({ a: text }), object({ a: text }, [], conditional), "breaking", "compatible"],
  // words, and what nobody knows
  ["description", wrap(text), wrap({ type: "string", description: "new" }), "compatible", "compatible", "/properties/x/description"],
  ["title and examples", wrap({ type: "string", title: "a", examples: [1] }), wrap({ type: "string", title: "b", examples: [2] }), "compatible", "compatible"],
  ["default changed", wrap({ type: "string", default: "a" }), wrap({ type: "string", default: "b" }), "risky", "compatible", "/properties/x/default"],
  ["time mark", wrap(text), wrap({ type: "string", "x-bdk-time": true }), "risky", "risky"],
  ["other x- keyword", wrap(text), wrap({ type: "string", "x-ui": "wide" }), "compatible", "compatible"],
  ["unknown keyword", wrap(text), wrap({ type: "string", shouldRhyme: true }), "breaking", "breaking", "/properties/x/shouldRhyme"],
  ["no schema at all", undefined, object({ a: text }, ["a"]), "breaking", "compatible"],
];

function tree(extra: object) {
  return {
    $ref: "#/$defs/Node",
    $defs: {
      Node: object(
        { name: { type: "string", ...extra }, next: { anyOf: [{ $ref: "#/$defs/Node" }, { type: "null" }] } },
        ["name"],
      ),
    },
  };
}

function event(kind: string, required: string[] = []) {
  return object({ kind: { const: kind }, n: count }, ["kind", ...required]);
}

const gravity = ["compatible", "risky", "breaking"] as const;

function judge(before: unknown, after: unknown, use: Use) {
  const findings = compareSchemas(before, after, use, "");
  const worst = Math.max(...findings.map((finding) => gravity.indexOf(finding.level)));
  return { verdict: gravity[worst], paths: findings.map((finding) => finding.path) };
}

describe("JSON Schema changes as callers feel them", () => {
  it.each(rows)("%s", (_title, before, after, input, output, path) => {
    expect(judge(before, after, "input")).toMatchObject({ verdict: input });
    expect(judge(before, after, "output")).toMatchObject({ verdict: output });
    if (path !== undefined) expect(judge(before, after, "input").paths).toContain(path);
  });

  it.each(rows)("%s, and back: the same places", (_title, before, after) => {
    expect(judge(after, before, "input").paths.sort()).toEqual(judge(before, after, "input").paths.sort());
  });

  it("has enough rows to mean something", () => expect(rows.length).toBeGreaterThanOrEqual(60));

  it("names the field in words", () => {
    const [finding] = compareSchemas(
      wrap({ type: "array", items: object({ "odd name": text }) }),
      wrap({ type: "array", items: object({ "odd name": count }) }),
      "input",
      "/inputSchema",
    );
    expect(finding?.message).toBe('input x[]."odd name": type changed from string to number');
    expect(finding?.path).toBe("/inputSchema/properties/x/items/properties/odd name/type");
  });

  it("reports every field that changes in the same way", () => {
    const before = object({ a: text, b: text });
    expect(judge(before, object({ a: count, b: count }), "input").paths).toEqual([
      "/properties/a/type",
      "/properties/b/type",
    ]);
  });

  it("ends on schemas that double at every level", () => {
    const levels = Object.fromEntries(
      Array.from({ length: 40 }, (_, level) => [
        `L${level}`,
        object({ a: { $ref: `#/$defs/L${level + 1}` }, b: { $ref: `#/$defs/L${level + 1}` } }),
      ]),
    );
    const make = (leaf: object) => ({ $ref: "#/$defs/L0", $defs: { ...levels, L40: leaf } });
    expect(judge(make(text), make(count), "input").verdict).toBe("breaking");
  });
});
