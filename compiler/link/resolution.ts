/** How imports of project code are resolved, as an esbuild plugin: what esbuild can't know by itself. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { builtinModules } from "node:module";
import path from "node:path";
import type { OnLoadResult, OnResolveArgs, Plugin, PluginBuild, ResolveResult } from "esbuild";
import { packageAliases } from "../aliases.js";
import type { GeneratedModule } from "./entry.js";
import { plainFile, rawNamespace } from "./input-names.js";
import { loaderOf } from "./loaders.js";
import { resolveMounts, type SharedScope, withRoot } from "./mounts.js";
import { distFile, type InstalledPackage, packageFolder, packageOf, readPackage } from "./package-folder.js";
import { pardoned, resolvePardoned } from "./pardon.js";

/** What a failed import of ours is about; travels through esbuild as `detail` of its message. */
export interface ImportProblem {
  readonly kind: "forbidden" | "external-conflict";
  readonly specifier: string;
}

/** What the linker knows before a pass, and what the pass adds to it. */
export interface ResolutionState {
  readonly root: string;
  /** The generated module; its folder is the root. */
  entry: string;
  /** Packages to leave outside: name → reason. */
  readonly external: Map<string, string>;
  /** Modules that mention their own place: absolute path → rewritten text. */
  readonly rewritten: Map<string, string>;
  /** Found in this pass: external packages and the specifiers that ES modules import from them. */
  readonly used: Map<
    string,
    { readonly owner: InstalledPackage; readonly from: string; readonly imports: Set<string> }
  >;
  /** Found in this pass: native addons of packages (to be external next time) and of the project. */
  readonly natives: Set<string>;
  /** Extensions that are mounted more than once. */
  scopes: readonly SharedScope[];
  /** Absolute folders of mounted packages: linked whatever they do, as the project itself is. */
  mounted: ReadonlySet<string>;
  /** Mounted packages of one name in several places, and what their modules' keys begin with. */
  twins: Twins;
  /** Absolute paths of modules that define a mounted extension. */
  definitions: ReadonlySet<string>;
  /** Modules that no file holds, by what esbuild calls them. */
  generated: ReadonlyMap<string, GeneratedModule>;
  /** Whether project code may use zod's translations: a quarter of a megabyte that most never ask for. */
  zodLocales: boolean;
  /** Whether a package.json of the project can't be read. */
  pardons: boolean;
}

const ownNames = packageAliases.map(escaped).join("|");
const skip = Symbol("resolved by esbuild");

/** Our subpaths by themselves: `@cursor/july/tools` means our `tools`. */
export function ownAliases(): Record<string, string> {
  return Object.fromEntries(packageAliases.map((name) => [name, distFile("authoring")]));
}

/** The plugin; a new one is needed when `external` or `rewritten` have changed, for their filters are fixed. */
export function resolution(state: ResolutionState): Plugin {
  return {
    name: "bdk",
    setup(build) {
      resolveEntry(build, state);
      resolveOwn(build);
      resolveBuiltins(build);
      resolveZod(build, state);
      resolveRaw(build, state);
      resolveNatives(build, state);
      resolveExternals(build, state);
      loadRewritten(build, state);
      leaveOutLocales(build, state);
      resolveGenerated(build, state);
      resolveMounts(build, state.root, state.scopes, (file) => readRewritten(file, state));
      if (state.pardons) resolvePardoned(build);
    },
  };
}

function resolveEntry(build: PluginBuild, state: ResolutionState): void {
  build.onResolve({ filter: /^bdk:project$/ }, () => ({ path: "project", namespace: "bdk" }));
  build.onLoad({ filter: /^project$/, namespace: "bdk" }, () => ({
    contents: state.entry,
    loader: "js",
    resolveDir: state.root,
  }));
}

/** `/serve` and `/build` start servers and compilers: project code that is itself being served can't have them. */
function resolveOwn(build: PluginBuild): void {
  build.onResolve({ filter: new RegExp(`^(?:${ownNames})/(?:serve|build)$`) }, ({ path: specifier }) =>
    problem({ kind: "forbidden", specifier }),
  );
}

function resolveBuiltins(build: PluginBuild): void {
  const bare = builtinModules.filter((name) => !name.startsWith("_")).map(escaped);
  build.onResolve({ filter: new RegExp(`^(?:node:.+|${bare.join("|")})$`) }, ({ path: specifier }) => ({
    path: specifier.startsWith("node:") ? specifier : `node:${specifier}`,
    namespace: "bdk-builtin",
    sideEffects: false,
  }));
  build.onLoad({ filter: /.*/, namespace: "bdk-builtin" }, ({ path: specifier }) => ({
    contents: `module.exports = __bdk.require(${JSON.stringify(specifier)});`,
    loader: "js",
  }));
}

