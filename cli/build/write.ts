import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, rmdir, stat, writeFile } from "node:fs/promises";
import { dirname, join, resolve, sep } from "node:path";
import type { Bundle, EmittedFile } from "../../compiler/emit/bundle.js";
import { readStaticFiles } from "./static-files.js";

export interface WrittenFile {
  /** Relative to the output folder. */
  readonly path: string;
  readonly bytes: number;
}

/** What a build left in a folder, so that the next one can take away what is no longer made, and nothing else. */
const inventory = ".bdk-build.json";

/**
 * Writes a bundle, with the playground and the docs beside it, so that a reader never sees half of a file: each goes to a temporary name and is renamed; `server.mjs` and
 * `manifest.json` come last. What is there already, byte for byte, is left as it is. Files of an earlier build that this one does
 * not make are removed; other files stay.
 */
export async function writeBundle(bundle: Bundle, out: string): Promise<readonly WrittenFile[]> {
  await mkdir(out, { recursive: true });
  const before = await readInventory(out);
  const files = [...bundle.files, ...readStaticFiles()].sort((a, b) => rank(a) - rank(b));
  const changed = files.filter((file) => !isThere(inside(out, file.path), file.contents));
  const token = randomBytes(4).toString("hex");
  const temporary: string[] = [];
  try {
    for (const file of changed) {
      const target = inside(out, file.path);
      await mkdir(dirname(target), { recursive: true });
      await writeFile(`${target}.${token}.tmp`, file.contents);
      temporary.push(`${target}.${token}.tmp`);
    }
    for (const file of changed) {
      const target = inside(out, file.path);
      await removeFolderInTheWay(target);
      await rename(`${target}.${token}.tmp`, target);
      temporary.shift();
    }
  } finally {
    await Promise.all(temporary.map((path) => rm(path, { force: true })));
  }
  const made = new Set(files.map((file) => file.path));
  for (const path of before) if (!made.has(path)) await removeStale(out, path);
  await writeFile(join(out, inventory), `${JSON.stringify({ files: [...made].sort() }, null, 2)}\n`);
  return files.map((file) => ({ path: file.path, bytes: Buffer.byteLength(file.contents) }));
}

/** The order of renaming: what others refer to comes first. */
function rank(file: EmittedFile): number {
  return file.path === "server.mjs" ? 2 : file.path === "manifest.json" ? 1 : 0;
}

/** An emitted path below the output folder; a package that names its files `../x` does not get out. */
function inside(out: string, path: string): string {
  const target = resolve(out, path);
  if (target.startsWith(out.endsWith(sep) ? out : out + sep)) return target;
  throw new Error(`the bundle holds a path that leaves the output folder: ${path}`);
}

/** Read in one go: hundreds of pages hardly ever change, and each wait costs more than the look. */
function isThere(target: string, contents: EmittedFile["contents"]): boolean {
  try {
    return readFileSync(target).equals(typeof contents === "string" ? Buffer.from(contents) : contents);
  } catch (error) {
    if (error instanceof Error && "code" in error) return false;
    throw error;
  }
}

async function readInventory(out: string): Promise<readonly string[]> {
  const text = await readFile(join(out, inventory), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (text === undefined) return [];
  try {
    const { files } = JSON.parse(text) as { files?: unknown };
    return Array.isArray(files) ? files.filter((each): each is string => typeof each === "string") : [];
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}

async function removeFolderInTheWay(target: string): Promise<void> {
  const stats = await stat(target).catch(() => undefined);
  if (stats?.isDirectory() !== true) return;
  if ((await readdir(target)).length > 0) throw new Error(`${target} is a folder that is not empty`);
  await rmdir(target);
}

async function removeStale(out: string, path: string): Promise<void> {
  const target = resolve(out, path);
  if (!target.startsWith(out + sep)) return;
  await rm(target, { force: true });
  for (let folder = dirname(target); folder.length > out.length; folder = dirname(folder)) {
    if ((await readdir(folder).catch(() => ["missing"])).length > 0) return;
    await rmdir(folder);
  }
}
