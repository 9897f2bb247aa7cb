/** What the back of the compiler promises: the same bytes anywhere, nothing of the builder's machine, and honest caches. */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { hasErrors } from "../compiler/diagnostics/diagnostic.js";
import { type CompileOptions, type CompileResult, compile, createCompiler } from "../compiler/index.js";
import { manifestJsonSchema } from "../compiler/manifest/json-schema.js";
import { loadProject } from "../runtime/host/load.js";
import { renderStack } from "../runtime/host/stack.js";

const repository = fileURLToPath(new URL("..", import.meta.url));
const projects = path.join(repository, "fixtures/projects");
const workshop = mkdtempSync(path.join(tmpdir(), "bdk-back-"));
afterAll(() => rmSync(workshop, { recursive: true, force: true }));

const tool = (description: string, before = "") =>
  `import { defineTool } from "@cursor/bdk/tools";\n${before}export default defineTool({ description: ${description}, execute: () => null });\n`;

/** Writes a project of its own into the workshop. */
function project(name: string, files: Readonly<Record<string, string>>): string {
  const dir = path.join(workshop, name);
  const all = {
    "package.json": `{ "name": "${path.basename(name)}", "type": "module" }`,
    "bot/agent.ts": 'import { defineAgent } from "@cursor/bdk";\nexport default defineAgent({ model: "offline" });\n',
    "bot/instructions.md": "Be brief.\n",
    ...files,
  };
  for (const [file, text] of Object.entries(all)) {
    mkdirSync(path.dirname(path.join(dir, file)), { recursive: true });
    writeFileSync(path.join(dir, file), text);
  }
  return dir;
}

const build = (dir: string, options: CompileOptions = {}) => compile(dir, { cache: false, ...options });
const agentOf = (result: CompileResult) => {
  const agent = result.manifest?.agents[0];
  if (agent === undefined) throw new Error(result.diagnostics.map(({ message }) => message).join("\n"));
  return agent;
};
const texts = ({ bundle }: CompileResult) =>
  (bundle?.files ?? []).map(({ path: name, contents }) => ({ name, text: Buffer.from(contents).toString("latin1") }));

describe("output", () => {
  const copies = ["a/pr-approver", "somewhere/else/entirely/pr-approver"].map((place) =>
    path.join(workshop, "copies", place),
  );

  it("is the same bytes from any folder, in whatever order the folders list their files", async () => {
    const files = readdirSync(path.join(projects, "pr-approver"), { recursive: true, withFileTypes: true })
      .filter((each) => each.isFile() && each.name !== "tsconfig.json" && !each.parentPath.includes("node_modules"))
      .map((each) => path.relative(path.join(projects, "pr-approver"), path.join(each.parentPath, each.name)));
    for (const [index, copy] of copies.entries()) {
      for (const file of index === 0 ? files : [...files].reverse())
        cpSync(path.join(projects, "pr-approver", file), path.join(copy, file));
    }
    const [first, second] = await Promise.all(copies.map((copy) => build(copy)));
    if (first === undefined || second === undefined) throw new Error("two results were expected");
    expect(first.diagnostics).toEqual([]);
    expect(second.manifest).toEqual(first.manifest);
    expect(texts(second)).toEqual(texts(first));
    for (const { name, text } of texts(first)) {
      for (const secret of [workshop, repository, `${tmpdir()}/`])
        expect(text.includes(secret), `${secret} in ${name}`).toBe(false);
    }
  });

  it("of a file that is gone again is a diagnostic", async () => {
    const dir = project("gone", { "bot/sandbox/workspace/seed.txt": "x", "bot/tools/a.ts": tool('"Stays."') });
    const seed = path.join(dir, "bot/sandbox/workspace/seed.txt");
    const result = await build(dir, { onPhase: (phase) => phase === "manifest" && rmSync(seed) });
    expect(result.diagnostics.map(({ code, message }) => `${code} ${message}`)).toEqual([
      "BDK1019 bot/sandbox/workspace/seed.txt can't be read: there is no such file",
    ]);
    expect(result.bundle).toBeUndefined();
  });

  it("is a diagnostic where there is no folder", async () => {
    const { diagnostics } = await build(path.join(workshop, "nowhere"));
    expect(diagnostics.map(({ code }) => code)).toEqual(["BDK1002"]);
  });

  it("fits the published schema", async () => {
    const ajv = new Ajv2020({ strict: false });
    const validate = ajv.compile(manifestJsonSchema());
    for (const name of readdirSync(projects)) {
      if (name.includes(".")) continue;
      const { manifest, diagnostics } = await build(path.join(projects, name), { until: "manifest" });
      expect(hasErrors(diagnostics), JSON.stringify(diagnostics)).toBe(false);
      expect(validate(manifest), `${name}: ${JSON.stringify(validate.errors)}`).toBe(true);
      expect(Object.keys(manifest ?? {})).toEqual(Object.keys(manifest ?? {}).sort());
    }
  });
});

