/** What a compiler keeps between runs: the linker's state, a warm child, caches, and the last result. */
import { existsSync, readFileSync, realpathSync } from "node:fs";
import path from "node:path";
import { type Cache, cacheFolder, cacheVersion, hashOf, openCache } from "./cache.js";
import { emit } from "./emit/emit.js";
import { createEvaluator, type Evaluator } from "./evaluate/child-process.js";
import type { CompileOptions, CompileResult } from "./index.js";
import { createLinker, type Linker } from "./link/link.js";
import { moduleResolver, type ResolveModule } from "./link/resolve-modules.js";

export interface Workshop {
  /** Absolute, with links resolved. */
  readonly root: string;
  /** Folder that nothing is read outside of: the workspace's root, else the project's. */
  readonly boundary: string;
  readonly cache: Cache;
  readonly linker: Linker;
  /** Resolves imports as the linker does. */
  readonly resolveModule: ResolveModule;
  readonly evaluator: Evaluator;
  /** The last result, when nothing that it depends on has changed. */
  recall(): CompileResult | undefined;
  remember(result: CompileResult, inputs: readonly string[]): void;
  /** Gets ready for the next run (`bdk dev`). */
  warm(): void;
  close(): Promise<void>;
}

export function openWorkshop(dir: string, options: CompileOptions, incremental: boolean): Workshop {
  const root = existsSync(dir) ? realpathSync(dir) : path.resolve(dir);
  const strict = options.environment === "strict";
  // A strict run may hold values of the environment: those never go to disk.
  const cache = openCache(options.cache === false ? false : (options.cache ?? cacheFolder(root)));
  const results = strict ? openCache(false) : cache;
  const { environment = "build", until = "bundle", include = [], types = false, loadTimeoutMs } = options;
  const name = () =>
    `result-${hashOf(JSON.stringify([cacheVersion(), root, environment, until, include, types, loadTimeoutMs, strict ? process.env : null])).slice(0, 24)}`;
  const linker = createLinker({ root, incremental, keeps: incremental && strict && options.until === "project" });
  const evaluator = createEvaluator();
  const keeps = incremental || (options.cache !== false && !strict);
  return {
    root,
    boundary: workspaceRoot(root),
    cache,
    linker,
    // Anew for each run: packages come and go between them.
    get resolveModule() {
      return moduleResolver(root);
    },
    evaluator,
    recall: () => (keeps ? revive(results.readResult(name()), until, include) : undefined),
    remember(result, inputs) {
      cache.save();
      if (keeps) results.writeResult(name(), inputs, withoutFiles(result));
    },
    warm() {
      if (incremental && strict) evaluator.warm(root, processEnvironment());
    },
    async close() {
      evaluator.close();
      await linker.close();
    },
  };
}

function processEnvironment(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/** The folder above that says it holds workspaces, or the project's own. */
function workspaceRoot(root: string): string {
  for (let dir = root; path.dirname(dir) !== dir; dir = path.dirname(dir)) {
    if (existsSync(path.join(dir, "pnpm-workspace.yaml"))) return dir;
    const file = path.join(dir, "package.json");
    if (existsSync(file) && /"workspaces"\s*:/.test(readFileSync(file, "utf8"))) return dir;
  }
  return root;
}

/** Emitted files are printed anew from what they are made of, which is quicker than to keep them twice. */
function withoutFiles(result: CompileResult): CompileResult {
  return result.bundle === undefined ? result : { ...result, bundle: { ...result.bundle, files: [] } };
}

function revive(
  stored: unknown,
  until: CompileOptions["until"],
  include: readonly string[],
): CompileResult | undefined {
  if (stored === undefined) return undefined;
  const result = { ...(stored as CompileResult), timings: {} };
  const { bundle } = result;
  if (bundle === undefined || until !== "bundle") return result;
  return { ...result, bundle: { ...bundle, files: emit({ ...bundle, include }).value } };
}
