/**
 * Modules that a running server keeps by name, so that an edit needs to link only what it touches (`bdk dev`). The text
 * hands their namespaces to `__bdk.keep`; a patch gets them back from `__bdk.kept`.
 */
import type { Metafile } from "esbuild";
import { isMade, withoutAttributes } from "./input-names.js";

/** How a module is handed over: the namespace of an ES module, or `module.exports` as it is. */
export type KeptForm = "namespace" | "exports";

/** One import of a module, as the linker resolved it. */
export interface ModuleEdge {
  /** Key of the imported module: its path relative to the root. */
  readonly to: string;
  /** Evaluated with its importer, as opposed to `import()` and the like. */
  readonly isStatic: boolean;
}

/** Module → what it imports. */
export type ModuleEdges = ReadonlyMap<string, readonly ModuleEdge[]>;

export function edgesOf(metafile: Metafile): ModuleEdges {
  return new Map(
    Object.entries(metafile.inputs).map(([file, { imports }]) => [
      withoutAttributes(file),
      imports
        .filter(({ external }) => external !== true)
        .map(({ path, kind }) => ({ to: withoutAttributes(path), isStatic: kind === "import-statement" })),
    ]),
  );
}

/** A module of the project itself, linked from TypeScript or JavaScript that can be edited. */
export function isOwnModule(key: string): boolean {
  return !isMade(key) && !key.includes("node_modules/") && !key.includes("dist/authoring/");
}

/**
 * What to keep: every module of the project that loads with it, and what those import from packages. Modules that load
 * later, by `import()`, stay as lazy as they are.
 */
export function keptModules(metafile: Metafile, starts: readonly string[]): ReadonlyMap<string, KeptForm> {
  const edges = edgesOf(metafile);
  const kept = new Map<string, KeptForm>();
  const queue = starts.filter((key) => edges.has(key));
  for (let key = queue.pop(); key !== undefined; key = queue.pop()) {
    if (kept.has(key) || isGenerated(key)) continue;
    kept.set(key, metafile.inputs[key]?.format === "cjs" ? "exports" : "namespace");
    if (!isOwnModule(key)) continue;
    for (const { to, isStatic } of edges.get(key) ?? []) if (isStatic) queue.push(to);
  }
  return new Map([...kept].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** A module that a plugin makes: builtins, packages outside, raw text. The patch makes its own. */
function isGenerated(key: string): boolean {
  return isMade(key) || key.startsWith("(disabled)");
}

/** Statements that hand the modules over, at the end of the generated entry. */
export function keepSource(kept: ReadonlyMap<string, KeptForm>): string {
  if (kept.size === 0) return "";
  const imports: string[] = [];
  const fields: string[] = [];
  for (const [key, form] of kept) {
    const specifier = JSON.stringify(`./${key}`);
    if (form === "namespace") imports.push(`import * as k${fields.length} from ${specifier};`);
    const value = form === "namespace" ? `k${fields.length}` : `require(${specifier})`;
    fields.push(`${JSON.stringify(key)}: ${value}`);
  }
  return `${imports.join("\n")}\n__bdk.keep?.({ ${fields.join(", ")} });\n`;
}