/** A project may import zod without listing it: then it gets ours. */
function resolveZod(build: PluginBuild, state: ResolutionState): void {
  if ([state.root, ...state.mounted].every((folder) => findsPackage("zod", folder))) return;
  // Thousands of tools in one folder ask the same; each question is a round trip to esbuild and back.
  const answers = new Map<string, Promise<ResolveResult>>();
  build.onStart(() => answers.clear());
  const ask = async (args: OnResolveArgs): Promise<ResolveResult> => {
    const theirs = await build.resolve(args.path, { ...passed(args), pluginData: skip });
    if (theirs.errors.length === 0) return theirs;
    return build.resolve(args.path, { ...passed(args), pluginData: skip, resolveDir: packageFolder });
  };
  build.onResolve({ filter: /^zod(?:\/|$)/ }, (args) => {
    if (args.pluginData === skip || args.pluginData === pardoned) return undefined;
    const question = [args.path, args.kind, args.namespace, args.resolveDir].join("\0");
    const answer = answers.get(question) ?? ask(args);
    answers.set(question, answer);
    return answer;
  });
}

function resolveRaw(build: PluginBuild, state: ResolutionState): void {
  build.onResolve({ filter: /\?raw$/ }, async (args) => {
    const specifier = args.path.replace(/\?raw$/, "");
    const found = await build.resolve(specifier, passed(args));
    if (found.errors.length > 0) return { errors: found.errors };
    const file = found.namespace === "file" ? found.path : plainFile(`${found.namespace}:${found.path}`);
    return { path: posix(path.relative(state.root, path.resolve(state.root, file))), namespace: rawNamespace };
  });
  build.onLoad({ filter: /.*/, namespace: rawNamespace }, async ({ path: name }) => {
    const file = path.join(state.root, name);
    return { contents: await readFile(file), loader: "text", watchFiles: [file] };
  });
}

/** A native addon can't be linked. In a package: the package stays outside. In the project: the file is kept beside. */
function resolveNatives(build: PluginBuild, state: ResolutionState): void {
  build.onResolve({ filter: /\.node$/ }, (args) => {
    const file = path.resolve(args.resolveDir, args.path);
    state.natives.add(file);
    return { path: posix(path.relative(state.root, file)), namespace: "bdk-native" };
  });
  build.onLoad({ filter: /.*/, namespace: "bdk-native" }, ({ path: name }) => ({
    contents: `module.exports = __bdk.native(${JSON.stringify(moduleKey(state.root, path.join(state.root, name)))});`,
    loader: "js",
  }));
}

/** Modules made for the linker, such as the connection to a plugin's server. */
function resolveGenerated(build: PluginBuild, state: ResolutionState): void {
  build.onResolve({ filter: /^bdk-generated:/ }, ({ path: specifier }) => ({
    path: specifier.slice("bdk-generated:".length),
    namespace: "bdk-generated",
  }));
  build.onLoad({ filter: /.*/, namespace: "bdk-generated" }, ({ path: name }) => ({
    contents: state.generated.get(`bdk-generated:${name}`)?.text ?? "",
    loader: "js",
    resolveDir: state.root,
  }));
}

function resolveExternals(build: PluginBuild, state: ResolutionState): void {
  if (state.external.size === 0) return;
  const names = [...state.external.keys()].map(escaped).join("|");
  build.onResolve({ filter: new RegExp(`^(?:${names})(?:/|$)`) }, async (args) => {
    if (args.pluginData === skip || args.pluginData === pardoned) return undefined;
    const found = await build.resolve(args.path, { ...passed(args), pluginData: skip });
    if (found.errors.length > 0) return { errors: found.errors };
    const owner = packageOf(found.path);
    if (owner === undefined || !state.external.has(owner.name)) return found;
    const known = state.used.get(owner.name) ?? { owner, from: args.resolveDir, imports: new Set<string>() };
    if (known.owner.dir !== owner.dir) return problem({ kind: "external-conflict", specifier: args.path });
    state.used.set(owner.name, known);
    if (args.kind === "dynamic-import") return { path: args.path, external: true };
    if (args.kind !== "import-statement") return { path: args.path, namespace: "bdk-required" };
    known.imports.add(args.path);
    return { path: args.path, namespace: "bdk-imported" };
  });
  build.onLoad({ filter: /.*/, namespace: "bdk-required" }, ({ path: specifier }) => ({
    contents: `module.exports = __bdk.require(${JSON.stringify(specifier)});`,
    loader: "js",
  }));
  // `export *` from a CommonJS module is looked up by name at run time, which is all that is known of these.
  build.onResolve({ filter: /^bdk:namespace\// }, ({ path: specifier }) => ({
    path: specifier.slice("bdk:namespace/".length),
    namespace: "bdk-namespace",
  }));
  build.onLoad({ filter: /.*/, namespace: "bdk-namespace" }, ({ path: specifier }) => ({
    contents: `module.exports = __bdk.imported(${JSON.stringify(specifier)});`,
    loader: "js",
  }));
  build.onLoad({ filter: /.*/, namespace: "bdk-imported" }, ({ path: specifier }) => ({
    contents: `export * from ${JSON.stringify(`bdk:namespace/${specifier}`)};
export default __bdk.imported(${JSON.stringify(specifier)}).default;`,
    loader: "js",
    resolveDir: state.root,
  }));
}

