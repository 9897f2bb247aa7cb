import { diagnostic, type Result } from "../diagnostics/diagnostic.js";
import { joinPath, type ProjectSource, SourceError } from "../source.js";
import type { PackageRef } from "./tree.js";

/** `@acme/ci@1.2.0`. */
export function titleOf({ name, version }: PackageRef): string {
  return version === undefined ? name : `${name}@${version}`;
}

/** `name` of the folder's package.json; undefined without one. */
export function readPackageName(source: ProjectSource, dir: string): Result<string | undefined> {
  const file = joinPath(dir, "package.json");
  if (!source.exists(file)) return { value: undefined, diagnostics: [] };
  let text = "";
  try {
    text = source.readText(file);
    const manifest: unknown = JSON.parse(text);
    const name = typeof manifest === "object" && manifest !== null && "name" in manifest ? manifest.name : undefined;
    return { value: typeof name === "string" && name !== "" ? name : undefined, diagnostics: [] };
  } catch (error) {
    if (!(error instanceof SourceError || error instanceof SyntaxError)) throw error;
    const reason = error.message.replace(/ in JSON( at position .*)?$/, "");
    const report = diagnostic("badPackageJson", {
      message: `${file} can't be read: ${reason}`,
      at: { file, ...placeIn(text, error.message) },
      help:
        error instanceof SyntaxError
          ? "it must be plain JSON: no comments, no trailing commas"
          : "see to it that the file is there and that you may read it",
    });
    return { value: undefined, diagnostics: [report] };
  }
}

/** True when the folder's package.json asks for the package, for running or for developing. */
export function declares(source: ProjectSource, dir: string, name: string): boolean {
  const file = joinPath(dir, "package.json");
  if (!source.exists(file)) return false;
  try {
    const manifest: unknown = JSON.parse(source.readText(file));
    return dependencyFields.some((field) => {
      const listed: unknown =
        typeof manifest === "object" && manifest !== null ? Reflect.get(manifest, field) : undefined;
      return typeof listed === "object" && listed !== null && Object.hasOwn(listed, name);
    });
  } catch (error) {
    // Told by `readPackageName`; a file that can't be read asks for nothing.
    if (error instanceof SourceError || error instanceof SyntaxError) return false;
    throw error;
  }
}

const dependencyFields = ["dependencies", "devDependencies", "peerDependencies", "optionalDependencies"];

/** Line and column of the offset that V8's JSON errors mention; the end of the text when they mention none. */
function placeIn(text: string, message: string): { line: number; column: number } {
  const offset = Number(/at position (\d+)/.exec(message)?.[1] ?? text.length);
  const before = text.slice(0, offset).split("\n");
  return { line: before.length, column: (before.at(-1) ?? "").length + 1 };
}
