/** What the pages say is true: their code type-checks, their commands parse, their links lead somewhere. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join, posix } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, it } from "vitest";
import { commandNames, commandSpec } from "../../cli/command-table.js";
import { parseCommandLine } from "../../cli/parse.js";
import { eventCatalog } from "../../runtime/session/event.js";
import { renderCliReference } from "./cli-reference.js";
import { anchorsOf, codeBlocks, linksOf } from "./markdown.js";
import { filesBelow, packageRoot, readSource } from "./source-files.js";

const errorPages = filesBelow("docs/reference/errors", ".md");
const pages = ["README.md", "CONTRIBUTING.md", ...filesBelow("docs", ".md")];
// Pages of single errors show what is wrong on purpose.
const blocks = pages.filter((file) => !errorPages.includes(file)).flatMap(codeBlocks);
const place = (each: { file: string; line: number }) => `${each.file}:${each.line}`;

const folder = join(packageRoot, "node_modules/.cache/bdk-docs-check");
afterAll(() => rm(folder, { recursive: true, force: true }));

describe("code in the pages", () => {
  it("type-checks", { timeout: 180_000 }, async () => {
    const modules = blocks.filter((each) => each.language === "ts");
    expect(modules.length).toBeGreaterThan(20);
    const files = new Map<string, string>();
    for (const each of modules) {
      const file = `${each.file.replace(/[^a-z0-9]+/gi, "-")}-${each.line}.ts`;
      files.set(file, place(each));
      await mkdir(folder, { recursive: true });
      await writeFile(join(folder, file), `${each.code}\nexport {};\n`);
    }
    const tsconfig = {
      extends: "../../../tsconfig.json",
      compilerOptions: { paths: paths() },
      include: ["*.ts"],
      exclude: [],
    };
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify(tsconfig));
    const tsc = join(packageRoot, "node_modules/typescript/bin/tsc");
    const output = await promisify(execFile)(process.execPath, [tsc, "--noEmit", "-p", folder], { cwd: folder }).then(
      () => "",
      (error: { stdout: string }) => error.stdout,
    );
    // Problems of our own sources, which the blocks import, are another check's business.
    const named = output.split("\n").flatMap((line) => {
      const [, file = "", row = ""] = /^([^(]+)\((\d+)/.exec(line) ?? [];
      const block = files.get(file);
      return block === undefined ? [] : [`${block}, row ${row}: ${line.slice(line.indexOf("error"))}`];
    });
    expect(named).toEqual([]);
  });

  it("is JSON where it says so", () => {
    for (const each of blocks.filter((block) => block.language === "json")) {
      expect(() => JSON.parse(each.code), place(each)).not.toThrow();
    }
  });

  it("calls only commands and options that exist", () => {
    const commands = blocks
      .filter((each) => each.language === "sh")
      .flatMap((each) => shellCommands(each.code).map((words) => ({ ...each, words })))
      .filter(({ words }) => words[0] === "bdk" || (words[0] === "npx" && words[1] === "bdk"));
    expect(commands.length).toBeGreaterThan(10);
    for (const { words, ...each } of commands) {
      const args = words.slice(words.indexOf("bdk") + 1);
      expect(() => parseCommandLine(args), `${place(each)}: ${words.join(" ")}`).not.toThrow();
    }
  });
});

describe("links", () => {
  it("lead to files and headings that exist", () => {
    const broken = pages.flatMap((file) =>
      linksOf(file)
        .filter((link) => !/^[a-z]+:/.test(link))
        .filter((link) => {
          const [path = "", anchor] = link.split("#");
          const target = path === "" ? file : posix.join(posix.dirname(file), path);
          if (!existsSync(join(packageRoot, target))) return true;
          return anchor !== undefined && !anchorsOf(target).includes(anchor);
        })
        .map((link) => `${file}: ${link}`),
    );
    expect(broken).toEqual([]);
  });

  it("reach every page from the index", () => {
    const reached = new Set<string>();
    const queue = ["docs/index.md"];
    for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
      if (reached.has(file)) continue;
      reached.add(file);
      for (const link of linksOf(file)) {
        const target = posix.join(dirname(file), link.split("#")[0] ?? "");
        if (target.endsWith(".md") && existsSync(join(packageRoot, target))) queue.push(target);
      }
    }
    const lost = filesBelow("docs", ".md").filter((file) => !reached.has(file) && !errorPages.includes(file));
    expect(lost).toEqual([]);
  });
});

describe("reference pages", () => {
  it("has every command and option, as the table of commands has them", async () => {
    const file = join(packageRoot, "docs/reference/cli.md");
    const expected = renderCliReference(commandNames.map((name) => [name, commandSpec(name)] as const));
    if (process.env.UPDATE === "1") await writeFile(file, expected);
    expect(readSource("docs/reference/cli.md"), "run with UPDATE=1 to rewrite it").toBe(expected);
  });

  it("has every event", () => {
    const text = readSource("docs/reference/sessions.md");
    expect(Object.keys(eventCatalog).filter((type) => !text.includes(`\`${type}\``))).toEqual([]);
  });

  it("has every error code of the HTTP API, with its status", () => {
    const source = readSource("runtime/errors.ts");
    const table = /statusByCode = \{([\s\S]*?)\}/.exec(source)?.[1] ?? "";
    const codes = [...table.matchAll(/(\w+): (\d+)/g)].map((match) => [match[1] ?? "", match[2] ?? ""] as const);
    expect(codes.length).toBeGreaterThan(10);
    const rows = readSource("docs/reference/http-api.md").split("\n");
    const missing = codes.filter(
      ([code, status]) => !rows.some((row) => row.startsWith(`| ${status} `) && row.includes(`\`${code}\``)),
    );
    expect(missing).toEqual([]);
  });

  it("has every route of the HTTP API, and no other", () => {
    const code = filesBelow("runtime/http", ".ts").map(readSource).join("\n");
    const served = [...code.matchAll(/\.(get|post|put|patch|delete)\(\s*"(\/[^"]*)"/g)]
      .map(([, method = "", path = ""]) => `${method.toUpperCase()} ${path}`)
      .filter((route) => !route.endsWith("*"));
    expect(served.length).toBeGreaterThan(15);
    const text = readSource("docs/reference/http-api.md");
    const documented = [...text.matchAll(/`(GET|POST|PUT|PATCH|DELETE) (\/[^`?]*)/g)].map(
      ([, method = "", path = ""]) => `${method} ${path}`,
    );
    expect([...new Set(documented)].sort()).toEqual([...new Set(served)].sort());
  });

  it("has every field of an agent's config", () => {
    const source = readSource("runtime/authoring/agent.ts");
    const body = /interface AgentConfig \{([\s\S]*?)\n\}/.exec(source)?.[1] ?? "";
    const fields = [...body.matchAll(/^ {2}readonly (\w+)\?:/gm)].map((match) => match[1] ?? "");
    expect(fields.length).toBeGreaterThan(10);
    const text = readSource("docs/reference/agent-config.md");
    expect(fields.filter((field) => !text.includes(`\`${field}\``))).toEqual([]);
  });
});

function paths(): Record<string, string[]> {
  const source = (path: string) => [join(packageRoot, path)];
  return {
    "@cursor/bdk": source("runtime/authoring/index.ts"),
    "@cursor/bdk/serve": source("cli/api/serve.ts"),
    "@cursor/bdk/build": source("cli/api/build.ts"),
    "@cursor/bdk/*": source("runtime/authoring/*.ts"),
  };
}

/** The commands of a shell block, split into words the way a shell would; comments and assignments left out. */
function shellCommands(code: string): string[][] {
  return code
    .replace(/\\\n/g, " ")
    .split("\n")
    .flatMap((line) => line.split(/\s&&\s|\s\|\s/).map((part) => part.replace(/\s>\s.*$/, "")))
    .map((line) =>
      [...line.replace(/(^|\s)#.*$/, "").matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)]
        .map((match) => match[1] ?? match[2] ?? match[3] ?? "")
        .filter(
          (word, index, words) =>
            !(/^[A-Z_]+=/.test(word) && words.slice(0, index).every((each) => /^[A-Z_]+=/.test(each))),
        ),
    )
    .filter((words) => words.length > 0);
}
