import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { analyze } from "../../compiler/analyze/analyze.js";
import { suggest } from "../../compiler/diagnostics/suggest.js";
import { resolve } from "../../compiler/resolve/resolve.js";
import { scan } from "../../compiler/scan/scan.js";
import { memorySource } from "../../compiler/source.js";

const instructions = { "bot/instructions.md": "You are brief.\n" };
const codesOf = (files: Readonly<Record<string, string>>) =>
  scan(memorySource({ ...instructions, ...files })).diagnostics.map(({ code }) => code);

const fileName = fc.stringMatching(/^[A-Za-z0-9_. -]{1,70}$/).filter((name) => !name.startsWith("."));

describe("tool names", () => {
  it("take exactly [A-Za-z0-9_-]{1,64} without __", () => {
    fc.assert(
      fc.property(fileName, (name) => {
        fc.pre(!/\.(test|spec)$/.test(name) && !/\.d$/.test(name));
        const allowed = /^[A-Za-z0-9_-]{1,64}$/.test(name) && !name.includes("__");
        const found = codesOf({ [`bot/tools/${name}.ts`]: "" });
        return allowed ? found.length === 0 : found.length === 1 && /^BDK100[89]$/.test(found[0] ?? "");
      }),
    );
  });

  it("come from the path alone", () => {
    const { value } = scan(memorySource({ ...instructions, "bot/tools/render-portrait.ts": "" }));
    expect(value.agents[0]?.entries.map(({ kind, name }) => [kind, name])).toContainEqual(["tool", "render-portrait"]);
  });
});

describe("slugs", () => {
  const slugOf = (name: unknown) => {
    const source = memorySource({ ...instructions, "package.json": JSON.stringify({ name }) });
    return scan(source).value.agents[0]?.slug;
  };

  it("drop the scope and whatever a URL can't hold", () => {
    expect(slugOf("@acme/pr-approver")).toBe("pr-approver");
    expect(slugOf("cryptic.fit")).toBe("cryptic-fit");
    expect(slugOf("_ünder score ")).toBe("under-score");
    expect(slugOf("ünï-böt")).toBe("uni-bot");
    expect(slugOf("@acme/")).toBe("agent");
    expect(slugOf(undefined)).toBe("agent");
    expect(slugOf(42)).toBe("agent");
  });

  it("always fit the pattern", () => {
    fc.assert(fc.property(fc.string(), (name) => /^[A-Za-z0-9][A-Za-z0-9_-]*$/.test(slugOf(name) ?? "")));
  });
});

describe("suggestions", () => {
  it("find the nearest word and leave the far ones alone", () => {
    expect(suggest("turn.complete", ["turn.failed", "turn.completed"])).toBe("turn.completed");
    expect(suggest("tolos", ["tools", "skills"])).toBe("tools");
    expect(suggest("zebra", ["tools", "skills"])).toBeUndefined();
  });

  it("forgive any one slip in a word of three letters or more", () => {
    const word = fc.stringMatching(/^[a-z]{3,12}$/);
    fc.assert(
      fc.property(word, fc.nat(), fc.stringMatching(/^[a-z]$/), (name, at, letter) => {
        const index = at % name.length;
        const slips = [
          name.slice(0, index) + name.slice(index + 1),
          name.slice(0, index) + letter + name.slice(index),
          name.slice(0, index) + letter + name.slice(index + 1),
        ];
        return slips.every((slip) => suggest(slip, [name]) === name);
      }),
    );
  });
});

describe("order", () => {
  it("of the files in a folder changes nothing", async () => {
    const files = {
      ...instructions,
      "bot/tools/b.ts": "export default 1;",
      "bot/tools/a.ts": "syntax error",
      "bot/tools/ä.ts": "",
      "bot/tools/\u{1F600}.ts": "",
      "bot/tools/\uFF21.ts": "",
      "bot/hooks/x/y.ts": 'import "./gone.js";',
      "bot/hoks/z.ts": "",
      "bot/skills/s/SKILL.md": "---\ndescription: S.\n---\nGo.",
      "bot/skills/s/b.txt": "b",
      "bot/skills/s/a.txt": "a",
    };
    const compile = async (ordered: Readonly<Record<string, string>>) => {
      const source = memorySource(ordered);
      const tree = scan(source);
      const definitions = await analyze(tree.value, source);
      return JSON.stringify([tree, definitions, resolve(tree.value, definitions.value)]);
    };
    const expected = await compile(files);
    const shuffled = fc.shuffledSubarray(Object.entries(files), { minLength: Object.keys(files).length });
    await fc.assert(
      fc.asyncProperty(shuffled, async (entries) => (await compile(Object.fromEntries(entries))) === expected),
      { numRuns: 20 },
    );
  });
});
