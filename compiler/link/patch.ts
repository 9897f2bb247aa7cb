/** Links only the modules that an edit touches, onto the modules that the running server has kept. */
import path from "node:path";
import type { BuildOptions, OnResolveArgs, OutputFile, Plugin } from "esbuild";
import { entrySource, type LinkedModule } from "./entry.js";
import { edgesOf, isOwnModule, type KeptForm, type ModuleEdge, type ModuleEdges } from "./kept.js";

/** What the text that runs is made of. */
export interface PatchBase {
  readonly modules: readonly LinkedModule[];
  readonly edges: ModuleEdges;
  readonly kept: ReadonlyMap<string, KeptForm>;
}

export interface PatchLink {
  readonly text: string;
  /** Source map as esbuild made it. */
  readonly map: string;
  /** Definitions whose modules run again. */
  readonly modules: readonly LinkedModule[];
  /** Keys of the modules that run again. */
  readonly touched: ReadonlySet<string>;
  /** What the next patch builds on. */
  readonly base: PatchBase;
}

/** Past this many modules, linking everything is no slower. */
const limit = 200;

const seen = Symbol("resolved for a patch");
/** A module that reads its own place is rewritten by a whole link. */
const mentionsPlace = /import\.meta|__dirname|__filename/;

/**
 * @param changed keys of edited modules
 * @returns nothing when the edit needs a whole link: it has an error, reaches modules that were not kept, is imported
 * lazily, or touches too much.
 */
export async function linkPatch(
  root: string,
  base: PatchBase,
  changed: readonly string[],
  options: (entry: string, plugin: Plugin) => BuildOptions,
): Promise<PatchLink | undefined> {
  const touched = touchedBy(base, changed);
  if (touched === undefined) return undefined;
  const modules = base.modules.filter(({ file }) => touched.has(file));
  const kept = new Map([...base.kept].filter(([key]) => touched.has(key)));
  const { build } = await import("esbuild");
  const result = await build(options(entrySource(modules, kept), keepOthers(root, base, touched))).catch(
    () => undefined,
  );
  const file = (ending: string): OutputFile | undefined =>
    result?.outputFiles?.find((each) => each.path.endsWith(ending));
  const text = file(".js")?.text;
  if (result?.metafile === undefined || text === undefined || mentionsPlace.test(text)) return undefined;
  const { inputs } = result.metafile;
  if ([...kept].some(([key, form]) => (inputs[key]?.format === "cjs") !== (form === "exports"))) return undefined;
  const edges = new Map(base.edges);
  for (const [key, imports] of edgesOf(result.metafile)) if (touched.has(key)) edges.set(key, imports.map(unkept));
  return { text, map: file(".map")?.text ?? "{}", modules, touched, base: { ...base, edges } };
}

/** The edited modules and all that import them, directly or not. */
function touchedBy({ edges, kept }: PatchBase, changed: readonly string[]): ReadonlySet<string> | undefined {
  const importers = new Map<string, { readonly from: string; readonly isStatic: boolean }[]>();
  for (const [from, imports] of edges) {
    if (!isOwnModule(from)) continue;
    for (const { to, isStatic } of imports) {
      const known = importers.get(to);
      if (known === undefined) importers.set(to, [{ from, isStatic }]);
      else known.push({ from, isStatic });
    }
  }
  const touched = new Set<string>();
  const queue = [...changed];
  for (let key = queue.pop(); key !== undefined; key = queue.pop()) {
    if (touched.has(key)) continue;
    if (!kept.has(key) || !isOwnModule(key) || touched.size === limit) return undefined;
    touched.add(key);
    for (const { from, isStatic } of importers.get(key) ?? []) {
      if (!isStatic) return undefined;
      queue.push(from);
    }
  }
  return touched;
}

/** Imports of modules that are not touched lead to those that run already. */
function keepOthers(root: string, { kept }: PatchBase, touched: ReadonlySet<string>): Plugin {
  return {
    name: "bdk-kept",
    setup(build) {
      build.onResolve({ filter: /.*/, namespace: "file" }, async (args) => {
        if (args.pluginData !== undefined) return undefined;
        const found = await build.resolve(args.path, { ...passed(args), pluginData: seen });
        if (found.errors.length > 0) return { errors: found.errors };
        if (found.external || found.namespace !== "file") return found;
        const key = path.relative(root, found.path).split(path.sep).join("/");
        if (touched.has(key)) return found;
        const form = kept.get(key);
        if (form === undefined) return { errors: [{ text: `${key} was not kept` }] };
        return { path: key, namespace: `bdk-kept-${form}` };
      });
      build.onResolve({ filter: /^bdk:kept\// }, ({ path: specifier }) => ({
        path: specifier.slice("bdk:kept/".length),
        namespace: "bdk-kept-exports",
      }));
      build.onLoad({ filter: /.*/, namespace: "bdk-kept-exports" }, ({ path: key }) => ({
        contents: `module.exports = __bdk.kept(${JSON.stringify(key)});`,
        loader: "js",
      }));
      // `export *` from a CommonJS module is looked up by name at run time: bindings stay live.
      build.onLoad({ filter: /.*/, namespace: "bdk-kept-namespace" }, ({ path: key }) => ({
        contents: `export * from ${JSON.stringify(`bdk:kept/${key}`)};
export default __bdk.kept(${JSON.stringify(key)}).default;`,
        loader: "js",
        resolveDir: root,
      }));
    },
  };
}

function passed({ importer, resolveDir, kind, namespace, with: attributes }: OnResolveArgs) {
  return { importer, resolveDir, kind, namespace, with: attributes };
}

function unkept({ to, isStatic }: ModuleEdge): ModuleEdge {
  return { to: to.replace(/^bdk-kept-\w+:/, ""), isStatic };
}
