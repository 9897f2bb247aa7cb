import fc from "fast-check";
import { expect, test } from "vitest";
import { isJson, toJson } from "../../runtime/tools/json-value.js";

test("JSON is recognised and copied as it is", () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
      const asStored = JSON.parse(JSON.stringify(value)) as unknown;
      expect(isJson(asStored)).toBe(true);
      expect(toJson(asStored)).toEqual(asStored);
    }),
  );
});

test("anything that JavaScript can hold becomes JSON or a plain Error that says where", () => {
  fc.assert(
    fc.property(
      fc.anything({ withBigInt: true, withDate: true, withMap: true, withSet: true, withTypedArray: true }),
      (value) => {
        const json = toJson(value);
        expect(JSON.parse(JSON.stringify(json))).toEqual(json);
      },
    ),
  );
  expect(isJson(-0)).toBe(false);
  expect(toJson([-0])).toEqual([0]);
  const loop: unknown[] = [];
  loop.push({ again: loop });
  expect(isJson(loop)).toBe(false);
  expect(() => toJson(loop)).toThrow("the result contains itself at [0].again");
  let deep: unknown = 1;
  for (let level = 0; level < 5_000; level += 1) deep = [deep];
  expect(() => toJson(deep)).toThrow("nested more than 200 levels");
});

test("a value that is JSON by isJson is what JSON.stringify keeps", () => {
  fc.assert(
    fc.property(fc.anything({ withDate: true, withMap: true, withBigInt: true, withNullPrototype: true }), (value) => {
      if (isJson(value)) expect(JSON.parse(JSON.stringify(value))).toEqual(toJson(value));
    }),
  );
});
