import { expect, test } from "vitest";
import { compileSchema } from "../../runtime/tools/json-schema.js";

test.each([
  undefined,
  "",
  "http://json-schema.org/draft-06/schema#",
  "http://json-schema.org/draft-07/schema",
  "https://json-schema.org/draft-07/schema#",
  "https://json-schema.org/draft/2019-09/schema",
  "https://json-schema.org/draft/2020-12/schema",
])("input is checked by a schema that says it is of %s", ($schema) => {
  const check = compileSchema({
    ...($schema !== undefined && { $schema }),
    type: "object",
    properties: { n: { $ref: "#/$defs/n" }, next: { $ref: "#" } },
    required: ["n"],
    $defs: { n: { type: "number" } },
  });
  expect(check({ n: 1, next: { n: 2 } })).toEqual([]);
  expect(check({ n: 1, next: { n: "2" } })).toEqual([{ path: "next.n", message: "must be number" }]);
});
