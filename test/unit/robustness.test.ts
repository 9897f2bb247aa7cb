/** Whatever stands in a file, the reading phases answer with diagnostics, never with an exception. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { analyze } from "../../compiler/analyze/analyze.js";
import { resolve } from "../../compiler/resolve/resolve.js";
import { scan } from "../../compiler/scan/scan.js";
import { memorySource, type ProjectSource, SourceError } from "../../compiler/source.js";

async function diagnose(
  files: Readonly<Record<string, string | Uint8Array>>,
  adapt = (source: ProjectSource): ProjectSource => source,
) {
  const source = adapt(memorySource({ "bot/instructions.md": "You are brief.\n", ...files }));
  const tree = scan(source);
  const definitions = await analyze(tree.value, source);
  const surfaces = resolve(tree.value, definitions.value);
  return [tree, definitions, surfaces].flatMap(({ diagnostics }) => diagnostics);
}

const tool = `import { defineTool } from "@cursor/bdk/tools";
const { KEY } = process.env;
export default defineTool({
  description: \`Adds\${KEY}\`,
  inputSchema: z.object({ a: z.number(), ["b"]: x }),
  execute: async ({ a, b }) => (await import("./sum.js")).sum(a, b),
} satisfies object);
`;
const skill = `---
name: review
description: "Reads a diff."
metadata: { a: [1, 2], b: &x y, c: *x }
---

Go.
`;

/** A text with a stretch of it replaced by something else. */
function damaged(text: string) {
  const other = fc.oneof(fc.constantFrom("", "{", "}", "(", "`", '"', "---", "*", "default", ":"), fc.string());
  return fc
    .tuple(fc.nat(text.length), fc.nat(12), other)
    .map(([at, length, instead]) => text.slice(0, at) + instead + text.slice(at + length));
}

describe("a damaged file", () => {
  it("of code", async () => {
    const damage = damaged(tool);
    await fc.assert(
      fc.asyncProperty(damage, async (text) => void (await diagnose({ "bot/tools/add.ts": text }))),
      { numRuns: 150 },
    );
  });

  it("of Markdown with front matter", async () => {
    await fc.assert(
      fc.asyncProperty(damaged(skill), async (text) => void (await diagnose({ "bot/skills/review.md": text }))),
      { numRuns: 150 },
    );
  });

  it("of package.json and tsconfig.json", async () => {
    const json = damaged(
      '{ "name": "x", "extends": ["./a", 1], "compilerOptions": { "paths": { "@/*": ["./*", 2] } } }',
    );
    await fc.assert(
      fc.asyncProperty(json, async (text) => {
        await diagnose({ "package.json": text, "tsconfig.json": text, "bot/tools/add.ts": 'import "@/x";' });
      }),
    );
  });

  it("of bytes", async () => {
    const bytes = fc.uint8Array({ maxLength: 200 });
    await fc.assert(
      fc.asyncProperty(bytes, async (data) => {
        await diagnose({ "bot/tools/add.ts": data, "bot/skills/a.md": data, "package.json": data });
      }),
    );
  });
});

it("a folder that may not be listed is one fault among the others", async () => {
  const refuses = (source: ProjectSource): ProjectSource => ({
    ...source,
    list(dir) {
      if (dir === "bot/lib" || dir === "bot/hooks") throw new SourceError(dir, "permission denied");
      return source.list(dir);
    },
  });
  const files = { "bot/hooks/a.ts": "", "bot/lib/sum.js": "", "bot/tools/add.ts": 'import "../lib/sum.js";\n' };
  const found = await diagnose(files, refuses);
  expect(found.map(({ code, message }) => `${code} ${message}`)).toEqual([
    "BDK1019 bot/hooks can't be listed: permission denied",
    "BDK2003 bot/tools/add.ts has no default export",
    'BDK2002 can\'t find "../lib/sum.js"',
  ]);
});

describe("code nested deeper than the stack", () => {
  it("is left for evaluation to judge", async () => {
    const deep = `export default ${"(".repeat(50_000)}1${")".repeat(50_000)};`;
    const long = `export default defineTool({ description: ${'"a" + '.repeat(50_000)}"b" });`;
    const found = await diagnose({ "bot/tools/deep.ts": deep, "bot/lib/x.ts": "", "bot/tools/long.ts": long });
    expect(found.filter(({ code }) => code.startsWith("BDK9"))).toEqual([]);
  });

  it("of folders is fine", async () => {
    const file = `bot/hooks/${"a/".repeat(500)}b.ts`;
    expect((await diagnose({ [file]: "" })).map(({ code }) => code)).toEqual(["BDK2003"]);
  });
});
