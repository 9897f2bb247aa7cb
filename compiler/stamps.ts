/** What stands at paths, as one run sees it: a file that has not changed since an earlier run need not be read again. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, type Stats, statSync } from "node:fs";

/** A path and what was there: compared by size and time first, by content when those differ. */
export interface Stamp {
  readonly path: string;
  /** Size, time and inode; `""` when there was nothing; `"?"` for what has to be looked into: a folder, a file just written. */
  readonly quick: string;
  /** SHA-256 of the bytes, or of a folder's names. */
  readonly hash: string;
}

/** Each path is looked at once, when it is first asked about. Paths are absolute. */
export interface Stamps {
  of(file: string): Stamp;
  /** Whether all that was looked at is still as it was: what was made of it may be kept. */
  stand(): boolean;
}

/** @param known Stamps of an earlier run, by path. */
export function takeStamps(known: ReadonlyMap<string, Stamp>): Stamps {
  const taken = new Map<string, Stamp>();
  return {
    of(file) {
      const stamp = taken.get(file) ?? stampOf(file, known.get(file));
      taken.set(file, stamp);
      return stamp;
    },
    stand: () => [...taken.values()].every(isUnchanged),
  };
}

export function isUnchanged(stamp: Stamp): boolean {
  return isSame(stamp.quick, quickOf(stamp.path)) || contentHash(stamp.path) === stamp.hash;
}

/** Tells changes of a file without reading it. */
export function quickOf(file: string, stats = statOf(file)): string {
  if (stats === undefined) return "";
  return stats.isDirectory() ? "?" : `${stats.size}.${stats.mtimeMs}.${stats.ino}`;
}

/** Times of files go in steps: two writes within one leave the same. In milliseconds, longer than any such step. */
const step = 50;

function isSame(one: string, other: string): boolean {
  return one === other && one !== "?";
}

export function hashOf(contents: string | Uint8Array): string {
  return createHash("sha256").update(contents).digest("hex");
}

function stampOf(file: string, known: Stamp | undefined): Stamp {
  const stats = statOf(file);
  const quick = quickOf(file, stats);
  if (known !== undefined && isSame(known.quick, quick)) return known;
  const isFresh = stats !== undefined && Date.now() - stats.mtimeMs < step;
  return { path: file, quick: isFresh ? "?" : quick, hash: contentHash(file) };
}

function contentHash(file: string): string {
  const stats = statOf(file);
  if (stats === undefined) return "";
  // What is neither a file nor a folder, such as a pipe, might be read for ever.
  if (!stats.isDirectory()) return stats.isFile() ? hashOf(readFileSync(file)) : "";
  return hashOf(
    readdirSync(file)
      .filter((name) => !made.test(name))
      .sort()
      .join("\0"),
  );
}

/** Names that come and go without meaning anything for the project. */
const made = /^(?:node_modules|dist|\.bdk|\.git|.*\.(?:log|tmp|swp))$/;

/** Undefined for what is not there, a path through a file included (`extends` probes such paths). */
function statOf(file: string): Stats | undefined {
  try {
    return statSync(file, { throwIfNoEntry: false });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOTDIR") return undefined;
    throw error;
  }
}
