import { joinPath, parentOf } from "../../source.js";
import type { PluginReader } from "./reader.js";

/** Names that hosts put in front of a path of the plugin itself. */
const ownRoot = /^\$\{(?:CLAUDE_|CURSOR_)?PLUGIN_ROOT\}\/?/;

/**
 * Files and folders that a manifest names, by path or glob, relative to the plugin. What leads out of the plugin is an
 * error, what is not there a warning.
 */
export function declaredPaths(values: readonly string[], manifest: string, reader: PluginReader): string[] {
  const found = values.flatMap((value) => {
    const path = insidePath(value);
    if (path === undefined) {
      reader.report("pluginPathOutside", {
        message: `"${value}" leads out of the plugin's folder`,
        at: reader.start(manifest),
        help: "name paths below the plugin's folder, starting with ./",
      });
      return [];
    }
    const matches = /[*?[{]/.test(path) ? matching(path, reader) : reader.typeOf(path) === undefined ? [] : [path];
    if (matches.length === 0) {
      reader.report("pluginPathMissing", {
        message: `the manifest names "${value}", and there is nothing there`,
        at: reader.start(manifest),
      });
    }
    return matches;
  });
  return [...new Set(found)];
}

/** The path without `./`; undefined for absolute ones and those that climb out. */
export function insidePath(value: string): string | undefined {
  const path = value.replace(ownRoot, "./");
  if (path.includes("\0") || /^([/\\~]|[A-Za-z]:)/.test(path)) return undefined;
  const clean = joinPath(path.replaceAll("\\", "/"));
  return clean === ".." || clean.startsWith("../") ? undefined : clean;
}

function matching(glob: string, reader: PluginReader): string[] {
  const pattern = globPattern(glob);
  const files = reader.filesBelow("");
  const folders = new Set<string>();
  for (const file of files) for (let at = parentOf(file); at !== ""; at = parentOf(at)) folders.add(at);
  return [...files, ...[...folders].sort()].filter((path) => pattern.test(path));
}

/** `*` and `?` stay within a name, `**` spans folders, `{a,b}` is one of several. */
export function globPattern(glob: string): RegExp {
  const tokens = /\*\*\/|\*\*|\*|\?|\{[^{}]*\}|[^*?{}]+|[{}]/g;
  const body = [...glob.matchAll(tokens)].map(([token]) => {
    if (token === "**/") return "(?:.*/)?";
    if (token === "**") return ".*";
    if (token === "*") return "[^/]*";
    if (token === "?") return "[^/]";
    if (token.startsWith("{") && token.length > 1) return `(?:${token.slice(1, -1).split(",").map(literal).join("|")})`;
    return literal(token);
  });
  return new RegExp(`^${body.join("")}$`);
}

function literal(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
