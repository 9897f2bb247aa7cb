import type { CodeName } from "../../diagnostics/codes.js";
import { type Diagnostic, type DiagnosticInit, diagnostic, type Span } from "../../diagnostics/diagnostic.js";
import { joinPath, type ProjectSource, parentOf, SourceError } from "../../source.js";

/**
 * The plugin's folder as its readers see it: paths relative to it, nothing read whose real place lies outside, every
 * complaint collected.
 */
export interface PluginReader {
  /** The folder, relative to the source's root. */
  readonly path: string;
  readonly diagnostics: readonly Diagnostic[];
  report(name: CodeName, init: DiagnosticInit): void;
  typeOf(file: string): "file" | "folder" | undefined;
  /** Text of a file; undefined, and reported, when it may not or can't be read. */
  read(file: string): string | undefined;
  /** Names directly in a folder, each with its path. */
  list(folder: string): readonly PluginNode[];
  /** All files below a folder, sorted. */
  filesBelow(folder: string): readonly string[];
  /** Path of a file relative to the source's root. */
  inSource(file: string): string;
  /** The start of a file. */
  start(file: string): Span;
}

export interface PluginNode {
  readonly name: string;
  readonly path: string;
  readonly type: "file" | "folder";
}

/** Never part of what a plugin ships. */
const skipped: ReadonlySet<string> = new Set([".git", "node_modules", ".DS_Store"]);

export function createPluginReader(source: ProjectSource, path: string): PluginReader {
  const diagnostics: Diagnostic[] = [];
  const complained = new Set<string>();
  const home = source.realpath(path);
  const inSource = (file: string) => joinPath(path, file);
  const start = (file: string): Span => ({ file: inSource(file), line: 1, column: 1 });
  const report = (name: CodeName, init: DiagnosticInit) => {
    diagnostics.push(diagnostic(name, init));
  };
  const once = (file: string, name: CodeName, init: DiagnosticInit) => {
    if (!complained.has(file)) report(name, init);
    complained.add(file);
  };
  const refuseOutside = (file: string) =>
    once(file, "pluginPathOutside", {
      message: `${file} leads out of the plugin's folder`,
      at: start(file),
      help: "copy what it points to into the plugin, or remove the link",
    });
  /** Where the path really is, when that is in the plugin. */
  const isInside = (file: string): boolean => {
    try {
      const real = source.realpath(inSource(file));
      if (real === home || real.startsWith(`${home}/`)) return true;
      refuseOutside(file);
      return false;
    } catch (error) {
      if (error instanceof SourceError) return false;
      throw error;
    }
  };
  const list = (folder: string): PluginNode[] =>
    source.list(inSource(folder)).flatMap(({ name, type }): PluginNode[] => {
      const file = joinPath(folder, name);
      if (skipped.has(name) || type === "broken") return [];
      if (type === "outside") refuseOutside(file);
      return type !== "outside" && isInside(file) ? [{ name, path: file, type }] : [];
    });

  return {
    path,
    diagnostics,
    report,
    inSource,
    start,
    list,
    typeOf: (file) => (isInside(file) ? source.typeOf(inSource(file)) : undefined),
    read(file) {
      if (!isInside(file)) return undefined;
      try {
        return source.readText(inSource(file));
      } catch (error) {
        if (!(error instanceof SourceError)) throw error;
        once(file, "unreadable", { message: `${file} can't be read: ${error.message}`, at: start(file) });
        return undefined;
      }
    },
    filesBelow(folder) {
      const walk = (at: string): string[] =>
        list(at).flatMap((node) => (node.type === "file" ? [node.path] : walk(node.path)));
      return walk(folder);
    },
  };
}

/** The name without its ending: `review` for `commands/review.md`. */
export function stemOf(file: string): string {
  const base = file.slice(parentOf(file).length).replace(/^\//, "");
  return base.replace(/\.[^.]+$/, "");
}
