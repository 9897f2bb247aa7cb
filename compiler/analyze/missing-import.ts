import path from "node:path";
import { type Diagnostic, diagnostic, type Span } from "../diagnostics/diagnostic.js";
import { suggest } from "../diagnostics/suggest.js";
import { parentOf } from "../source.js";
import type { FolderView } from "./resolve-import.js";

/** A relative import that leads nowhere, with the file beside that place that was meant. */
export function missingImport(specifier: string, target: string, at: Span, folders: FolderView): readonly Diagnostic[] {
  // What lies outside the folder that we may read is there or not for the linker to say.
  if (target.startsWith("../")) return [];
  const names = [...folders(parentOf(target)).keys()].flatMap((name) => [name, asImported(name)]);
  const near = suggest(path.posix.basename(target), names);
  const help =
    near === undefined
      ? `there is nothing at ${target}`
      : `did you mean "${specifier.slice(0, specifier.lastIndexOf("/") + 1)}${near}"?`;
  return [diagnostic("missingImport", { message: `can't find "${specifier}"`, at, help })];
}

/** A TypeScript file is imported under the name of the JavaScript it becomes. */
function asImported(name: string): string {
  return name.replace(/\.([cm]?)tsx?$/, ".$1js");
}
