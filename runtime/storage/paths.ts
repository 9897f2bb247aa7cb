import fs from "node:fs";
import path from "node:path";
import { isMissing, privateDir, privateFile } from "./files.js";

/** Longest relative path that is taken, in characters. */
const maxLength = 1_024;
/** Longest name of a file or folder that file systems take. */
const maxSegmentBytes = 255;

/**
 * Why a path from outside can't be used below a folder; `undefined` when it can. Paths are relative and `/`-separated.
 *
 * @example problemOfPath("../x") // 'must stay inside the folder'
 */
export function problemOfPath(relative: string): string | undefined {
  if (relative === "") return "must not be empty";
  if (relative.length > maxLength) return `must not be longer than ${maxLength} characters`;
  if (relative.includes("\0") || relative.includes("\\")) return "must not hold a backslash or a NUL";
  if (path.isAbsolute(relative) || /^[A-Za-z]:/.test(relative)) return "must be relative";
  const segments = relative.split("/");
  if (segments.includes("..")) return "must stay inside the folder";
  if (segments.some((segment) => Buffer.byteLength(segment) > maxSegmentBytes)) {
    return `must not hold a name of more than ${maxSegmentBytes} bytes`;
  }
  if (segments.includes("") || segments.includes(".")) return "must not hold empty or . segments";
  return undefined;
}

/**
 * The absolute path of a relative one below `root`, made sure of by realpath: no link on the way leads out. With
 * `create`, missing folders on the way are made.
 *
 * @throws Error saying what is wrong with the path.
 */
export function containedPath(root: string, relative: string, create: boolean): string {
  const problem = problemOfPath(relative);
  if (problem !== undefined) throw new Error(`path "${relative}" ${problem}`);
  const segments = relative.split("/");
  const name = segments.pop() ?? "";
  let folder = fs.realpathSync(root);
  for (const segment of segments) {
    const next = path.join(folder, segment);
    folder = enter(next, create) ?? next;
    if (!isInside(root, folder)) throw new Error(`path "${relative}" leads out of the folder`);
  }
  return path.join(folder, name);
}

/** The real path of a folder, made if it is missing and wanted; `undefined` when it isn't there. */
function enter(folder: string, create: boolean): string | undefined {
  try {
    return fs.realpathSync(folder);
  } catch (error) {
    if (!isMissing(error)) throw error;
    if (!create) return undefined;
    fs.mkdirSync(folder, { mode: privateDir });
    return folder;
  }
}

function isInside(root: string, target: string): boolean {
  const real = fs.realpathSync(root);
  return target === real || target.startsWith(real + path.sep);
}

/** Never through a link in the last place, and never waiting for a pipe's other end: what is there may be anybody's work. */
const { O_WRONLY, O_CREAT, O_TRUNC, O_APPEND, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = fs.constants;
const guarded = O_NOFOLLOW | O_NONBLOCK;

/** Flags for opening a contained path. Whoever opens one looks next whether it is a file, or leaves that to `openFile`. */
export const openFlags = {
  read: O_RDONLY | guarded,
  replace: O_WRONLY | O_CREAT | O_TRUNC | guarded,
  append: O_WRONLY | O_CREAT | O_APPEND | guarded,
} as const;

/**
 * Opens an ordinary file for writing, made private if it is missing. One that has other names, perhaps outside, is
 * replaced when its contents are, not written through.
 *
 * @throws Error with a code of the file system: `ELOOP` for a link, `EINVAL` for a pipe or a device.
 */
export function openFile(target: string, mode: "replace" | "append"): number {
  const facts = fs.lstatSync(target, { throwIfNoEntry: false });
  if (mode === "replace" && facts?.isFile() === true && facts.nlink > 1) fs.rmSync(target);
  const fd = fs.openSync(target, openFlags[mode], privateFile);
  if (fs.fstatSync(fd).isFile()) return fd;
  fs.closeSync(fd);
  throw Object.assign(new Error(`${target} is not an ordinary file`), { code: "EINVAL" });
}
