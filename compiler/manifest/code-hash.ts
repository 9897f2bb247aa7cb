import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { isMade, plainFile } from "../link/input-names.js";
import type { Linked } from "../link/link.js";
import { distFile } from "../link/package-folder.js";
import { sha256 } from "./canonical.js";

/** `sha256:` over the code that an entry runs through. */
export type CodeHash = (slug: string, id: string) => string | undefined;

/**
 * Hashes of what stands behind definitions: every module that one reaches, its mount's settings and npm packages among
 * them, and the files that are kept beside the bundle. Our own modules don't count, and names and places neither: the
 * same code is the same wherever it stands.
 */
export function createCodeHash({ imports, files, code }: Linked, root: string): CodeHash {
  const own = distFile("authoring");
  const digests = new Map<string, string>();
  const digestOf = (file: string): string => {
    const known = digests.get(file) ?? (existsSync(file) ? sha256(readFileSync(file)) : "");
    digests.set(file, known);
    return known;
  };
  return (slug, id) => {
    const start = files.get(`${slug}\0${id}`);
    if (start === undefined) return undefined;
    const reached = new Set([start]);
    for (const key of reached) for (const next of imports.get(key) ?? []) reached.add(next);
    const modules = [...new Set([...reached].map(plainFile))]
      .filter((key) => !isMade(key))
      .map((key) => path.resolve(root, key))
      .filter((file) => !file.startsWith(own));
    const parts = [...modules, ...code.beside.map(({ file }) => file)].map(digestOf);
    return `sha256:${sha256([...new Set(parts)].sort().join("\n"))}`;
  };
}
