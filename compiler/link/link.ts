/**
 * Links all project code to one text with esbuild: TypeScript, tsconfig paths, CommonJS, decorators, top-level await and
 * npm packages in one native pass. No import or export is left; what is outside comes through `__bdk`.
 *
 * A pass may find packages that must stay outside or modules that mention their own place; then it runs again, knowing.
 */
import { realpathSync } from "node:fs";
import path from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { BuildContext, BuildFailure, BuildOptions, BuildResult, Metafile } from "esbuild";
import { type Diagnostic, hasErrors, type Result } from "../diagnostics/diagnostic.js";
import { type Adjustments, adjust } from "./adjust.js";
import { awaitedRequires } from "./awaited-requires.js";
import { computedImports } from "./computed-imports.js";
import { withDeadZones } from "./dead-zones.js";
import { entrySource, guardedEntrySource, inputOf, type LinkedModule } from "./entry.js";
import { isMade, plainFile } from "./input-names.js";
import { edgesOf, type KeptForm, keptModules } from "./kept.js";
import { textEndings } from "./loaders.js";
import { type LinkedMount, sharedScopes, strayImports } from "./mounts.js";
import { narrowImports } from "./narrow-imports.js";
import { type InstalledPackage, packageFolder } from "./package-folder.js";
import { isPardonable } from "./pardon.js";
import { linkPatch, type PatchBase, type PatchLink } from "./patch.js";
import { linkError, linkWarning, type NameFile } from "./problems.js";
import type { ProjectCode } from "./project-code.js";
import { findTwins, moduleKey, ownAliases, type ResolutionState, resolution } from "./resolution.js";

export type { LinkedModule, LinkedMount };

/** `flat` is what ships. `guarded` loads every module by itself, to tell which of them is at fault. */
export type LinkMode = "flat" | "guarded";

export interface Linked {
  readonly code: ProjectCode;
  /** Absolute paths of every file that went in. */
  readonly inputs: readonly string[];
  /** Module → the modules that it imports, as the guarded text names them: paths relative to the root. */
  readonly imports: ReadonlyMap<string, readonly string[]>;
  /** `slug`, a NUL, then an entry's id → the module that holds it. */
  readonly files: ReadonlyMap<string, string>;
  /** What a patch can build on; with `keeps` only. */
  readonly base?: PatchBase;
}

/** Code that replaces a part of what runs. */
export interface LinkedPatch extends Pick<PatchLink, "modules" | "touched" | "base"> {
  readonly code: ProjectCode;
}

export interface Linker {
  /** Links the modules; no value when an error stopped it. */
  link(modules: readonly LinkedModule[], mode?: LinkMode): Promise<Result<Linked | undefined>>;
  /** Says which extensions are mounted, from now on. */
  mount(mounts: readonly LinkedMount[]): void;
  /** Links what an edit of these files (absolute) touches, onto what runs; nothing when that takes a whole link. */
  patch(base: PatchBase, files: readonly string[]): Promise<LinkedPatch | undefined>;
  close(): Promise<void>;
}

export interface LinkerOptions {
  /** Absolute folder that module paths are relative to. */
  readonly root: string;
  /** Keep esbuild's state between calls (`bdk dev`). */
  readonly incremental?: boolean;
  /** Hand modules over by name as well, for patches (`kept.ts`). */
  readonly keeps?: boolean;
}

const passLimit = 5;