describe("environment", () => {
  const saved = { ...process.env };
  afterEach(() => {
    process.env = { ...saved };
  });
  const secret = "s3cr3t-of-the-builder";

  it("hides the builder's environment, and marks what depends on it", async () => {
    process.env.TEAM = secret;
    process.env.DB_URL = secret;
    const dir = project("hidden", {
      "bot/instructions.ts":
        'import { defineInstructions } from "@cursor/bdk";\nexport default defineInstructions({ markdown: `You help ${process.env.TEAM}.` });\n',
      "bot/tools/fixed.ts": tool('"Is fixed."'),
      "bot/tools/named.ts": tool('`Asks ${process.env.TEAM ?? "us"}.`'),
    });
    rmSync(path.join(dir, "bot/instructions.md"));
    const result = await build(dir);
    expect(result.diagnostics).toEqual([]);
    expect(agentOf(result).instructions.text).toEqual({ dynamic: true });
    expect(agentOf(result).tools.map(({ description }) => description)).toEqual(["Is fixed.", { dynamic: true }]);
    expect(result.manifest?.env).toEqual({ read: ["TEAM"], required: [] });
    for (const { name, text } of texts(result)) expect(text.includes(secret), name).toBe(false);
    const strict = await build(dir, { environment: "strict", until: "manifest" });
    expect(agentOf(strict).instructions.text).toBe(`You help ${secret}.`);
  });

  it("leaves to the start what fails only for lack of a variable, and names those that matter", async () => {
    delete process.env.TOKEN;
    const dir = project("deferred", {
      "bot/lib/env.ts":
        "export const need = (name: string): string => {\n  const value = process.env[name];\n  if (value === undefined) throw new Error(`set ${name}`);\n  return value;\n};\n",
      "bot/tools/a.ts": tool(
        '"Needs a token."',
        'import { need } from "../lib/env.js";\nexport const token = need("TOKEN");\nexport const level = process.env.LEVEL ?? "low";\n',
      ),
      "bot/tools/b.ts": tool('"Needs nothing."'),
      "bot/tools/c.ts": tool(
        '"Needs a number."',
        'if (!Number.isInteger(Number(process.env.PORT_COUNT))) throw new Error("PORT_COUNT is no number");\n',
      ),
    });
    const result = await build(dir);
    expect(result.diagnostics.map(({ code, severity, labels }) => [code, severity, labels[0]?.span.file])).toEqual([
      ["BDK3005", "warning", "bot/lib/env.ts"],
      ["BDK3005", "warning", "bot/tools/c.ts"],
    ]);
    expect(result.manifest?.env.required).toEqual(["PORT_COUNT", "TOKEN"]);
    expect(agentOf(result).tools.map(({ name, description }) => [name, description])).toEqual([
      ["a", "Needs a token."],
      ["b", "Needs nothing."],
      ["c", "Needs a number."],
    ]);
    const strict = await build(dir, { environment: "strict" });
    expect(strict.diagnostics.map(({ code, severity }) => [code, severity])).toEqual([
      ["BDK3001", "error"],
      ["BDK3001", "error"],
    ]);
    expect(strict.diagnostics.flatMap(({ notes = [] }) => notes).join()).toContain("it reads TOKEN, which is not set");
  });

  it("takes an optional variable whose use fails on odd values at its default", async () => {
    const dir = project("odd-values", {
      "bot/tools/a.ts": tool(
        '"Retries."',
        'export const retries = JSON.parse(process.env.RETRIES ?? "[1, 2]").length;\nif (retries !== 2) throw new Error("two retries, please");\n',
      ),
    });
    const result = await build(dir);
    expect(result.diagnostics).toEqual([]);
    expect(agentOf(result).tools[0]?.description).toBe("Retries.");
  });
});

