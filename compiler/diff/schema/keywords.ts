import { own } from "../json.js";
import { lower, lowerBound, multipleOf, upper, upperBound } from "./bounds.js";
import type { Branch } from "./branch.js";
import { always, condition, conditions, constraint, format, prefixItems, subschema, uniqueItems } from "./checks.js";
import type { SchemaContext } from "./compare.js";
import { additionalProperties, dependentRequired, properties, requiredAlone, schemaMap } from "./objects.js";
import type { KeywordRule } from "./pair.js";

/** Compares one keyword; one that no rule knows is `unclear` unless it is an `x-` extension. */
export function compareKeyword(
  keyword: string,
  before: Branch,
  after: Branch,
  path: string,
  context: SchemaContext,
): void {
  const [left, right] = [own(before.keywords, keyword), own(after.keywords, keyword)];
  const rule = rules.get(keyword) ?? always(keyword.startsWith("x-") ? "neutral" : "unclear");
  rule({ keyword, left, right, before, after, path }, context);
}

const rules: ReadonlyMap<string, KeywordRule> = new Map<string, KeywordRule>([
  ["additionalProperties", additionalProperties],
  ["allOf", conditions],
  ["contains", subschema],
  ["contentEncoding", constraint],
  ["contentMediaType", constraint],
  ["dependentRequired", dependentRequired],
  ["dependentSchemas", schemaMap],
  ["else", condition],
  ["exclusiveMaximum", upperBound],
  ["exclusiveMinimum", lowerBound],
  ["format", format],
  ["if", condition],
  ["items", subschema],
  ["maxContains", upper],
  ["maxItems", upper],
  ["maxLength", upper],
  ["maxProperties", upper],
  ["maximum", upperBound],
  ["minContains", lower],
  ["minItems", lower],
  ["minLength", lower],
  ["minProperties", lower],
  ["minimum", lowerBound],
  ["multipleOf", multipleOf],
  ["not", condition],
  ["pattern", constraint],
  ["patternProperties", schemaMap],
  ["prefixItems", prefixItems],
  ["properties", properties],
  ["propertyNames", subschema],
  ["required", requiredAlone],
  ["then", condition],
  ["unevaluatedItems", subschema],
  ["unevaluatedProperties", additionalProperties],
  ["uniqueItems", uniqueItems],
  // Marks a time argument, which as-of sessions hold to their date.
  ["x-bdk-time", always("risky")],
]);