export function createLinker({ root: folder, incremental = false, keeps = false }: LinkerOptions): Linker {
  const root = realpathSync(folder);
  const known = new Map<string, InstalledPackage | undefined>();
  const nameFile: NameFile = (file) => displayName(root, path.resolve(root, plainFile(file)), known);
  const state: ResolutionState = {
    root,
    entry: "",
    external: new Map(),
    rewritten: new Map(),
    used: new Map(),
    natives: new Set(),
    scopes: [],
    mounted: new Set(),
    twins: new Map(),
    definitions: new Set(),
    generated: new Map(),
    zodLocales: false,
    pardons: false,
  };
  let kept: ReadonlyMap<string, KeptForm> = new Map();
  let adjustments: Adjustments = { beside: [], folders: {}, diagnostics: [] };
  let context: { readonly mode: LinkMode; readonly stamp: string; readonly build: BuildContext } | undefined;

  /** The filters of the plugin depend on these; when they change a kept context is of no use. */
  const stampOf = (): string =>
    JSON.stringify([
      state.zodLocales,
      state.pardons,
      state.scopes,
      [...state.definitions],
      [...state.twins],
      [...state.external.keys()],
      [...state.rewritten],
    ]);

  const pass = async (mode: LinkMode): Promise<BuildResult | BuildFailure> => {
    const { build, context: createContext } = await import("esbuild");
    state.used.clear();
    state.natives.clear();
    const options = buildOptions(root, state, mode);
    try {
      if (!incremental) return await build(options);
      if (context?.mode !== mode || context.stamp !== stampOf()) {
        await context?.build.dispose();
        context = { mode, stamp: stampOf(), build: await createContext(options) };
      }
      return await context.build.rebuild();
    } catch (error) {
      if (isBuildFailure(error)) return error;
      throw error;
    }
  };

  /** Which modules there are to keep is known behind a pass that went well; another one hands them over. */
  const keep = async (
    modules: readonly LinkedModule[],
    first: BuildResult | BuildFailure,
  ): Promise<BuildResult | BuildFailure> => {
    let result = first;
    if (isBuildFailure(result) && kept.size > 0) {
      // The errors to tell are those of the project, not those of keeping what is gone.
      kept = new Map();
      state.entry = entrySource(modules);
      result = await pass("flat");
    }
    if (isBuildFailure(result) || result.metafile === undefined) return result;
    const starts = modules.map(({ file }) => file);
    const wanted = keptModules(result.metafile, starts);
    if (isDeepStrictEqual([...wanted], [...kept])) return result;
    kept = wanted;
    state.entry = entrySource(modules, kept);
    return pass("flat");
  };

  return {
    mount(mounts) {
      state.scopes = sharedScopes(root, mounts);
      state.mounted = new Set(mounts.map(({ scope }) => path.join(root, scope)));
      state.twins = findTwins(root, state.mounted);
      state.definitions = new Set(mounts.map(({ module }) => path.join(root, module)));
    },
    async patch(base, files) {
      const keys = files.map((file) => path.relative(root, file).split(path.sep).join("/"));
      const own: ResolutionState = { ...state, used: new Map(), natives: new Set() };
      const found = await linkPatch(root, base, keys, (entry, plugin) => {
        own.entry = entry;
        const options = buildOptions(root, own, "flat");
        return { ...options, minify: false, plugins: [plugin, ...(options.plugins ?? [])] };
      });
      if (found === undefined || own.natives.size > 0) return undefined;
      const { text, map, ...rest } = found;
      const code: ProjectCode = {
        text,
        map: portableMap(map, nameFile),
        externals: externalsOf(own),
        beside: [],
        folders: adjustments.folders,
      };
      return { ...rest, code };
    },
    async link(modules, mode = "flat") {
      state.entry = mode === "flat" ? entrySource(modules, kept) : guardedEntrySource(modules);
      state.generated = new Map(
        modules.flatMap((each) => (each.generated === undefined ? [] : [[inputOf(each), each.generated] as const])),
      );
      state.pardons = false;
      let result = await pass(mode);
      const pardoned = result.errors.filter(isPardonable).map((message) => linkError(message, nameFile, root));
      if (pardoned.length > 0) {
        state.pardons = true;
        result = await pass(mode);
      }
      for (let count = 1; count < passLimit; count += 1) {
        const next = await adjust(state, result, known);
        adjustments = next.value;
        if (!next.changed) break;
        result = await pass(mode);
      }
      if (keeps && mode === "flat") result = await keep(modules, result);
      const warnings = result.warnings.flatMap((message) => linkWarning(message, nameFile) ?? []);
      const diagnostics: Diagnostic[] = [
        ...result.errors.map((message) => linkError(message, nameFile, root)),
        ...warnings,
        ...adjustments.diagnostics,
        ...("metafile" in result && result.metafile !== undefined
          ? strayImports(root, state.scopes, result.metafile)
          : []),
      ];
      const plain = "outputFiles" in result ? read(result, state, adjustments, nameFile, modules) : undefined;
      const metafile = "metafile" in result ? result.metafile : undefined;
      const canPatch = plain !== undefined && kept.size > 0 && mode === "flat" && metafile !== undefined;
      const linked = canPatch ? { ...plain, base: { modules, edges: edgesOf(metafile), kept } } : plain;
      if (linked === undefined || result.errors.length > 0)
        return { value: undefined, diagnostics: [...pardoned, ...diagnostics] };
      if (mode === "flat") {
        const inputs = "metafile" in result ? (result.metafile?.inputs ?? {}) : {};
        diagnostics.push(
          ...computedImports(linked.code),
          ...narrowImports(linked.code.text, inputs, root, warnings),
          ...(await awaitedRequires(root, inputs, nameFile)),
        );
      }
      return { value: hasErrors(diagnostics) ? undefined : linked, diagnostics: [...pardoned, ...diagnostics] };
    },
    async close() {
      await context?.build.dispose();
      context = undefined;
    },
  };
}