describe("caches", () => {
  it("give a build that nothing changed for back whole, and see every kind of change", async () => {
    const dir = project("cached", {
      "bot/tools/a.ts": tool('"First."'),
      "bot/lib/unused.txt": "x",
      "bot/lib/told.md": "md, ",
      "bot/lib/told.json": '{ "told": "json, " }',
      "bot/skills/how/SKILL.md": "---\ndescription: How.\n---\n\nSo.\n",
      "bot/skills/how/more.md": "more",
    });
    const cache = path.join(workshop, "cache");
    const run = () => compile(dir, { cache });
    const first = await run();
    expect(first.diagnostics).toEqual([]);
    const again = await run();
    expect(again.timings).toEqual({});
    expect(texts(again)).toEqual(texts(first));
    const change = async (file: string, text: string) => {
      writeFileSync(path.join(dir, file), text);
      const changed = await run();
      expect(changed.timings.scan, file).toBeGreaterThan(0);
      return changed;
    };
    expect(agentOf(await change("bot/tools/a.ts", tool('"Second."'))).tools[0]?.description).toBe("Second.");
    expect(agentOf(await change("bot/tools/b.ts", tool('"Third."'))).tools).toHaveLength(2);
    const sibling = await change("bot/skills/how/more.md", "even more");
    expect(agentOf(sibling).skills[0]?.files[0]?.bytes).toBe(9);
    await change(
      "bot/tools/b.ts",
      tool(
        "told + data.told + more.told",
        'import told from "../lib/told.md?raw";\nimport data from "../lib/told.json" with { type: "json" };\nimport more from "../lib/told.json";\n',
      ),
    );
    const told = await change("bot/lib/told.md", "Md, ");
    expect(agentOf(told).tools[1]?.description).toBe("Md, json, json, ");
    expect(texts(told).filter(({ text }) => text.includes(workshop))).toEqual([]);
    const json = await change("bot/lib/told.json", '{ "told": "JSON, " }');
    expect(agentOf(json).tools[1]?.description).toBe("Md, JSON, JSON, ");
    expect((await change("bot/tools/a.ts", "export default (")).manifest).toBeUndefined();
    expect(agentOf(await change("bot/tools/a.ts", tool('"Fourth."'))).tools[0]?.description).toBe("Fourth.");
  });

  it("keep nothing of a build during which a file has changed", async () => {
    const file = "bot/tools/a.ts";
    const dir = project("moving", { [file]: tool('"First."') });
    const cache = path.join(workshop, "moving-cache");
    for (const during of ["resolve", "evaluate", "manifest"]) {
      writeFileSync(path.join(dir, file), tool(JSON.stringify(`before ${during}`)));
      await compile(dir, {
        cache,
        onPhase: (phase) => phase === during && writeFileSync(path.join(dir, file), tool(JSON.stringify(during))),
      });
      expect(agentOf(await compile(dir, { cache })).tools[0]?.description).toBe(during);
    }
  });

  it("never keep the folder of one run for the next", async () => {
    const dir = project("staged", {
      "bot/agent.ts":
        'import { defineAgent } from "@cursor/bdk";\nexport default defineAgent({ model: "offline", local: { cwd: process.cwd() } });\n',
      "bot/tools/a.ts": tool('"First."'),
    });
    const cache = path.join(workshop, "staged-cache");
    for (const edit of ["First.", "Second."]) {
      writeFileSync(path.join(dir, "bot/tools/a.ts"), tool(JSON.stringify(edit)));
      const result = await compile(dir, { cache });
      expect(agentOf(result).local).toEqual({ cwd: { dynamic: true } });
      expect(agentOf(result).tools[0]?.description).toBe(edit);
    }
  });

  it("keep a compiler for dev right over many edits", async () => {
    const dir = project("edited", { "bot/tools/a.ts": tool('"Edit 0."'), "bot/lib/x.ts": "export const x = 0;\n" });
    const compiler = createCompiler(dir, { environment: "strict", until: "project", cache: false });
    try {
      for (let edit = 0; edit < 5; edit += 1) {
        writeFileSync(path.join(dir, "bot/tools/a.ts"), tool("`Edit ${x}.`", 'import { x } from "../lib/x.js";\n'));
        writeFileSync(path.join(dir, "bot/lib/x.ts"), `export const x = ${edit};\n`);
        const result = await compiler.compile();
        expect(agentOf(result).tools[0]?.description).toBe(`Edit ${edit}.`);
        const { manifest } = await compiler.compile();
        expect(manifest?.hash).toBe(result.manifest?.hash);
      }
    } finally {
      await compiler.close();
    }
  });
});

