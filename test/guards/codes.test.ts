/** Every diagnostic code has a page, a fixture and a place that raises it, and the reverse. */
import { describe, expect, it } from "vitest";
import { codes } from "../../compiler/diagnostics/codes.js";
import { filesBelow, readSource } from "./source-files.js";

const table = Object.entries(codes);
const pages = filesBelow("docs/reference/errors", ".md").filter((file) => /BDK\d+\.md$/.test(file));

describe("codes", () => {
  it("gives each its own permanent number, in order", () => {
    const numbers = table.map(([, each]) => each.code);
    for (const number of numbers) expect(number).toMatch(/^BDK[1-9]\d{3}$/);
    expect(new Set(numbers).size).toBe(numbers.length);
    expect(numbers).toEqual([...numbers].sort());
  });

  it("has a page for each, and no page without a code", () => {
    const documented = pages.map((file) => file.slice(-"BDK0000.md".length, -".md".length));
    expect(documented.sort()).toEqual(table.map(([, each]) => each.code).sort());
  });

  it("writes pages that say something", () => {
    const thin = pages.filter((file) => {
      const text = readSource(file);
      return text.split(/\s+/).length < 30 || !text.startsWith(`# ${file.slice(-"BDK0000.md".length, -".md".length)}`);
    });
    expect(thin).toEqual([]);
  });

  it("shows each in a fixture or a test", () => {
    const seen = [
      ...["fixtures/cases", "fixtures/traps"].flatMap((folder) =>
        [".json", ".txt", ".ts", ".mts", ".md", ".snap"].flatMap((ending) => filesBelow(folder, ending)),
      ),
      ...filesBelow("test", ".ts").filter((file) => file !== "test/guards/codes.test.ts"),
    ]
      .map(readSource)
      .join("\n");
    expect(table.map(([, each]) => each.code).filter((code) => !seen.includes(code))).toEqual([]);
  });

  it("raises each somewhere", () => {
    const sources = ["compiler", "cli", "runtime"]
      .flatMap((folder) => filesBelow(folder, ".ts"))
      .filter((file) => file !== "compiler/diagnostics/codes.ts")
      .map(readSource)
      .join("\n");
    const unused = table.filter(([name, { code }]) => !new RegExp(`["'\`.]${name}\\b|${code}`).test(sources));
    expect(unused.map(([name]) => name)).toEqual([]);
  });
});
