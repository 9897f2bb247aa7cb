/**
 * Where project files come from: a folder on disk, or a map in memory. The only reader of files in `compiler/`.
 *
 * Paths are POSIX and relative to `root`; `""` is the root itself. Listings come in byte order of the names, whatever
 * order the directory has. A path whose real place lies outside the boundary is never read.
 */
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import path from "node:path";
import { compareBytes } from "./bytes.js";
import { hashOf, type Stamps, takeStamps } from "./stamps.js";

/**
 * One name in a folder. `outside` is a link that leads out of the boundary, `broken` one that leads nowhere (or
 * something that is neither file nor folder).
 */
export interface SourceEntry {
  readonly name: string;
  readonly type: "file" | "folder" | "outside" | "broken";
}

export interface ProjectSource {
  /** Absolute path of the folder. */
  readonly root: string;
  /** Names in a folder, in byte order; empty when there is no such folder. */
  list(dir: string): readonly SourceEntry[];
  /** UTF-8 text without a byte order mark. @throws {SourceError} when it can't be read. */
  readText(file: string): string;
  /** @throws {SourceError} when it can't be read. */
  readBytes(file: string): Uint8Array;
  /** SHA-256 of the file's bytes, in hex. @throws {SourceError} when it can't be read. */
  hash(file: string): string;
  /** What stands at the path, if anything that may be read does. */
  typeOf(file: string): "file" | "folder" | undefined;
  exists(file: string): boolean;
  /** Absolute path with all links resolved. @throws {SourceError} when there is nothing there. */
  realpath(file: string): string;
  /** Also reads below this absolute folder, outside the boundary or not: a package that the project mounts. */
  admit(folder: string): void;
}

/** A file that should be there could not be read. `file` is relative to the source's root. */
export class SourceError extends Error {
  override readonly name = "SourceError";
  readonly file: string;

  constructor(file: string, reason: string, cause?: unknown) {
    super(reason, cause === undefined ? undefined : { cause });
    this.file = file;
  }
}

/**
 * A folder on disk.
 *
 * @param boundary Folder that nothing is read outside of; default: the root. Give a workspace's root to let a package
 * of it import from its siblings.
 */
export function diskSource(
  root: string,
  boundary: string = root,
  stamps: Stamps = takeStamps(new Map()),
): ProjectSource {
  const absolute = path.resolve(root);
  const limits = new Set([realOrGiven(boundary)]);

  const locate = (file: string): string => {
    const real = realpathSync.native(path.join(absolute, file));
    if (![...limits].some((limit) => isWithin(limit, real))) throw new SourceError(file, "it lies outside the project");
    return real;
  };
  const attempt = <T>(file: string, read: (real: string) => T): T => {
    try {
      return read(locate(file));
    } catch (error) {
      if (error instanceof SourceError) throw error;
      throw new SourceError(file, systemReason(error), error);
    }
  };
  const typeOf = (file: string): SourceEntry["type"] => {
    try {
      const stats = statSync(locate(file));
      return stats.isFile() ? "file" : stats.isDirectory() ? "folder" : "broken";
    } catch (error) {
      return error instanceof SourceError ? "outside" : "broken";
    }
  };
  /** A link to a folder that the path to it already went through would be walked for ever. */
  const leadsBack = (dir: string, name: string): boolean => {
    const target = locate(joinPath(dir, name));
    for (let folder = dir; ; folder = parentOf(folder)) {
      if (locate(folder) === target) return true;
      if (folder === "") return false;
    }
  };

  return {
    root: absolute,
    list(dir) {
      if (typeOf(dir) !== "folder") return [];
      const found = attempt(dir, (real) => readdirSync(real, { withFileTypes: true }));
      return found
        .map((each): SourceEntry => {
          if (!each.isSymbolicLink()) {
            return { name: each.name, type: each.isFile() ? "file" : each.isDirectory() ? "folder" : "broken" };
          }
          const type = typeOf(joinPath(dir, each.name));
          return { name: each.name, type: type === "folder" && leadsBack(dir, each.name) ? "broken" : type };
        })
        .sort((a, b) => compareBytes(a.name, b.name));
    },
    readText: (file) => decodeText(attempt(file, (real) => readFileSync(real))),
    readBytes: (file) => attempt(file, (real) => readFileSync(real)),
    hash: (file) => attempt(file, (real) => stamps.of(real).hash),
    typeOf: (file) => readable(typeOf(file)),
    exists: (file) => readable(typeOf(file)) !== undefined,
    realpath: (file) => attempt(file, (real) => real),
    admit(folder) {
      limits.add(realOrGiven(folder));
    },
  };
}

/**
 * A project in memory, for tests and for callers that generate one.
 *
 * @example memorySource({ "package.json": "{}", "bot/instructions.md": "You are brief." })
 */
