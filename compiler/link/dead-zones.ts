/**
 * Modules that import each other may read a `const` before its module has run, which is an error in Node. esbuild makes
 * such names `var`, and then it is `undefined`. So in those modules they are made `let`, which is as long.
 */
import { readFileSync } from "node:fs";
import { SourceMap, type SourceMapPayload } from "node:module";
import path from "node:path";
import type { Metafile } from "esbuild";
import { isOwnModule } from "./kept.js";

/** What a declaration of a name with a dead zone begins with. */
const declaration = /^(?:const|let|class|abstract class|export default|default)\b/;

/**
 * esbuild joins neighbouring declarations, and some do mean `var`: of a module that has those (or classes with
 * decorators, which are put together in steps) everything stays as it is.
 */
const meansVar = /\b(?:var|enum|namespace|module|using)\b|^\s*@\w/m;

/** @param map of esbuild, with paths relative to the root */
export function withDeadZones(text: string, map: string, inputs: Metafile["inputs"], root: string): string {
  const sources = new Map<string, readonly string[]>();
  for (const key of modulesInCycles(inputs)) {
    const source = readFileSync(path.resolve(root, key), "utf8");
    if (!meansVar.test(source)) sources.set(key, source.split(/\r\n|[\n\r\u2028\u2029]/));
  }
  if (sources.size === 0) return text;
  const parsed = new SourceMap(JSON.parse(map) as SourceMapPayload);
  const lines = text.split("\n");
  return lines
    .map((line, row) =>
      line.replace(/\bvar /g, (found, column: number) => {
        const entry = parsed.findEntry(row, column);
        if (!("originalSource" in entry) || entry.generatedLine !== row || entry.generatedColumn !== column)
          return found;
        const original = sources.get(entry.originalSource)?.[entry.originalLine]?.slice(entry.originalColumn);
        return original !== undefined && declaration.test(original) ? "let " : found;
      }),
    )
    .join("\n");
}

/** Modules of the project on a way from a cycle of imports to one: what is in no cycle either imports or is imported last. */
function modulesInCycles(inputs: Metafile["inputs"]): ReadonlySet<string> {
  const left = new Map<string, readonly string[]>();
  for (const [key, { imports }] of Object.entries(inputs)) {
    if (!isOwnModule(key) || !/\.[cm]?[jt]sx?$/.test(key)) continue;
    const targets = imports.filter(({ kind }) => kind === "import-statement").map((each) => each.path);
    left.set(key, targets);
  }
  for (let size = -1; size !== left.size; ) {
    size = left.size;
    const imported = new Set([...left.values()].flat());
    for (const [key, targets] of left) {
      if (!imported.has(key) || !targets.some((target) => left.has(target))) left.delete(key);
    }
  }
  return new Set(left.keys());
}
