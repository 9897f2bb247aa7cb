import { readdir, readFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import type { EmittedFile } from "../../compiler/emit/bundle.js";
import { ownPackage } from "../package-root.js";

/** Folder that holds `playground/` and `docs/` as this package was built. */
export function staticFolder(): string {
  return join(ownPackage().root, "dist");
}

/** The web page and the documentation, to be written beside a bundle; empty when this package was built without them. */
export async function readStaticFiles(): Promise<readonly EmittedFile[]> {
  const root = staticFolder();
  const folders = await Promise.all(["docs", "playground"].map((name) => listFiles(join(root, name))));
  return Promise.all(
    folders.flat().map(async (file) => ({
      path: relative(root, file).split(sep).join("/"),
      contents: await readFile(file),
    })),
  );
}

async function listFiles(folder: string): Promise<readonly string[]> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return [];
      throw error;
    },
  );
  return found
    .filter((each) => each.isFile())
    .map((each) => join(each.parentPath, each.name))
    .sort();
}