export function memorySource(files: Readonly<Record<string, string | Uint8Array>>, root = "/project"): ProjectSource {
  const contents = new Map(Object.entries(files));
  const folders = new Map<string, Map<string, SourceEntry>>([["", new Map()]]);
  for (const file of contents.keys()) {
    let child: SourceEntry = { name: path.posix.basename(file), type: "file" };
    for (let dir = parentOf(file); ; dir = parentOf(dir)) {
      const names = folders.get(dir) ?? new Map<string, SourceEntry>();
      folders.set(dir, names.set(child.name, child));
      if (dir === "") break;
      child = { name: path.posix.basename(dir), type: "folder" };
    }
  }

  const clean = (file: string): string => joinPath("", file);
  const read = (file: string): string | Uint8Array => {
    const found = contents.get(clean(file));
    if (found === undefined) throw new SourceError(file, "there is no such file");
    return found;
  };
  const typeOf = (file: string): "file" | "folder" | undefined =>
    contents.has(clean(file)) ? "file" : folders.has(clean(file)) ? "folder" : undefined;

  return {
    root,
    list: (dir) => [...(folders.get(clean(dir))?.values() ?? [])].sort((a, b) => compareBytes(a.name, b.name)),
    readText(file) {
      const found = read(file);
      return typeof found === "string" ? found : decodeText(found);
    },
    readBytes(file) {
      const found = read(file);
      return typeof found === "string" ? new TextEncoder().encode(found) : found;
    },
    hash: (file) => hashOf(read(file)),
    typeOf,
    exists: (file) => typeOf(file) !== undefined,
    realpath(file) {
      if (typeOf(file) === undefined) throw new SourceError(file, "there is no such file");
      return path.posix.join(root, file);
    },
    admit: () => undefined,
  };
}

/**
 * The folder that the project may import from: the nearest one, on the way up, that holds a repository or a workspace;
 * the project itself when there is none.
 */
export function workspaceOf(root: string): string {
  const start = path.resolve(root);
  for (let dir = start; ; dir = path.dirname(dir)) {
    if (["pnpm-workspace.yaml", ".git"].some((name) => existsSync(path.join(dir, name))) || hasWorkspaces(dir))
      return dir;
    if (dir === path.dirname(dir)) return start;
  }
}

/**
 * The nearest folder above that holds one of the names and a package.json, relative to `root` (`../..`): what somebody
 * meant who stands somewhere inside. Nothing is read there.
 */
export function folderAbove(root: string, names: readonly string[]): string | undefined {
  const start = path.resolve(root);
  for (let dir = path.dirname(start), last = start; dir !== last; last = dir, dir = path.dirname(dir)) {
    const holds = (name: string) => statSync(path.join(dir, name), { throwIfNoEntry: false })?.isDirectory() === true;
    if (names.some(holds) && existsSync(path.join(dir, "package.json"))) {
      return path.relative(start, dir).split(path.sep).join("/");
    }
  }
  return undefined;
}

/** Joins POSIX paths relative to a root; `joinPath("", "a")` is `a`, and `joinPath("", ".")` is `""`. */
export function joinPath(...parts: readonly string[]): string {
  const joined = path.posix.join(...parts);
  return joined === "." ? "" : joined.replace(/\/$/, "");
}

/** The folder that holds the path; `""` for the root's own children. */
export function parentOf(file: string): string {
  const parent = path.posix.dirname(file);
  return parent === "." ? "" : parent;
}

/** Whether the folder's package.json lists workspaces; one that can't be read lists none. */
export function hasWorkspaces(dir: string): boolean {
  try {
    return /"workspaces"\s*:/.test(readFileSync(path.join(dir, "package.json"), "utf8"));
  } catch (error) {
    if (error instanceof Error && "code" in error) return false;
    throw error;
  }
}

function readable(type: SourceEntry["type"]): "file" | "folder" | undefined {
  return type === "file" || type === "folder" ? type : undefined;
}

/** A folder that is not there has nothing in it: listings are empty, and reads say so. */
function realOrGiven(folder: string): string {
  return existsSync(folder) ? realpathSync.native(folder) : path.resolve(folder);
}

function isWithin(folder: string, file: string): boolean {
  const relative = path.relative(folder, file);
  return relative === "" || (!relative.startsWith(`..${path.sep}`) && relative !== ".." && !path.isAbsolute(relative));
}

/** UTF-8 without a byte order mark; what is no UTF-8 becomes U+FFFD. */
export function decodeText(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

function systemReason(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ENOENT") return "there is no such file";
  if (code === "EACCES" || code === "EPERM") return "permission denied";
  if (code === "ELOOP") return "it is a link that leads back to itself";
  return error instanceof Error ? error.message : String(error);
}
