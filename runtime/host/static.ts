import { createHash } from "node:crypto";
import { readFile, realpath } from "node:fs/promises";
import { extname, join, sep } from "node:path";
import type { StaticFile } from "../http/context.js";

const contentTypes: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".mjs": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".map": "application/json; charset=utf-8",
  ".md": "text/markdown; charset=utf-8",
  ".txt": "text/plain; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".webp": "image/webp",
  ".woff2": "font/woff2",
};

/**
 * Reads files below a folder on request, never listing it. Only known endings are served, and only what really lies in
 * the folder once links are followed.
 */
export function createStaticFolder(folder: string): (path: string) => Promise<StaticFile | undefined> {
  return async (path) => {
    const contentType = contentTypes[extname(path).toLowerCase()];
    if (contentType === undefined || /[\0\\]/.test(path) || path.split("/").some((part) => part.startsWith("."))) {
      return undefined;
    }
    try {
      const [root, file] = await Promise.all([realpath(folder), realpath(join(folder, path))]);
      if (!file.startsWith(root + sep)) return undefined;
      const bytes = await readFile(file);
      return { bytes, contentType, etag: `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 27)}"` };
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  };
}

function isMissing(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return code === "ENOENT" || code === "ENOTDIR" || code === "EISDIR" || code === "ENAMETOOLONG";
}
