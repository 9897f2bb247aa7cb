import { SourceMap, type SourceMapPayload } from "node:module";
import { type Diagnostic, diagnostic } from "../diagnostics/diagnostic.js";
import { isProject } from "./input-names.js";
import type { ProjectCode } from "./project-code.js";

/** An `import()` whose argument is no string: the linker follows those that begin with a folder, and leaves the others. */
const computed = /(?<![\w$.])import\((?!\s*["'])/g;

/** Imports of computed names that are left in the text: whatever they mean has to stand beside the bundle. */
export function computedImports({ text, map }: Pick<ProjectCode, "text" | "map">): readonly Diagnostic[] {
  const offsets = [...text.matchAll(computed)].map(({ index }) => index);
  if (offsets.length === 0) return [];
  const parsed = new SourceMap(JSON.parse(map) as SourceMapPayload);
  return offsets.flatMap((offset) => {
    const before = text.slice(0, offset);
    const start = before.lastIndexOf("\n") + 1;
    const entry = parsed.findEntry(before.split("\n").length - 1, offset - start);
    if (!("originalSource" in entry) || !isOwn(entry.originalSource)) return [];
    return diagnostic("computedImport", {
      message: "what this imports is computed, so it can't be linked into the bundle",
      at: { file: entry.originalSource, line: entry.originalLine + 1, column: entry.originalColumn + 1 },
      help: 'begin the name with a folder, as in import("./plugins/" + name), and all of that folder comes along',
    });
  });
}

function isOwn(source: string | undefined): source is string {
  return source !== undefined && isProject(source);
}
