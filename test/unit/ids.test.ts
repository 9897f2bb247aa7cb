import { isValid } from "ulid";
import { expect, test } from "vitest";
import { createIds } from "../../runtime/storage/ids.js";

test("ids are ULIDs that are unique and sort by creation, also when the clock stands still or goes back", () => {
  let time = 1_700_000_000_000;
  const makeId = createIds(() => time);
  const ids: string[] = [];
  for (let count = 0; count < 20_000; count += 1) {
    if (count % 1_000 === 0) time += count % 3_000 === 0 ? -5 : 7;
    ids.push(makeId("ses_"));
  }
  expect(new Set(ids).size).toBe(ids.length);
  expect([...ids].sort()).toEqual(ids);
  expect(ids.every((id) => isValid(id.slice(4)))).toBe(true);
});
