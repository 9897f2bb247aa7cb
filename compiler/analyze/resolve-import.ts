import path from "node:path";
import { type ProjectSource, parentOf, type SourceEntry, SourceError } from "../source.js";

/** Names in a folder and what they are, each folder listed once. */
export type FolderView = (dir: string) => ReadonlyMap<string, SourceEntry["type"]>;

export function folderView(source: ProjectSource): FolderView {
  const known = new Map<string, ReadonlyMap<string, SourceEntry["type"]>>();
  return (dir) => {
    const listed = known.get(dir) ?? new Map(listing(source, dir).map((entry) => [entry.name, entry.type]));
    known.set(dir, listed);
    return listed;
  };
}

/** In a folder that may not be listed, as scan has said or the linker will, nothing is found. */
function listing(source: ProjectSource, dir: string): readonly SourceEntry[] {
  try {
    return source.list(dir);
  } catch (error) {
    if (error instanceof SourceError) return [];
    throw error;
  }
}

/** `.js` specifiers mean `.ts` files, as TypeScript has it. */
const rewritten: readonly (readonly [from: string, to: readonly string[]])[] = [
  [".js", [".ts", ".tsx"]],
  [".mjs", [".mts"]],
  [".cjs", [".cts"]],
  [".jsx", [".tsx"]],
];
const implied = [".ts", ".tsx", ".mts", ".cts", ".js", ".mjs", ".cjs", ".jsx", ".json"] as const;

/** The file that a path without a sure ending stands for: itself, its TypeScript source, or a folder's index. */
export function resolveFile(folders: FolderView, target: string): string | undefined {
  const clean = path.posix.normalize(target).replace(/\/$/, "");
  for (const file of candidates(clean)) {
    if (folders(parentOf(file)).get(path.posix.basename(file)) === "file") return file;
  }
  return undefined;
}

function* candidates(file: string): Generator<string> {
  yield file;
  for (const [from, to] of rewritten) {
    if (file.endsWith(from)) for (const ending of to) yield file.slice(0, -from.length) + ending;
  }
  for (const ending of implied) yield file + ending;
  for (const ending of implied) yield path.posix.join(file, `index${ending}`);
}

/** A module whose syntax is read: not JSON, not text. */
export function isCode(file: string): boolean {
  return /\.[cm]?[jt]sx?$/.test(file) && !/\.d\.[cm]?ts$/.test(file);
}
