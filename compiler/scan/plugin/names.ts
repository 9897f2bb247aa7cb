import type { PluginReader } from "./reader.js";

/** A name that a namespace can stand in front of: letters, digits, `_` and single hyphens. */
export function fitName(name: string): string {
  return name
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .replace(/[^A-Za-z0-9_-]+/g, "-")
    .replace(/_{2,}/g, "_")
    .replace(/-{2,}/g, "-")
    .replace(/^[-_]+|[-_]+$/g, "")
    .slice(0, 64);
}

/**
 * The name under which a part is mounted. `undefined`, and reported, when nothing of it can be used.
 *
 * @param what `skill`, `command`, `agent` or `MCP server`
 */
export function mountName(name: string, what: string, file: string, reader: PluginReader): string | undefined {
  const fit = fitName(name);
  if (fit === "") {
    const message = `left out: "${name}" is no name for a ${what}`;
    reader.report("pluginPartSkipped", { message, at: reader.start(file), help: "use letters, digits and hyphens" });
    return undefined;
  }
  if (fit !== name) {
    reader.report("pluginName", {
      message: `the ${what} "${name}" is mounted as "${fit}"`,
      at: reader.start(file),
      help: "names take letters, digits, - and _, and the separator __ is reserved",
    });
  }
  return fit;
}

/** Keeps the first part of each name, sorted by name, and reports the others. */
export function distinct<T extends { readonly name: string; readonly file: string }>(
  parts: readonly T[],
  what: string,
  reader: PluginReader,
): readonly T[] {
  const byName = new Map<string, T>();
  for (const part of parts) {
    const first = byName.get(part.name);
    if (first === undefined) byName.set(part.name, part);
    else if (first.file !== part.file) {
      reader.report("pluginPartSkipped", {
        message: `left out: ${first.file} already brings the ${what} "${part.name}"`,
        at: { file: part.file, line: 1, column: 1 },
      });
    }
  }
  return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}
