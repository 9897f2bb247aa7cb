/** What one run leaves to the next: facts of unchanged files, and whole results when nothing changed at all. */
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import type { AnalysisCache } from "./analyze/definition.js";
import { distFile, packageVersion } from "./link/package-folder.js";

/** A path and what was there: compared by size and time first, by content when those differ. */
interface Stamp {
  readonly path: string;
  /** Size, time and inode; `""` when there was nothing. */
  readonly quick: string;
  /** SHA-256 of the bytes, or of a folder's names. */
  readonly hash: string;
}

interface Stored {
  readonly stamps: readonly Stamp[];
  readonly result: unknown;
}

export interface Cache {
  readonly facts: AnalysisCache;
  /** The result kept under the name, if every path it depends on is as it was. */
  readResult(name: string): unknown;
  /** Keeps a result. `inputs` are files and folders; of a folder, the names in it count. */
  writeResult(name: string, inputs: readonly string[], result: unknown): void;
  /** Writes what is new to disk. */
  save(): void;
}

/** Where a project's cache stands: beside its packages, or in the user's cache folder. */
export function cacheFolder(root: string): string {
  const modules = path.join(root, "node_modules");
  if (existsSync(modules)) return path.join(modules, ".cache", "bdk");
  const base = process.env.XDG_CACHE_HOME ?? path.join(homedir(), ".cache");
  return path.join(base, "bdk", "compiler", hashOf(root).slice(0, 16));
}

/** @param folder Where to keep it; `false` keeps it in memory only. */
export function openCache(folder: string | false): Cache {
  const factsFile = folder === false ? undefined : path.join(folder, "facts.json");
  let facts: Map<string, unknown> | undefined;
  let isNew = false;
  const used = new Set<string>();
  const kept = new Map<string, Stored>();
  const resultFile = (name: string) => (folder === false ? undefined : path.join(folder, `${name}.json`));
  const loadFacts = (): Map<string, unknown> => {
    const stored = readJson(factsFile) as { readonly version?: string; readonly facts?: object } | undefined;
    return new Map(stored?.version === cacheVersion() ? Object.entries(stored.facts ?? {}) : []);
  };

  return {
    facts: {
      get(key) {
        facts ??= loadFacts();
        used.add(key);
        return facts.get(key);
      },
      put(key, value) {
        facts ??= loadFacts();
        used.add(key);
        isNew = true;
        facts.set(key, value);
      },
    },
    readResult(name) {
      const stored = kept.get(name) ?? (readJson(resultFile(name)) as Stored | undefined);
      if (stored === undefined || !stored.stamps.every(isUnchanged)) return undefined;
      kept.set(name, stored);
      return stored.result;
    },
    writeResult(name, inputs, result) {
      const stored = { stamps: [...new Set(inputs)].sort().map(stampOf), result };
      kept.set(name, stored);
      const file = resultFile(name);
      if (file === undefined) return;
      writeJson(file, stored);
      pruneResults(path.dirname(file));
    },
    save() {
      if (!isNew || factsFile === undefined || facts === undefined) return;
      // Facts of texts that are no longer there go with the next change.
      writeJson(factsFile, {
        version: cacheVersion(),
        facts: Object.fromEntries([...facts].filter(([key]) => used.has(key))),
      });
      isNew = false;
    },
  };
}

let version: string | undefined;

/** Changes with every build of ours. */
export function cacheVersion(): string {
  version ??= hashOf(
    [
      packageVersion,
      process.version,
      ...["runtime/core.js", "evaluate/child.js"].map((file) => quickOf(distFile(file))),
    ].join("\0"),
  );
  return version;
}

function isUnchanged(stamp: Stamp): boolean {
  return (stamp.quick !== "folder" && quickOf(stamp.path) === stamp.quick) || contentHash(stamp.path) === stamp.hash;
}

function stampOf(file: string): Stamp {
  return { path: file, quick: quickOf(file), hash: contentHash(file) };
}

/** Tells most changes of a file without reading it; folders are always looked into. */
function quickOf(file: string): string {
  const stats = statOf(file);
  if (stats === undefined) return "";
  return stats.isDirectory() ? "folder" : `${stats.size}.${stats.mtimeMs}.${stats.ino}`;
}

/** Undefined for what is not there, a path through a file included (`extends` probes such paths). */
function statOf(file: string): Stats | undefined {
  try {
    return statSync(file, { throwIfNoEntry: false });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOTDIR") return undefined;
    throw error;
  }
}

function contentHash(file: string): string {
  const stats = statOf(file);
  if (stats === undefined) return "";
  if (!stats.isDirectory()) return hashOf(readFileSync(file));
  return hashOf(
    readdirSync(file)
      .filter((name) => !made.test(name))
      .sort()
      .join("\0"),
  );
}

/** Names that come and go without meaning anything for the project. */
const made = /^(?:node_modules|dist|\.bdk|\.git|.*\.(?:log|tmp|swp))$/;

export function hashOf(contents: string | Uint8Array): string {
  return createHash("sha256").update(contents).digest("hex");
}

/** Results of earlier versions and other options are of no more use after a few others. */
const keptResults = 4;

function pruneResults(folder: string): void {
  if (!existsSync(folder)) return;
  const results = readdirSync(folder).filter((name) => name.startsWith("result-") && name.endsWith(".json"));
  const newest = results
    .map((name) => ({ file: path.join(folder, name), time: statOf(path.join(folder, name))?.mtimeMs ?? 0 }))
    .sort((a, b) => b.time - a.time);
  for (const { file } of newest.slice(keptResults)) rmSync(file, { force: true });
}

/** A damaged or absent file is as good as none. */
function readJson(file: string | undefined): unknown {
  if (file === undefined || !existsSync(file)) return undefined;
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** In one step, so that another process never reads half of it. A cache that can't be written is done without. */
function writeJson(file: string, value: unknown): void {
  try {
    mkdirSync(path.dirname(file), { recursive: true });
    const temporary = `${file}.${process.pid}.tmp`;
    writeFileSync(temporary, JSON.stringify(value), { mode: 0o600 });
    renameSync(temporary, file);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (!["EACCES", "EROFS", "EPERM", "ENOSPC", "ENOTDIR"].includes(String(code))) throw error;
  }
}
