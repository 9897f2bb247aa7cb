/**
 * Containment: every path of the model's leads to something inside the working directory, however links lie, and however
 * they are swapped meanwhile. A folder is opened first, then found to be inside, and only then used, through its
 * descriptor (`/proc/self/fd`, as `openat` would). Where the system has no such door, the real path is used.
 */
import { constants, existsSync, type Stats } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readlink, realpath } from "node:fs/promises";
import path from "node:path";
import { ToolFailure } from "./tool.js";

/** Longest path that is taken, in characters. */
const maxLength = 4_096;
const descriptors = "/proc/self/fd";
const hasDescriptors = existsSync(descriptors);
const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;

/** A folder inside the working directory, held open. */
export interface HeldFolder {
  /** Path of an entry, good until the folder is let go, whatever becomes of the folder's own path. */
  readonly entry: (name: string) => string;
  /** Where it really is. */
  readonly real: string;
}

/** The path as the model is shown it: relative to the working directory, `/`-separated; `.` for the directory itself. */
export function shownPath(root: string, target: string): string {
  return path.relative(root, target).split(path.sep).join("/") || ".";
}

/** The absolute path that is meant. Links are not looked at. */
export function meantPath(root: string, given: string): string {
  if (given.length > maxLength) throw new ToolFailure(`The path is longer than ${maxLength} characters.`);
  if (given.includes("\0")) throw new ToolFailure("A path can't hold a NUL character.");
  const target = path.resolve(root, given);
  if (!isInside(root, target)) throw outside(given);
  return target;
}

function isInside(root: string, target: string): boolean {
  return target === root || target.startsWith(root.endsWith(path.sep) ? root : root + path.sep);
}

function outside(given: string): ToolFailure {
  return new ToolFailure(
    `"${given}" is outside the working directory. Use a path inside it, such as "notes/today.md".`,
  );
}

/** Holds an existing folder while `use` runs. Links on the way are followed as long as they stay inside. */
export async function inFolder<T>(root: string, given: string, use: (folder: HeldFolder) => Promise<T>): Promise<T> {
  const real = await realInside(root, meantPath(root, given), given);
  if (real === undefined) throw new ToolFailure(`There is no folder "${given}".`);
  return hold(root, real, given, use);
}

/** Holds the folder of a file that should exist; `name` is the file's own, after links have been followed. */
export async function atFile<T>(
  root: string,
  given: string,
  use: (folder: HeldFolder, name: string) => Promise<T>,
): Promise<T> {
  const real = await realInside(root, meantPath(root, given), given);
  if (real === undefined) throw new ToolFailure(`There is no file "${given}".`);
  if (real === root) throw new ToolFailure(`"${given}" is a folder, not a file.`);
  return hold(root, path.dirname(real), given, (folder) => use(folder, path.basename(real)));
}

/** As `atFile`, for a file that is to be written: missing folders on the way are made. */
export async function atNewFile<T>(
  root: string,
  given: string,
  use: (folder: HeldFolder, name: string) => Promise<T>,
): Promise<T> {
  const meant = meantPath(root, given);
  const real = await realInside(root, meant, given);
  if (real !== undefined) return atFile(root, given, use);
  if (/[/\\]$/.test(given)) throw new ToolFailure(`"${given}" names a folder; give the path of a file.`);
  return makeFolders(root, path.dirname(meant), given, (folder) => use(folder, path.basename(meant)));
}

/** Whether a path leads to a folder. What it is may change; whoever opens it looks again. */
export async function isFolder(root: string, given: string): Promise<boolean> {
  const real = await realInside(root, meantPath(root, given), given);
  if (real === undefined) throw new ToolFailure(`There is nothing at "${given}".`);
  return (await lstat(real)).isDirectory();
}

