/** What esbuild calls the modules that it read: their path below the root, or one of these forms. */

/** Instances of an extension that is mounted more than once. */
export const mountNamespace = "bdk-mount";

/** Files that are imported as text (`?raw`). */
export const rawNamespace = "bdk-raw";

/** The file behind such a name: itself, what an instance is of, what is imported as text or with attributes. */
export function plainFile(input: string): string {
  if (input.startsWith(`${mountNamespace}:`)) {
    return input.slice(mountNamespace.length + 1).replace(/\?mount=[^?]*$/, "");
  }
  return isRaw(input) ? input.slice(rawNamespace.length + 1) : withoutAttributes(input);
}

/** A file that is imported with attributes and without them counts twice, and is one. */
export function withoutAttributes(input: string): string {
  return input.replace(/ with \{ .* \}$/, "");
}

/** Whether the name stands for a file's text, and not for a module. */
export function isRaw(input: string): boolean {
  return input.startsWith(`${rawNamespace}:`);
}

/** Whether a plugin of ours made the module: the entry, builtins, packages outside, instances, raw text. */
export function isMade(input: string): boolean {
  return /^bdk(?:-[a-z]+)*:/.test(input);
}

/** Whether a source, as diagnostics and maps name it, is the authors' own, not a package's or made. */
export function isProject(source: string): boolean {
  return !source.startsWith("node_modules/") && !isMade(source) && !source.startsWith("@cursor/bdk/");
}
