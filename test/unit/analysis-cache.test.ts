import { describe, expect, it, vi } from "vitest";
import { scan } from "../../compiler/scan/scan.js";
import { memorySource } from "../../compiler/source.js";

const files = {
  "bot/instructions.md": "You are brief.\n",
  "bot/tools/add.ts":
    'import { defineTool } from "@cursor/bdk/tools";\nimport { sum } from "../lib/sum.js";\nexport default defineTool({ description: process.env.ADD, execute: sum });\n',
  "bot/tools/broken.ts": "export default (",
  "bot/lib/sum.ts": "export const sum = () => process.env.SUM;\n",
};

/** Runs the phase with modules of its own, so that nothing is left from an earlier run. */
async function run(project: Readonly<Record<string, string>>, stored: Map<string, string>) {
  vi.resetModules();
  const { analyze } = await import("../../compiler/analyze/analyze.js");
  const source = memorySource(project);
  let hits = 0;
  const result = await analyze(scan(source).value, source, {
    get: (key) => {
      const text = stored.get(key);
      hits += text === undefined ? 0 : 1;
      return text === undefined ? undefined : JSON.parse(text);
    },
    put: (key, value) => void stored.set(key, JSON.stringify(value)),
  });
  return { result, hits };
}

describe("the analysis cache", () => {
  it("makes a warm run give the same without ever loading the parser", async () => {
    const stored = new Map<string, string>();
    const cold = await run(files, stored);
    expect(stored.size).toBe(3);

    vi.doMock("../../compiler/analyze/syntax/read-module.js", () => {
      throw new Error("the parser was loaded");
    });
    try {
      const warm = await run(files, stored);
      expect(warm.result).toEqual(cold.result);
      expect(warm.hits).toBe(3);
      await expect(run({ ...files, "bot/lib/sum.ts": "export const sum = 1;\n" }, stored)).rejects.toThrow();
    } finally {
      vi.doUnmock("../../compiler/analyze/syntax/read-module.js");
    }
  });

  it("is by content: a moved file is known, a changed one is not", async () => {
    const stored = new Map<string, string>();
    await run(files, stored);
    const { "bot/tools/add.ts": add, ...others } = files;
    const moved = await run({ ...others, "bot/tools/plus.ts": add }, stored);
    expect(stored.size).toBe(3);
    expect(moved.result.value[0]?.definitions.map(({ id }) => id)).toContain("tool:plus");
    await run({ ...files, "bot/tools/add.ts": `${add}// changed\n` }, stored);
    expect(stored.size).toBe(4);
  });

  it("parses again what was stored damaged", async () => {
    const stored = new Map<string, string>();
    const cold = await run(files, stored);
    for (const key of stored.keys()) stored.set(key, '{"imports":1}');
    expect((await run(files, stored)).result).toEqual(cold.result);
  });
});