describe("loading", () => {
  it("names the project's own lines in a stack", async () => {
    const dir = project("stacks", {
      "bot/lib/deep.ts": "export function deep(): never {\n  throw new Error('from the depths');\n}\n",
      "bot/tools/a.ts":
        'import { defineTool } from "@cursor/bdk/tools";\nimport { deep } from "../lib/deep.js";\n\nexport default defineTool({\n  description: "Fails.",\n  execute() {\n    return deep();\n  },\n});\n',
    });
    const { bundle } = await build(dir, { until: "project" });
    if (bundle === undefined) throw new Error("it should build");
    const definitions = await loadProject({ ...bundle.project, root: dir });
    const failing = definitions.stacks?.["tool:a"] as { execute(): unknown } | undefined;
    let stack = "";
    try {
      failing?.execute();
    } catch (error) {
      stack = renderStack(error);
    }
    expect(stack).toMatch(
      /^Error: from the depths\n\s+at deep \(bot\/lib\/deep\.ts:2:9\)\n\s+at (?:Object\.)?execute \(bot\/tools\/a\.ts:7:12\)/,
    );
  });

  it("leaves no generation behind", async () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const dir = project("generations", {
      "bot/tools/a.ts":
        'import { defineTool } from "@cursor/bdk/tools";\nimport { z } from "zod";\nexport default defineTool({ description: "Has weight.", inputSchema: z.object({ n: z.number() }), execute: ({ n }) => n });\n',
    });
    const { bundle } = await build(dir, { until: "project" });
    if (bundle === undefined) throw new Error("it should build");
    const load = async (count: number, from: number): Promise<number> => {
      for (let index = from; index < from + count; index += 1) {
        const text = `${bundle.project.text}\n/* generation ${index} */`;
        await loadProject({ ...bundle.project, text, root: dir });
      }
      // What one collection leaves to be finalized, the next one takes.
      for (let time = 0; time < 3; time += 1) {
        await new Promise((done) => setImmediate(done));
        collect();
      }
      return process.memoryUsage().heapUsed;
    };
    const before = await load(10, 0);
    const after = await load(100, 10);
    // Kept whole, a hundred generations of this text are more than 50 MB.
    expect((after - before) / 1e6).toBeLessThan(5);
  });
});
