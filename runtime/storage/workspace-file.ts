import fs from "node:fs/promises";
import { containedPath, openFlags } from "./paths.js";

/**
 * The bytes of a file below a folder, contained by realpath and never through a link.
 *
 * @throws Error saying what is wrong: outside, missing, no file, or larger than `limit` bytes.
 */
export async function readContainedFile(root: string, file: string, limit: number): Promise<Uint8Array> {
  const target = containedPath(root, file, false);
  const handle = await fs.open(target, openFlags.read).catch((error: unknown) => {
    const code = error instanceof Error && "code" in error ? String(error.code) : "failed";
    throw new Error(code === "ENOENT" ? `there is no file "${file}"` : `file "${file}" can't be read (${code})`);
  });
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) throw new Error(`"${file}" is no file`);
    if (stat.size > limit) throw new Error(`"${file}" is larger than ${limit} bytes`);
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}
