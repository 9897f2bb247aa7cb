import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { lstat, open, rename, rm } from "node:fs/promises";
import { codeOf, type HeldFolder, isAbsent, openToRead } from "./contained.js";
import { ToolFailure } from "./tool.js";

/** Largest file that the tools read or write, in bytes: 10 MiB. */
export const maxFileBytes = 10 * 1024 * 1024;

/** Bytes looked at to tell text from other files. */
const sniffed = 8_000;

/** The bytes of an ordinary file. */
export async function readBytes(folder: HeldFolder, name: string, given: string): Promise<Buffer> {
  const { handle, facts } = await openToRead(folder, name, given);
  try {
    if (facts.size > maxFileBytes) {
      throw new ToolFailure(
        `"${given}" has ${facts.size} bytes; files larger than ${maxFileBytes} bytes can't be read whole. Search it with grep.`,
      );
    }
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

/** The text of a file; `undefined` when it is not text (NUL bytes, or no valid UTF-8). */
export function decodeText(bytes: Buffer): string | undefined {
  if (bytes.subarray(0, sniffed).includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined; // not UTF-8: told to the model by the caller
  }
}

/**
 * Writes a file whole: beside its place first, then into it, so that nobody sees half of it and a link in its place is
 * replaced, not followed. Permissions of the file that was there stay. Gives whether the file is new.
 */
export async function replaceContents(
  folder: HeldFolder,
  name: string,
  given: string,
  text: string,
): Promise<{ readonly isNew: boolean }> {
  const bytes = Buffer.byteLength(text);
  if (bytes > maxFileBytes) {
    throw new ToolFailure(`That would make ${bytes} bytes; a file can have ${maxFileBytes} at most.`);
  }
  const target = folder.entry(name);
  const mode = await modeOf(target, given);
  const beside = folder.entry(`.${randomUUID()}.bdk`);
  try {
    const handle = await open(beside, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, mode ?? 0o600);
    try {
      await handle.writeFile(text);
      // The process's umask has taken its share when the file was made.
      if (mode !== undefined) await handle.chmod(mode);
    } finally {
      await handle.close();
    }
    await rename(beside, target);
  } catch (error) {
    await rm(beside, { force: true });
    if (codeOf(error) === "EACCES" || codeOf(error) === "EROFS")
      throw new ToolFailure(`"${given}" may not be written.`);
    if (isAbsent(error)) throw new ToolFailure(`The folder of "${given}" is not there any more.`);
    if (codeOf(error) === "ENOSPC") throw new ToolFailure("The disk is full.");
    if (codeOf(error) === "ENAMETOOLONG") throw new ToolFailure(`The name of "${given}" is too long.`);
    throw error;
  }
  return { isNew: mode === undefined };
}

async function modeOf(target: string, given: string): Promise<number | undefined> {
  try {
    const facts = await lstat(target);
    if (facts.isDirectory()) throw new ToolFailure(`"${given}" is a folder, not a file.`);
    if (!facts.isFile()) throw new ToolFailure(`"${given}" is not an ordinary file.`);
    return facts.mode & 0o777;
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}
