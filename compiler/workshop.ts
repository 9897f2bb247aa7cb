/** What a compiler keeps between runs: the linker's state, a warm child, caches, and the last result. */
import { existsSync, realpathSync } from "node:fs";
import path from "node:path";
import { type Cache, cacheFolder, cacheVersion, openCache } from "./cache.js";
import type { Bundle } from "./emit/bundle.js";
import { emit } from "./emit/emit.js";
import { createEvaluator, type Evaluator } from "./evaluate/child-process.js";
import type { CompileOptions, CompileResult } from "./index.js";
import { createLinker, type Linker } from "./link/link.js";
import { moduleResolver, type ResolveModule } from "./link/resolve-modules.js";
import { hasWorkspaces } from "./source.js";
import { hashOf, type Stamps } from "./stamps.js";

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
  /** What stands at the paths that a new run looks at. */
  takeStamps(): Stamps;
  /** Keeps a result for the next run, unless something that it depends on has changed meanwhile. */
  remember(result: CompileResult, inputs: readonly string[], stamps: Stamps): void;
  /** Gets ready for the next run (`bdk dev`). */
  warm(): void;
  /** Ends what runs outside of this process: a run under way finds nothing more out. */
  interrupt(): void;
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
  let isInterrupted = false;
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
    takeStamps: () => results.takeStamps(),
    remember(result, inputs, stamps) {
      cache.save();
      if (!keeps || isInterrupted) return;
      const taken = [...new Set(inputs)].sort().map((file) => stamps.of(file));
      if (stamps.stand()) results.writeResult(name(), taken, withoutCopies(result));
    },
    warm() {
      if (incremental && strict) evaluator.warm(root, processEnvironment());
    },
    interrupt() {
      isInterrupted = true;
      evaluator.close();
    },
    close: () => linker.close(),
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
    if (hasWorkspaces(dir)) return dir;
  }
  return root;
}

/** A result as it is kept: emitted files are printed anew, and the manifest is there once. */
type Kept = Omit<CompileResult, "bundle"> & { readonly bundle?: Omit<Bundle, "files" | "manifest"> };

function withoutCopies(result: CompileResult): Kept {
  const { bundle: whole, ...rest } = result;
  if (whole === undefined) return rest;
  const { files: _files, manifest: _manifest, ...bundle } = whole;
  return { ...rest, bundle };
}

function revive(
  stored: unknown,
  until: CompileOptions["until"],
  include: readonly string[],
): CompileResult | undefined {
  if (stored === undefined) return undefined;
  const { bundle: kept, ...rest } = stored as Kept;
  const result = { ...rest, timings: {} };
  const { manifest } = result;
  if (kept === undefined || manifest === undefined) return result;
  const bundle = { ...kept, manifest };
  return { ...result, bundle: { ...bundle, files: until === "bundle" ? emit({ ...bundle, include }).value : [] } };
}
