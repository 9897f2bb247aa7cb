import path from "node:path";
import { joinPath, type ProjectSource, parentOf, SourceError } from "../source.js";
import { type FolderView, resolveFile } from "./resolve-import.js";

/** Maps a specifier to a path of the project, when its pattern fits. */
export type PathAlias = (specifier: string) => string | undefined;

interface Config {
  readonly extends?: unknown;
  readonly compilerOptions?: { readonly baseUrl?: unknown; readonly paths?: unknown };
}

/** The `paths` of the project's tsconfig, through its chain of `extends`. A tsconfig that can't be read has none. */
export function readPathAliases(source: ProjectSource, dir: string, folders: FolderView): readonly PathAlias[] {
  return aliasesOf(source, joinPath(dir, "tsconfig.json"), folders, new Set());
}

function aliasesOf(source: ProjectSource, file: string, folders: FolderView, seen: Set<string>): readonly PathAlias[] {
  if (seen.has(file)) return [];
  seen.add(file);
  const config = readConfig(source, file);
  const { baseUrl, paths } = config?.compilerOptions ?? {};
  if (typeof paths === "object" && paths !== null) {
    const root = path.posix.join(parentOf(file), typeof baseUrl === "string" ? baseUrl : ".");
    return Object.entries(paths).flatMap(([pattern, targets]: [string, unknown]) =>
      Array.isArray(targets)
        ? targets
            .filter((target) => typeof target === "string")
            .map((target) => toAlias(pattern, path.posix.join(root, target)))
        : [],
    );
  }
  // Later ones of several bases win, and one that says nothing about paths leaves them to the one before.
  const bases = [config?.extends].flat().filter((base) => typeof base === "string");
  for (const base of bases.reverse()) {
    const target = resolveBase(base, file, folders);
    const found = target === undefined ? [] : aliasesOf(source, target, folders, seen);
    if (found.length > 0) return found;
  }
  return [];
}

function readConfig(source: ProjectSource, file: string): Config | undefined {
  if (!source.exists(file)) return undefined;
  try {
    const value: unknown = JSON.parse(withoutComments(source.readText(file)));
    return typeof value === "object" && value !== null ? value : undefined;
  } catch (error) {
    // TypeScript and the linker report a broken tsconfig; here it only means that no alias is known.
    if (error instanceof SyntaxError || error instanceof SourceError) return undefined;
    throw error;
  }
}

/** A relative path, or a package in a node_modules on the way up. */
function resolveBase(base: string, from: string, folders: FolderView): string | undefined {
  const fits = (target: string) =>
    resolveFile(folders, target.endsWith(".json") ? target : `${target}.json`) ??
    resolveFile(folders, path.posix.join(target, "tsconfig.json"));
  if (base.startsWith(".")) return fits(path.posix.join(parentOf(from), base));
  for (let dir = parentOf(from); ; dir = parentOf(dir)) {
    const found = fits(joinPath(dir, "node_modules", base));
    if (found !== undefined || dir === "") return found;
  }
}

function toAlias(pattern: string, target: string): PathAlias {
  const [prefix = "", suffix] = pattern.split("*");
  return (specifier) => {
    if (suffix === undefined) return specifier === pattern ? target : undefined;
    const fits = specifier.startsWith(prefix) && specifier.endsWith(suffix) && specifier.length >= pattern.length - 1;
    return fits ? target.replace("*", specifier.slice(prefix.length, specifier.length - suffix.length)) : undefined;
  };
}

/** JSON as tsconfig has it: comments and trailing commas go, strings stay. */
function withoutComments(text: string): string {
  const bare = text.replaceAll(
    /("(?:\\.|[^"\\])*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g,
    (_, string?: string) => string ?? "",
  );
  return bare.replaceAll(/("(?:\\.|[^"\\])*")|,(\s*[}\]])/g, (_, string?: string, end?: string) => string ?? end ?? "");
}
