import fs from "node:fs";
import path from "node:path";
import { isMissing, privateDir } from "./files.js";

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

/** Opens for writing without following a link in the last place. */
export const writeFlags = {
  replace: fs.constants.O_WRONLY | fs.constants.O_CREAT | fs.constants.O_TRUNC | fs.constants.O_NOFOLLOW,
  append: fs.constants.O_WRONLY | fs.constants.O_CREAT | fs.constants.O_APPEND | fs.constants.O_NOFOLLOW,
} as const;
