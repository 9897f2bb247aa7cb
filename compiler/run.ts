/** One run of the pipeline: its diagnostics, its clock, and what its result depends on. */
import path from "node:path";
import type { Definition } from "./analyze/definition.js";
import { codes } from "./diagnostics/codes.js";
import { type Diagnostic, hasErrors, inOrder, primarySpan, type Result } from "./diagnostics/diagnostic.js";
import type { Evaluated } from "./evaluate/evaluate.js";
import type { CompileOptions, CompileResult, Phase } from "./index.js";
import { recordedSource } from "./recorded-source.js";
import type { Surface } from "./resolve/surface.js";
import type { ProjectTree } from "./scan/tree.js";
import { diskSource, type ProjectSource } from "./source.js";
import type { Stamps } from "./stamps.js";
import type { Workshop } from "./workshop.js";

export interface Run {
  readonly source: ProjectSource;
  readonly stamps: Stamps;
  /** Runs one phase and keeps what it says; gives its value. The phase may see what was said before. */
  phase<T>(name: Phase, work: (found: readonly Diagnostic[]) => Result<T> | Promise<Result<T>>): Promise<T>;
  readonly finish: Finish;
}

export interface Finish {
  /** Ends the run with what there is. */
  (
    tree: ProjectTree,
    parts: Pick<CompileResult, "surfaces" | "manifest" | "bundle"> & { readonly evaluated: Evaluated | undefined },
  ): CompileResult;
  hasErrors(): boolean;
  /** What the phases have said so far, in order. */
  said(): readonly Diagnostic[];
  readonly timings: Readonly<Partial<Record<Phase, number>>>;
}

export function startRun(workshop: Workshop, { onPhase }: CompileOptions): Run {
  const stamps = workshop.takeStamps();
  const recorded = recordedSource(diskSource(workshop.root, workshop.boundary, stamps));
  const diagnostics: Diagnostic[] = [];
  const timings: Partial<Record<Phase, number>> = {};
  const finish = (tree: ProjectTree, { evaluated, ...parts }: Parameters<Finish>[1]): CompileResult => {
    const watched = watchedPaths(workshop.root, tree, evaluated);
    const result = { ...parts, diagnostics: inOrder(diagnostics), inputs: watched, timings };
    if (hasErrors(diagnostics)) workshop.cache.save();
    else workshop.remember(result, [...recorded.asked(), ...resolvedFrom(workshop.root, tree, evaluated)], stamps);
    workshop.warm();
    return result;
  };
  return {
    source: recorded.source,
    stamps,
    async phase(name, work) {
      onPhase?.(name);
      const started = performance.now();
      const { value, diagnostics: said } = await work(diagnostics);
      timings[name] = performance.now() - started;
      diagnostics.push(...unsaid(said, diagnostics));
      return value;
    },
    finish: Object.assign(finish, {
      hasErrors: () => hasErrors(diagnostics),
      said: () => inOrder(diagnostics),
      timings,
    }),
  };
}

/**
 * What a phase adds to the phases before it: the same fault at the same place is said once, in the words of the first,
 * and of a file that can't be parsed nothing else.
 */
function unsaid(said: readonly Diagnostic[], before: readonly Diagnostic[]): readonly Diagnostic[] {
  const places = new Set(before.map(placeOf));
  const unreadable = new Set(before.filter(({ code }) => unparsed.has(code)).map((each) => primarySpan(each)?.file));
  return said.filter((each) => !places.has(placeOf(each)) && !unreadable.has(primarySpan(each)?.file ?? ""));
}

const unparsed: ReadonlySet<string> = new Set([codes.syntaxError.code, codes.badPackageJson.code]);

function placeOf(each: Diagnostic): string {
  const { file, line, column } = primarySpan(each) ?? {};
  return JSON.stringify(file === undefined ? [each.code, each.message] : [each.code, file, line, column]);
}

/** Definitions in files that have errors: evaluating them would only say the same again, in worse words. */
export function faultyDefinitions(surfaces: readonly Surface[], found: readonly Diagnostic[]): ReadonlySet<Definition> {
  const files = new Set(found.filter(({ severity }) => severity === "error").map((each) => primarySpan(each)?.file));
  const winners = surfaces.flatMap(({ entries }) => entries.map(({ winner }) => winner));
  return new Set(winners.filter(({ entry }) => files.has(entry.file)));
}

/** Files and folders whose change may change the result, but for those of installed packages that nothing mounts. */
function watchedPaths(root: string, tree: ProjectTree, evaluated: Evaluated | undefined): readonly string[] {
  const agents = tree.agents.flatMap(({ dir, base }) =>
    [base, "evals", "package.json", "tsconfig.json"].map((name) => path.join(root, dir, name)),
  );
  // Extensions, wherever they are: also their prose and files that are not there yet.
  const mounts = tree.agents.flatMap((agent) => agent.mounts);
  const mounted = mounts
    .flatMap(({ module }) => (module === undefined ? [] : path.dirname(module)))
    .map((folder) => path.join(root, folder));
  const packages = mounts.flatMap(({ scope }) => (scope === undefined ? [] : path.join(root, scope)));
  const isWatched = (file: string): boolean => {
    const owner = packages.find((each) => file.startsWith(`${each}${path.sep}`)) ?? "";
    return !file.slice(owner.length).includes(`${path.sep}node_modules${path.sep}`);
  };
  const own = linkedInputs(evaluated).filter(isWatched);
  return [
    ...new Set([
      root,
      path.join(root, "package.json"),
      path.join(root, "tsconfig.json"),
      ...agents,
      ...mounted,
      ...packages.map((folder) => path.join(folder, "package.json")),
      ...own,
    ]),
  ].sort();
}

/** What the linker read, and the places whose names decide what an import means. */
function resolvedFrom(root: string, tree: ProjectTree, evaluated: Evaluated | undefined): readonly string[] {
  const files = linkedInputs(evaluated);
  const folders = files
    .filter((file) => !file.includes(`${path.sep}node_modules${path.sep}`))
    .map((file) => path.dirname(file));
  const settings = ["", ...tree.agents.map(({ dir }) => dir)].flatMap((dir) =>
    [
      "package.json",
      "tsconfig.json",
      "package-lock.json",
      "pnpm-lock.yaml",
      "yarn.lock",
      "node_modules/.package-lock.json",
    ].map((name) => path.join(root, dir, name)),
  );
  return [...files, ...new Set(folders), ...settings];
}

function linkedInputs(evaluated: Evaluated | undefined): readonly string[] {
  const { linked } = evaluated ?? {};
  return linked === undefined ? [] : [...linked.inputs, ...linked.code.beside.map(({ file }) => file)];
}