/** The real path of what is there; `undefined` when nothing is. Throws when it is outside. */
async function realInside(root: string, target: string, given: string): Promise<string | undefined> {
  try {
    const real = await realpath(target);
    if (!isInside(root, real)) throw outside(given);
    return real;
  } catch (error) {
    if (codeOf(error) === "ENAMETOOLONG") throw new ToolFailure(`A name in "${given}" is too long.`);
    if (codeOf(error) === "ELOOP") throw new ToolFailure(`"${given}" is a link that leads to itself.`);
    if (codeOf(error) === "EACCES") throw new ToolFailure(`"${given}" may not be entered.`);
    if (!isAbsent(error)) throw error;
    if (await isLink(target)) throw new ToolFailure(`"${given}" is a link that leads nowhere.`);
    return undefined;
  }
}

async function isLink(target: string): Promise<boolean> {
  try {
    return (await lstat(target)).isSymbolicLink();
  } catch (error) {
    if (isAbsent(error)) return false;
    throw error;
  }
}

async function hold<T>(root: string, real: string, given: string, use: (folder: HeldFolder) => Promise<T>): Promise<T> {
  const handle = await openFolder(real, given);
  try {
    return await use(await checked(handle, root, real, given));
  } finally {
    await handle.close();
  }
}

async function openFolder(folder: string, given: string): Promise<FileHandle> {
  try {
    return await open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  } catch (error) {
    if (codeOf(error) === "ENOTDIR") throw new ToolFailure(`A part of "${given}" is a file, not a folder.`);
    if (codeOf(error) === "ELOOP") throw outside(given);
    if (codeOf(error) === "ENOENT") throw new ToolFailure(`The folder of "${given}" is not there any more.`);
    throw error;
  }
}

/** What was opened is asked where it is: between looking at a path and opening it, a link may have taken its place. */
async function checked(handle: FileHandle, root: string, real: string, given: string): Promise<HeldFolder> {
  if (!hasDescriptors) {
    const now = await realpath(real);
    if (!isInside(root, now)) throw outside(given);
    return { real: now, entry: (name) => path.join(now, name) };
  }
  const door = `${descriptors}/${handle.fd}`;
  const now = await readlink(door);
  if (!isInside(root, now)) throw outside(given);
  return { real: now, entry: (name) => `${door}/${name}` };
}

/** Goes down from the deepest folder that is there, making those that are not, each inside the one that is held. */
async function makeFolders<T>(
  root: string,
  target: string,
  given: string,
  use: (folder: HeldFolder) => Promise<T>,
): Promise<T> {
  const missing: string[] = [];
  let there = target;
  for (;;) {
    const real = await realInside(root, there, given);
    if (real !== undefined) {
      there = real;
      break;
    }
    missing.unshift(path.basename(there));
    there = path.dirname(there);
  }
  const descend = (folder: HeldFolder, [name, ...rest]: readonly string[]): Promise<T> => {
    if (name === undefined) return use(folder);
    return makeFolder(folder.entry(name)).then(async () => {
      const handle = await openFolder(folder.entry(name), given);
      try {
        return await descend(await checked(handle, root, path.join(folder.real, name), given), rest);
      } finally {
        await handle.close();
      }
    });
  };
  return hold(root, there, given, (folder) => descend(folder, missing));
}

async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  }
}

/** Opens an ordinary file for reading, never through a link, and never waiting for a pipe's other end. */
export async function openToRead(
  folder: HeldFolder,
  name: string,
  given: string,
): Promise<{ readonly handle: FileHandle; readonly facts: Stats }> {
  let handle: FileHandle;
  try {
    handle = await open(folder.entry(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    if (codeOf(error) === "ELOOP") throw outside(given);
    if (isAbsent(error)) throw new ToolFailure(`There is no file "${given}".`);
    if (codeOf(error) === "EACCES") throw new ToolFailure(`"${given}" may not be read.`);
    if (codeOf(error) === "ENXIO") throw new ToolFailure(`"${given}" is not an ordinary file.`);
    throw error;
  }
  const facts = await handle.stat();
  if (facts.isFile()) return { handle, facts };
  await handle.close();
  throw new ToolFailure(
    facts.isDirectory() ? `"${given}" is a folder; list it with ls.` : `"${given}" is not an ordinary file.`,
  );
}

export function isAbsent(error: unknown): boolean {
  return codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR";
}

export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error ? String(error.code) : undefined;
}
