import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** A package on disk, as its package.json names it. */
export interface InstalledPackage {
  readonly name: string;
  readonly version: string;
  /** Absolute folder that holds its package.json. */
  readonly dir: string;
  readonly manifest: Readonly<Record<string, unknown>>;
}

const own = findOwnFolder();

/** Our own package's folder: the one above this file (in `compiler/` or in `dist/cli/`) that is named @cursor/bdk. */
export const packageFolder: string = own.dir;

/** Version of @cursor/bdk. */
export const packageVersion: string = own.version;

/** Absolute path of a built file of ours, such as `distFile("runtime/core.js")`. */
export function distFile(file: string): string {
  return path.join(packageFolder, "dist", file);
}

/**
 * The package that a file belongs to: the nearest folder above it whose package.json has a name (those inside a package
 * that only set `type` do not count). `found` remembers folders between calls.
 */
export function packageOf(
  file: string,
  found: Map<string, InstalledPackage | undefined> = new Map(),
): InstalledPackage | undefined {
  const dir = path.dirname(file);
  if (found.has(dir)) return found.get(dir);
  const here = readPackage(dir);
  const owner = here ?? (path.dirname(dir) === dir ? undefined : packageOf(dir, found));
  found.set(dir, owner);
  return owner;
}

/** Reads a folder's package.json; `undefined` when there is none, or it has no name, or is not JSON. */
export function readPackage(dir: string): InstalledPackage | undefined {
  const file = path.join(dir, "package.json");
  if (!existsSync(file)) return undefined;
  const manifest = parseObject(readFileSync(file, "utf8"));
  if (manifest === undefined || typeof manifest.name !== "string") return undefined;
  const version = typeof manifest.version === "string" ? manifest.version : "0.0.0";
  return { name: manifest.name, version, dir, manifest };
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? { ...value } : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function findOwnFolder(): InstalledPackage {
  for (let dir = path.dirname(fileURLToPath(import.meta.url)); ; dir = path.dirname(dir)) {
    const here = readPackage(dir);
    if (here?.name === "@cursor/bdk") return here;
    if (path.dirname(dir) === dir) throw new Error("@cursor/bdk can't find its own package.json");
  }
}
