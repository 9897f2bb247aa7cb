/**
 * `import(`./plugins/${name}.js`)`: elsewhere `.js` means TypeScript files too, here the linker takes those that end as
 * written. With none it says so itself; with some, the others would be missed at run time.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import type { Metafile } from "esbuild";
import { type Diagnostic, diagnostic, primarySpan } from "../diagnostics/diagnostic.js";
import { isOwnModule } from "./kept.js";

/** A folder, something computed, and an ending: as a template, or put together with +. */
const computed =
  /\b(?:import|require)\(\s*(?:`(\.{1,2}\/[^`$]*)\$\{[^`]*\}([^`$]*\.[cm]?js)`|["'](\.{1,2}\/[^"']*)["']\s*\+[^()]*\+\s*["']([^"']*\.[cm]?js)["'])\s*[,)]/g;

/** @param said what the linker says itself: of a line that it names, nothing is added */
export function narrowImports(
  text: string,
  inputs: Metafile["inputs"],
  root: string,
  said: readonly Diagnostic[],
): readonly Diagnostic[] {
  if (!text.includes("__bdk.glob(")) return [];
  return Object.keys(inputs)
    .filter((file) => isOwnModule(file) && /\.[cm]?[jt]sx?$/.test(file))
    .flatMap((file) => {
      const source = readFileSync(path.resolve(root, file), "utf8");
      return [...source.matchAll(computed)].flatMap((found) => {
        const [whole, head = found[3] ?? "", tail = found[4] ?? ""] = found;
        const missed = missedBy(path.resolve(root, path.dirname(file)), head, tail);
        if (missed === undefined) return [];
        const lines = source.slice(0, found.index).split("\n");
        if (said.map(primarySpan).some((span) => span?.file === file && span.line === lines.length)) return [];
        return diagnostic("missingImport", {
          message: `${path.relative(root, missed).split(path.sep).join("/")} is not among what ${whole.replace(/[,)]$/, "")}) finds`,
          at: { file, line: lines.length, column: (lines.at(-1) ?? "").length + 1 },
          help: 'leave the ending to the name, as in import("./plugins/" + name): one.js then means one.ts as well',
        });
      });
    });
}

/** A TypeScript file that is meant by its name in JavaScript, and stands there only as itself. */
function missedBy(from: string, head: string, tail: string): string | undefined {
  // Of a head that ends in a slash, join keeps it.
  const start = path.join(from, head);
  const folder = head.endsWith("/") ? start : path.dirname(start);
  const ending = tail.replace(/js$/, "ts");
  const walk = (dir: string): string | undefined => {
    for (const each of existsSync(dir) ? readdirSync(dir, { withFileTypes: true }) : []) {
      const file = path.join(dir, each.name);
      if (each.isDirectory() && each.name !== "node_modules") {
        const below = walk(file);
        if (below !== undefined) return below;
      }
      const isMeant = each.isFile() && file.startsWith(start) && file.endsWith(ending);
      if (isMeant && !/\.(?:d|test|spec)\.[cm]?ts$/.test(file) && !existsSync(file.replace(/ts$/, "js"))) return file;
    }
    return undefined;
  };
  return walk(folder);
}
