/** Who may import whom: docs/architecture.md, "Who may import whom". */
import { builtinModules } from "node:module";
import { describe, expect, it } from "vitest";
import { describeImport, filesBelow, type ImportOf, importsOf } from "./source-files.js";

const sources = ["runtime", "compiler", "cli"].flatMap((folder) => filesBelow(folder, ".ts"));
const imports = sources.filter((file) => !file.endsWith(".test.ts")).flatMap(importsOf);

/** Imports of a folder that a rule refuses. */
function refused(folder: string, isRefused: (each: ImportOf) => boolean): string[] {
  return imports.filter((each) => each.from.startsWith(`${folder}/`) && isRefused(each)).map(describeImport);
}

const within = (each: ImportOf, ...places: string[]) =>
  each.target !== undefined && places.some((place) => each.target === place || each.target?.startsWith(`${place}/`));
const isPackage = (each: ImportOf, name: string) => each.specifier === name || each.specifier.startsWith(`${name}/`);
const isBuiltin = (each: ImportOf) =>
  each.specifier.startsWith("node:") || builtinModules.includes(each.specifier.split("/")[0] ?? "");

describe("imports", () => {
  it("finds what there is to check", () => {
    expect(imports.length).toBeGreaterThan(100);
    expect(new Set(imports.map((each) => each.from.split("/")[0]))).toEqual(new Set(["runtime", "compiler", "cli"]));
  });

  it("ends relative specifiers in the extension that runs", () => {
    const wrong = imports.filter((each) => each.target !== undefined && !/\.(js|mjs|json|css)$/.test(each.specifier));
    expect(wrong.map(describeImport)).toEqual([]);
  });

  it("keeps authoring free of imports: types of siblings and of the event vocabulary only", () => {
    const wrong = refused("runtime/authoring", (each) => {
      if (!within(each, "runtime/authoring", "runtime/session/event.ts")) return true;
      // `@cursor/bdk/channels` has a file of its own for the webhook pack.
      const isIndexReexport = /^runtime\/authoring\/(index|channels)\.ts$/.test(each.from) && each.reexport;
      return !each.typeOnly && !isIndexReexport;
    });
    expect(wrong).toEqual([]);
  });

  it("keeps the session core to itself", () => {
    expect(refused("runtime/session", (each) => !within(each, "runtime/session"))).toEqual([]);
  });

  it("keeps the runtime free of the compiler, the CLI and their packages", () => {
    const buildOnly = ["ts-morph", "typescript", "rollup", "esbuild", "chokidar", "cac", "@clack/prompts"];
    const wrong = refused(
      "runtime",
      (each) => within(each, "compiler", "cli") || buildOnly.some((name) => isPackage(each, name)),
    );
    expect(wrong).toEqual([]);
  });

  it("lets only storage, workspace and host touch the disk", () => {
    const wrong = refused("runtime", (each) => {
      const isFs = /^(node:)?fs(\/promises)?$/.test(each.specifier);
      return isFs && !/^runtime\/(storage|workspace|host)\//.test(each.from);
    });
    expect(wrong).toEqual([]);
  });

  it("lets the compiler know of the runtime only its contracts", () => {
    // `load.ts` is shared so that what is evaluated is loaded exactly as it is served; `info.ts` is the one shape of
    // `/v1/info` and of `bdk info --json`; `event.ts` holds the vocabulary that hooks are checked against; `cron.ts` says
    // of an expression the same at build time as when it waits for it.
    const contracts = [
      "runtime/manifest",
      "runtime/session/event.ts",
      "runtime/schedules/cron.ts",
      "runtime/host/load.ts",
    ];
    const typesOnly = ["runtime/authoring", "runtime/host/boot-input.ts", "runtime/host/sections.ts"];
    const wrong = refused("compiler", (each) => {
      if (within(each, "cli")) return true;
      if (!within(each, "runtime") || within(each, ...contracts)) return false;
      return !(each.typeOnly && within(each, ...typesOnly));
    });
    expect(wrong).toEqual([]);
  });

  it("keeps the phases in order: none knows of a later one", () => {
    const phases = ["scan", "analyze", "mount", "resolve", "link", "evaluate", "manifest", "emit"];
    const wrong = phases.flatMap((phase, index) =>
      refused(`compiler/${phase}`, (each) => {
        const later = phases.slice(index + 1).map((name) => `compiler/${name}`);
        return within(each, ...later) || within(each, "compiler/index.ts");
      }),
    );
    expect(wrong).toEqual([]);
  });

  it("gives the CLI the compiler's door, not its rooms", () => {
    const doors = [
      "compiler/index.ts",
      "compiler/diagnostics",
      "compiler/diff",
      "compiler/source.ts",
      "compiler/slots.ts",
      "compiler/emit/bundle.ts",
      // What runs in the dev server's process is described there.
      "compiler/evaluate/describe/definition.ts",
    ];
    const wrong = refused("cli", (each) => within(each, "compiler") && !within(each, ...doors));
    expect(wrong).toEqual([]);
  });

  it("loads heavy packages in the CLI only when a command needs them", () => {
    const reached = new Set<string>();
    const queue = ["cli/bdk.ts"];
    for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
      if (reached.has(file)) continue;
      reached.add(file);
      for (const each of imports) {
        if (each.from === file && !each.typeOnly && !each.dynamic && each.target !== undefined) queue.push(each.target);
      }
    }
    expect(reached.size).toBeGreaterThan(1);
    const heavyFolders =
      /^(compiler\/(index|scan|analyze|mount|resolve|evaluate|manifest|emit)|runtime\/(host|http|session))\b/;
    expect([...reached].filter((file) => heavyFolders.test(file))).toEqual([]);
    const heavy = ["ts-morph", "esbuild", "rollup", "typescript", "chokidar", "fastify", "@clack/prompts"];
    const wrong = imports.filter(
      (each) =>
        reached.has(each.from) && !each.typeOnly && !each.dynamic && heavy.some((name) => isPackage(each, name)),
    );
    expect(wrong.map(describeImport)).toEqual([]);
  });

  it("names node builtins with node:", () => {
    expect(
      imports.filter((each) => isBuiltin(each) && !each.specifier.startsWith("node:")).map(describeImport),
    ).toEqual([]);
  });
});