function buildOptions(root: string, state: ResolutionState, mode: LinkMode): BuildOptions {
  return {
    absWorkingDir: root,
    entryPoints: ["bdk:project"],
    outfile: path.join(root, "project.js"),
    bundle: true,
    write: false,
    metafile: true,
    format: "esm",
    platform: "node",
    target: "node20.19",
    charset: "ascii",
    legalComments: "none",
    logLevel: "silent",
    sourcemap: "external",
    sourcesContent: false,
    minify: mode === "flat",
    keepNames: true,
    alias: ownAliases(),
    loader: Object.fromEntries(textEndings.map((ending) => [ending, "text"])),
    plugins: [resolution(state)],
  };
}

function read(
  result: BuildResult,
  state: ResolutionState,
  { beside, folders }: Adjustments,
  nameFile: NameFile,
  modules: readonly LinkedModule[],
): Linked {
  const texts = new Map(result.outputFiles?.map((file) => [path.extname(file.path), file.text]));
  const inputs = result.metafile?.inputs ?? {};
  const map = texts.get(".map") ?? "{}";
  const code: ProjectCode = {
    text: announced(lenientGlobs(withDeadZones(texts.get(".js") ?? "", map, inputs, state.root))),
    map: portableMap(map, nameFile),
    externals: externalsOf(state),
    beside,
    folders,
  };
  const files = [...new Set(Object.keys(inputs).map(plainFile))].filter((file) => !isMade(file));
  return {
    code,
    inputs: files.map((file) => path.resolve(state.root, file)),
    imports: importsOf(inputs, modules),
    files: new Map(modules.map((each) => [`${each.slug}\0${each.id}`, inputOf(each)])),
  };
}

/** What each module imports; a contribution also needs its mount, which it does not import. */
function importsOf(inputs: Metafile["inputs"], modules: readonly LinkedModule[]): Map<string, readonly string[]> {
  const found = new Map<string, readonly string[]>(
    Object.entries(inputs).map(([file, { imports }]) => [file, imports.map((each) => each.path)]),
  );
  for (const each of modules) {
    if (each.needs !== undefined) found.set(inputOf(each), [...(found.get(inputOf(each)) ?? []), each.needs]);
  }
  return found;
}

function externalsOf({ used, external }: ResolutionState): ProjectCode["externals"] {
  return [...used.values()]
    .map(({ owner, from, imports }) => ({
      name: owner.name,
      version: owner.version,
      dir: owner.dir,
      from,
      reason: external.get(owner.name) ?? "",
      imports: [...imports].sort(),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * `import("./" + name)` finds its module by the path as written in the folder; names without an ending, and `.js` that
 * means `.ts`, are looked up by `__bdk.glob`. Replaced at equal length, so that the map still fits.
 */
function lenientGlobs(text: string): string {
  return text.replace(
    /(\w+)(\)? ?=> ?\(?)(\w+)(\)? ?=> ?\{[^}]*?)throw new Error\("Module not found in bundle: " ?\+ ?\3\)/,
    (whole: string, map: string, between: string, name: string, rest: string) => {
      const replaced = `${map}${between}${name}${rest}return __bdk.glob(${map},${name})`;
      return replaced.padEnd(whole.length);
    },
  );
}

/** Guarded text tells which module begins: esbuild's wrappers of lazily run modules hold their names. */
function announced(text: string): string {
  return text
    .replace(
      "return fn && (res = (0, fn[__getOwnPropNames(fn)[0]])(fn = 0)), res;",
      "return fn && (res = __bdk.module(__getOwnPropNames(fn)[0], (key = __getOwnPropNames(fn)[0], run = fn[key]) => run(fn = 0))), res;",
    )
    .replace(
      "return mod || (0, cb[__getOwnPropNames(cb)[0]])((mod = { exports: {} }).exports, mod), mod.exports;",
      "return mod || __bdk.module(__getOwnPropNames(cb)[0], () => (0, cb[__getOwnPropNames(cb)[0]])((mod = { exports: {} }).exports, mod)), mod.exports;",
    );
}

/** The map with sources that are the same wherever the project and its packages stand. */
function portableMap(map: string, nameFile: NameFile): string {
  const parsed = JSON.parse(map) as { sources?: string[]; names?: string[]; mappings?: string };
  const sources = (parsed.sources ?? []).map((source) => (isMade(plainFile(source)) ? source : nameFile(source)));
  return JSON.stringify({ version: 3, sources, names: [], mappings: parsed.mappings ?? "" });
}

/** A file as diagnostics and maps name it. */
function displayName(root: string, file: string, known: Map<string, InstalledPackage | undefined>): string {
  const own = path.relative(path.join(packageFolder, "dist", "authoring"), file);
  if (!own.startsWith("..")) return `@cursor/bdk/${own.split(path.sep).join("/")}`;
  return moduleKey(root, file, known);
}

function isBuildFailure(error: unknown): error is BuildFailure {
  return error instanceof Error && "errors" in error && Array.isArray(error.errors);
}
