import { readdir } from "node:fs/promises";
import { codeOf, type HeldFolder, inFolder, isAbsent, shownPath } from "./contained.js";
import { ToolFailure } from "./tool.js";

/** Most files and folders that one search looks at. */
const maxVisited = 200_000;
/** Deepest folder that a search enters. */
const maxDepth = 64;

/** Folders that nobody means unless they name them: other people's code, and version control's own files. */
const passedOver: ReadonlySet<string> = new Set(["node_modules", ".git", ".hg", ".svn"]);

/** A file found by a search. */
export interface FoundFile {
  /** Relative to the working directory. */
  readonly path: string;
  readonly name: string;
  /** The folder it stands in, held open while the file is looked at. */
  readonly folder: HeldFolder;
}

/**
 * Visits the ordinary files below a folder, in byte order, until `visit` returns false. Links are not followed. Gives
 * whether everything was visited.
 */
export async function walk(
  root: string,
  given: string,
  signal: AbortSignal | undefined,
  visit: (file: FoundFile) => boolean | Promise<boolean>,
): Promise<boolean> {
  let visited = 0;

  async function enter(folder: HeldFolder, depth: number): Promise<boolean> {
    signal?.throwIfAborted();
    const found = await readdir(folder.entry("."), { withFileTypes: true });
    const shown = shownPath(root, folder.real);
    const prefix = shown === "." ? "" : `${shown}/`;
    for (const each of found.sort((left, right) => (left.name < right.name ? -1 : 1))) {
      visited += 1;
      if (visited > maxVisited)
        throw new ToolFailure(`There are more than ${maxVisited} files here: search a folder further down.`);
      const path = prefix + each.name;
      if (each.isDirectory()) {
        if (passedOver.has(each.name) || depth >= maxDepth) continue;
        if (!(await enterBelow(path, depth + 1))) return false;
      } else if (each.isFile() && !(await visit({ path, name: each.name, folder }))) return false;
    }
    return true;
  }

  /** A folder may go, or be closed to us, while its parent is read. */
  async function enterBelow(path: string, depth: number): Promise<boolean> {
    try {
      return await inFolder(root, path, (folder) => enter(folder, depth));
    } catch (error) {
      if (isAbsent(error) || codeOf(error) === "EACCES") return true;
      throw error;
    }
  }

  return inFolder(root, given, (folder) => enter(folder, 0));
}
