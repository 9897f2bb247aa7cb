/** What one run leaves to the next: facts of unchanged files, and whole results when nothing changed at all. */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import type { AnalysisCache } from "./analyze/definition.js";
import { distFile, packageVersion } from "./link/package-folder.js";
import { hashOf, isUnchanged, quickOf, type Stamp, type Stamps, takeStamps } from "./stamps.js";

interface Stored {
  readonly stamps: readonly Stamp[];
  readonly result: unknown;
}

export interface Cache {
  readonly facts: AnalysisCache;
  /** The result kept under the name, if every path it depends on is as it was. */
  readResult(name: string): unknown;
  /** Keeps a result. `inputs` are files and folders, of a folder, the names in it count. */
  writeResult(name: string, inputs: readonly Stamp[], result: unknown): void;
  /** For a new run; knows what the last result that was read or written depends on. */
  takeStamps(): Stamps;
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
  let stamped: readonly Stamp[] = [];
  const resultFile = (name: string) => (folder === false ? undefined : path.join(folder, `${name}.json`));
  const loadFacts = (): Map<string, unknown> => {
    const stored = parse(readText(factsFile)) as { readonly version?: string; readonly facts?: object } | undefined;
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
      const known = kept.get(name);
      const stored = known === undefined ? readStored(resultFile(name)) : { ...known, result: () => known.result };
      stamped = stored?.stamps ?? [];
      if (stored === undefined || !stamped.every(isUnchanged)) return undefined;
      const result = stored.result();
      kept.set(name, { stamps: stamped, result });
      return result;
    },
    writeResult(name, stamps, result) {
      stamped = stamps;
      const stored = { stamps, result };
      kept.set(name, stored);
      const file = resultFile(name);
      if (file === undefined) return;
      writeText(file, `${JSON.stringify(stamps)}\n${JSON.stringify(result)}`);
      pruneResults(path.dirname(file));
    },
    takeStamps: () => takeStamps(new Map(stamped.map((each) => [each.path, each]))),
    save() {
      if (!isNew || factsFile === undefined || facts === undefined) return;
      // Facts of texts that are no longer there go with the next change.
      const current = Object.fromEntries([...facts].filter(([key]) => used.has(key)));
      writeText(factsFile, JSON.stringify({ version: cacheVersion(), facts: current }));
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

/** Results of earlier versions and other options are of no more use after a few others. */
const keptResults = 4;

function pruneResults(folder: string): void {
  if (!existsSync(folder)) return;
  const results = readdirSync(folder).filter((name) => name.startsWith("result-") && name.endsWith(".json"));
  const newest = results
    .map((name) => ({
      file: path.join(folder, name),
      time: statSync(path.join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0,
    }))
    .sort((a, b) => b.time - a.time);
  for (const { file } of newest.slice(keptResults)) rmSync(file, { force: true });
}

/** Stamps in the first line, the result in the second: most reads end with the first. */
function readStored(file: string | undefined): { readonly stamps: readonly Stamp[]; result(): unknown } | undefined {
  const text = readText(file);
  if (text === undefined) return undefined;
  const end = text.indexOf("\n");
  const stamps = parse(text.slice(0, end)) as readonly Stamp[] | undefined;
  return Array.isArray(stamps) ? { stamps, result: () => parse(text.slice(end + 1)) } : undefined;
}

function readText(file: string | undefined): string | undefined {
  return file === undefined || !existsSync(file) ? undefined : readFileSync(file, "utf8");
}

/** A damaged text is as good as none. */
function parse(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** In one step, so that another process never reads half of it. A cache that can't be written is done without. */
function writeText(file: string, text: string): void {
  try {
    mkdirSync(path.dirname(file), { recursive: true });
    const temporary = `${file}.${process.pid}.tmp`;
    writeFileSync(temporary, text, { mode: 0o600 });
    renameSync(temporary, file);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (!["EACCES", "EROFS", "EPERM", "ENOSPC", "ENOTDIR"].includes(String(code))) throw error;
  }
}
