import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import type { EmittedFile } from "../../compiler/emit/bundle.js";
import { ownPackage } from "../package-root.js";

/** Folder that holds `playground/` and `docs/` as this package was built. */
export function staticFolder(): string {
  return join(ownPackage().root, "dist");
}

/** The web page and the documentation, to be written beside a bundle; empty when this package was built without them. */
export function readStaticFiles(): readonly EmittedFile[] {
  const root = staticFolder();
  return ["docs", "playground"].flatMap((name) =>
    listFiles(join(root, name)).map((file) => ({
      path: relative(root, file).split(sep).join("/"),
      contents: readFileSync(file),
    })),
  );
}

function listFiles(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((each) => each.isFile())
      .map((each) => join(each.parentPath, each.name))
      .sort();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}
