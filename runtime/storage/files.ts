/** Small durable file acts. Everything the store writes is private: directories 0700, files 0600. */
import fs from "node:fs";
import path from "node:path";
import { RuntimeError } from "../errors.js";

export const privateDir = 0o700;
export const privateFile = 0o600;

/** Runs a file act; what the disk refuses becomes `storage_unavailable`. */
export function guardStorage<T>(act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw storageError(error);
  }
}

/** The error callers see when the disk is full, read-only or gone. */
export function storageError(error: unknown): RuntimeError {
  if (error instanceof RuntimeError) return error;
  const code = error instanceof Error && "code" in error ? String(error.code) : "failed";
  return new RuntimeError("storage_unavailable", `the session store can't be used (${code})`, {}, error);
}

export function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");
}

/** `fsync` of a file or folder by path; a folder's makes new entries in it durable. */
export async function syncPath(target: string): Promise<void> {
  const handle = await fs.promises.open(target, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Replaces a file so that readers, and a crash, see either the old or the new contents. */
export function replaceFile(target: string, contents: string | Uint8Array): void {
  const next = `${target}.${process.pid}.next`;
  const fd = fs.openSync(next, "w", privateFile);
  try {
    fs.writeFileSync(fd, contents);
    fs.fdatasyncSync(fd);
  } finally {
    fs.closeSync(fd);
  }
  fs.renameSync(next, target);
}

/** The contents, or `undefined` when there is no such file. */
export function readIfThere(target: string): string | undefined {
  try {
    return fs.readFileSync(target, "utf8");
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Writes the whole buffer at the end of an append-mode file of `size` bytes; on failure the file is as it was. */
export function appendWhole(fd: number, bytes: Uint8Array, size: number): void {
  let done = 0;
  try {
    while (done < bytes.length) done += fs.writeSync(fd, bytes, done, bytes.length - done);
  } catch (error) {
    if (done > 0) fs.ftruncateSync(fd, size);
    throw error;
  }
}

/**
 * Makes a private folder, and those above it, unless they are there. Not by `recursive: true`: where a file system knows
 * no new folders, such as `/proc`, that never comes back (Node 20 takes its ENOENT for a missing parent, again and again).
 */
export function makeDir(...parts: readonly string[]): string {
  const dir = path.join(...parts);
  if (makeOne(dir) === "no parent") {
    makeDir(path.dirname(dir));
    if (makeOne(dir) === "no parent")
      throw Object.assign(new Error(`no folder can be made: ${dir}`), { code: "ENOENT" });
  }
  return dir;
}

function makeOne(dir: string): "made" | "no parent" {
  try {
    fs.mkdirSync(dir, { mode: privateDir });
    return "made";
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT" && path.dirname(dir) !== dir) return "no parent";
    // Where nothing may be written, a folder that is there is refused with that instead of EEXIST.
    if (fs.statSync(dir, { throwIfNoEntry: false })?.isDirectory() === true) return "made";
    throw error;
  }
}
