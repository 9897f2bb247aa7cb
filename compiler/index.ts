/** The compiler's door. `compile()` runs the whole pipeline; `createCompiler()` keeps caches between runs for `bdk dev`. */
import { existsSync, statSync } from "node:fs";
import type { Manifest } from "../runtime/manifest/schema.js";
import { absentProject } from "./absent.js";
import { analyze } from "./analyze/analyze.js";
import type { Diagnostic } from "./diagnostics/diagnostic.js";
import type { Bundle } from "./emit/bundle.js";
import { emit } from "./emit/emit.js";
import { evaluate } from "./evaluate/evaluate.js";
import { checkTypes } from "./evaluate/types.js";
import type { ProjectCode } from "./link/project-code.js";
import { createManifest } from "./manifest/create.js";
import { linkScripts } from "./manifest/scripts.js";
import { mount } from "./mount/mount.js";
import { createPatch, type Patch, type Patchable } from "./patch.js";
import { resolve } from "./resolve/resolve.js";
import type { Surface } from "./resolve/surface.js";
import { faultyDefinitions, startRun } from "./run.js";
import { scan } from "./scan/scan.js";
import { openWorkshop } from "./workshop.js";

export type { EntryOutcome, EvaluationEntry } from "./evaluate/protocol.js";
export type { Patch } from "./patch.js";
export type { ProjectCode };

export type Phase = "scan" | "mount" | "analyze" | "resolve" | "evaluate" | "scripts" | "manifest" | "emit" | "types";

export interface CompileOptions {
  /**
   * How problems of the environment are taken: `build` hides the builder's environment and defers to startup what
   * fails only for lack of it; `strict` (validate, serve, dev, run) evaluates with the real one. Default `build`.
   */
  readonly environment?: "build" | "strict";
  /** How far to go: `validate` and `info` stop before emit; `serve` and `dev` need the linked project but no server.mjs. Default `bundle`. */
  readonly until?: "manifest" | "project" | "bundle";
  /** Also type-check with the project's tsconfig. */
  readonly types?: boolean;
  /** Content-hash cache folder; `false` for none. Default `<project>/node_modules/.cache/bdk`, else the user's cache folder. */
  readonly cache?: string | false;
  /** Runtime sections to link besides those the manifest needs (`--include`). */
  readonly include?: readonly string[];
  /** Deadline of one module load in milliseconds. Default 10 000. */
  readonly loadTimeoutMs?: number;
  readonly onPhase?: (phase: Phase) => void;
}

export interface CompileResult {
  readonly diagnostics: readonly Diagnostic[];
  readonly surfaces: readonly Surface[];
  /** Absent when an error stopped the pipeline before that phase. */
  readonly manifest?: Manifest;
  readonly bundle?: Bundle;
  /** Absolute paths of files and folders that a change of would alter the result. */
  readonly inputs: readonly string[];
  /** Wall milliseconds by phase. */
  readonly timings: Readonly<Partial<Record<Phase, number>>>;
}

export interface Compiler {
  compile(): Promise<CompileResult>;
  /**
   * The short way for an edit of files (absolute paths) of a project that compiled: code that runs on top of `last`'s, which
   * must be what runs now. Nothing when the edit needs `compile()`. Only for `strict`, until `project`.
   */
  patch(last: CompileResult, files: readonly string[]): Promise<Patch | undefined>;
  /** A compilation under way is not waited out: modules that load are stopped, and what it then says means nothing. */
  close(): Promise<void>;
}

/**
 * Compiles a project folder once.
 *
 * @example
 * const { diagnostics, bundle } = await compile("my-agent");
 */
export async function compile(dir: string, options: CompileOptions = {}): Promise<CompileResult> {
  if (!existsSync(dir) || !statSync(dir).isDirectory()) return absentProject(dir);
  const compiler = makeCompiler(dir, options, false);
  try {
    return await compiler.compile();
  } finally {
    await compiler.close();
  }
}

/** A compiler for many runs over one folder: what has not changed since the last run is not done again. */
export function createCompiler(dir: string, options: CompileOptions = {}): Compiler {
  return makeCompiler(dir, options, true);
}

function makeCompiler(dir: string, options: CompileOptions, incremental: boolean): Compiler {
  const { environment = "build", until = "bundle", include = [], loadTimeoutMs: timeoutMs = 10_000 } = options;
  const workshop = openWorkshop(dir, options, incremental);
  const { root, cache } = workshop;
  const patchables = new WeakMap<ProjectCode, Patchable>();

  const run = async (): Promise<CompileResult> => {
    const known = workshop.recall();
    if (known !== undefined) return known;
    const { source, stamps, phase, finish } = startRun(workshop, options);
    const project = await phase("scan", () => scan(source, until === "manifest"));
    const tree = await phase("mount", () => mount(project, source, workshop.resolveModule, cache.facts));
    const definitions = await phase("analyze", () => analyze(tree, source, cache.facts));
    const surfaces = await phase("resolve", () => resolve(tree, definitions));
    if (options.types === true) await phase("types", () => checkTypes(tree, source));
    // What is sound is evaluated even beside what is not, so that one run tells all there is to mend.
    const evaluated = await phase("evaluate", (found) =>
      evaluate(surfaces, {
        ...workshop,
        ...{ root, stamps, environment, timeoutMs },
        faulty: faultyDefinitions(surfaces, found),
      }),
    );
    if (evaluated === undefined || finish.hasErrors()) return finish(tree, { surfaces, evaluated });
    const scripts = await phase("scripts", () => linkScripts(surfaces, evaluated, root));
    if (finish.hasErrors()) return finish(tree, { surfaces, evaluated });
    const created = await phase("manifest", () => createManifest(surfaces, evaluated, source, scripts));
    if (finish.hasErrors()) return finish(tree, { surfaces, evaluated });
    const { manifest, blobs } = created;
    if (until === "manifest") return finish(tree, { surfaces, evaluated, manifest });
    const { code } = evaluated.linked;
    patchables.set(code, { surfaces, evaluated, scripts, whole: code, patches: new Map() });
    const bundle = { manifest, project: code, blobs };
    const files = until === "project" ? [] : await phase("emit", () => emit({ ...bundle, include }));
    return finish(tree, { surfaces, evaluated, manifest, bundle: { ...bundle, files } });
  };
  let running: Promise<unknown> = Promise.resolve();

  return {
    compile() {
      const result = run();
      // The caller takes the failure.
      running = result.catch(() => undefined);
      return result;
    },
    patch: (last, files) => createPatch(workshop, options, last, patchables, files),
    async close() {
      workshop.interrupt();
      await running;
      await workshop.close();
    },
  };
}