function loadRewritten(build: PluginBuild, state: ResolutionState): void {
  const files = [...new Set([...state.rewritten.keys(), ...state.definitions])].map(escaped);
  if (files.length === 0) return;
  build.onLoad({ filter: new RegExp(`^(?:${files.join("|")})$`) }, async ({ path: file }): Promise<OnLoadResult> => {
    const contents = await readRewritten(file, state);
    return { contents, loader: loaderOf(file), resolveDir: path.dirname(file), watchFiles: [file] };
  });
}

/** A module's text, with what it says about its own place in terms of the linked text. */
async function readRewritten(file: string, { rewritten, definitions, root, twins }: ResolutionState): Promise<string> {
  const known = rewritten.get(file);
  if (known !== undefined) return known;
  const text = await readFile(file, "utf8");
  return definitions.has(file) ? (withRoot(text, placeKey(twins, root, file)) ?? text) : text;
}

/** zod exports every translation of its messages as one namespace, which a linker can't take apart. */
function leaveOutLocales(build: PluginBuild, state: ResolutionState): void {
  if (state.zodLocales) return;
  build.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, ({ path: file }) => ({
    contents: 'export { default as en } from "./en.js";',
    loader: "js",
    resolveDir: path.dirname(file),
  }));
}

/**
 * What names a module in the linked text: its path below the root, or `node_modules/<package>/<path>` for what stands
 * anywhere else. The same on every machine.
 */
export function moduleKey(root: string, file: string, known?: Map<string, InstalledPackage | undefined>): string {
  const installed = file.lastIndexOf(`${path.sep}node_modules${path.sep}`);
  if (installed >= 0) return posix(file.slice(installed + 1));
  const relative = path.relative(root, file);
  if (!relative.startsWith("..")) return posix(relative);
  const owner = packageOf(file, known);
  return owner === undefined ? posix(relative) : posix(`node_modules/${owner.name}/${path.relative(owner.dir, file)}`);
}

/** Absolute folders of packages → what stands for them in the linked text. */
export type Twins = ReadonlyMap<string, string>;

/**
 * Packages of which `moduleKey` would make one: two versions of an extension, in a store or in different
 * `node_modules`. Their keys carry the version.
 */
export function findTwins(root: string, folders: Iterable<string>): Twins {
  const byKey = new Map<string, string[]>();
  for (const dir of [...new Set(folders)].sort()) {
    const key = moduleKey(root, dir);
    byKey.set(key, [...(byKey.get(key) ?? []), dir]);
  }
  const twins = new Map<string, string>();
  for (const [key, dirs] of byKey) {
    if (dirs.length === 1) continue;
    for (const [index, dir] of dirs.entries()) twins.set(dir, `${key}@${readPackage(dir)?.version ?? ""}+${index}`);
  }
  return twins;
}

/** As `moduleKey`, for what is found by its key when the linked text runs: of twins each has its own. */
export function placeKey(
  twins: Twins,
  root: string,
  file: string,
  known?: Map<string, InstalledPackage | undefined>,
): string {
  const key = moduleKey(root, file, known);
  const twin = twins.size === 0 ? undefined : twins.get(packageOf(file, known)?.dir ?? "");
  return twin === undefined ? key : twin + key.slice(twin.lastIndexOf("@"));
}

/** True when Node would find the package from this folder. */
export function findsPackage(name: string, from: string): boolean {
  for (let dir = from; ; dir = path.dirname(dir)) {
    if (existsSync(path.join(dir, "node_modules", name, "package.json"))) return true;
    if (path.dirname(dir) === dir) return false;
  }
}

function passed({ importer, resolveDir, kind, namespace, with: attributes }: OnResolveArgs) {
  return { importer, resolveDir, kind, namespace, with: attributes };
}

function problem(detail: ImportProblem) {
  return { errors: [{ text: `cannot import ${detail.specifier}`, detail }] };
}

function posix(file: string): string {
  return file.split(path.sep).join("/");
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}
