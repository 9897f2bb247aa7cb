/** A comment's text: cut to what GitHub takes, and known again by a mark that readers don't see. */
import { expect, test } from "vitest";
import { markedText, markOf } from "../../runtime/channels/github/publish.js";

const mark = markOf("ses_1:2");

test("a text that fits stays as it is; one that does not is cut, never within a character", () => {
  expect(markedText("done", mark)).toBe(`done\n\n${mark}`);
  for (const lead of ["", "x"]) {
    const text = markedText(`${lead}${"😀".repeat(40_000)}`, mark);
    expect(text.length).toBeLessThanOrEqual(65_536);
    expect(text).not.toMatch(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])/);
    expect(text.endsWith(`… (cut)\n\n${mark}`)).toBe(true);
  }
});

test("code that is left open is closed, so that the mark is no part of it", () => {
  expect(markedText("```ts\nopen", mark)).toBe(`\`\`\`ts\nopen\n\`\`\`\n\n${mark}`);
  expect(markedText("~~~~\n```\n~~~", mark)).toBe(`~~~~\n\`\`\`\n~~~\n~~~~\n\n${mark}`);
  expect(markedText("```one line```", mark)).toBe(`\`\`\`one line\`\`\`\n\n${mark}`);
  expect(markedText("```\nclosed\n```", mark)).toBe(`\`\`\`\nclosed\n\`\`\`\n\n${mark}`);
  expect(markedText(`\`\`\`\n${"line\n".repeat(20_000)}`, mark)).toContain(`\n\`\`\`\n\n… (cut)\n\n${mark}`);
});
