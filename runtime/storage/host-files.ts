import fs from "node:fs";
import path from "node:path";
import type { FileScope, HostFilesApi } from "../authoring/host.js";
import { isMissing, makeDir } from "./files.js";
import { containedPath, openFile } from "./paths.js";

export interface FileScopes {
  /** Folder of the session; absent for work outside any session. */
  readonly session?: string;
  /** Folder that the whole agent shares. */
  readonly deployment: string;
}

/** `host.files` as plain files, contained in the scope's folder. A write is on disk when it resolves. */
export function createHostFiles(scopes: FileScopes): HostFilesApi {
  function root({ scope = "session" }: FileScope = {}): string {
    const dir = scope === "deployment" ? scopes.deployment : scopes.session;
    if (dir === undefined) {
      throw new Error(
        'host.files: this runs outside any session; pass { scope: "deployment" } for files the agent shares',
      );
    }
    return makeDir(dir);
  }

  function put(
    file: string,
    options: FileScope | undefined,
    contents: Uint8Array | string,
    mode: "replace" | "append",
  ): void {
    const fd = openFile(containedPath(root(options), file, true), mode);
    try {
      fs.writeFileSync(fd, contents);
      fs.fdatasyncSync(fd);
    } finally {
      fs.closeSync(fd);
    }
  }

  return {
    async write(file, contents, options) {
      put(file, options, contents, "replace");
    },
    async append(file, contents, options) {
      put(file, options, contents, "append");
    },
    async read(file, options) {
      try {
        const target = containedPath(root(options), file, false);
        if (fs.lstatSync(target).isSymbolicLink()) throw new Error(`path "${file}" is a link`);
        return await fs.promises.readFile(target);
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw error;
      }
    },
    async list(prefix = "", options) {
      const dir = root(options);
      const entries = await fs.promises.readdir(dir, { recursive: true, withFileTypes: true });
      return entries
        .filter((entry) => entry.isFile())
        .map((entry) => path.relative(dir, path.join(entry.parentPath, entry.name)).split(path.sep).join("/"))
        .filter((file) => file.startsWith(prefix))
        .sort();
    },
    async delete(file, options) {
      fs.rmSync(containedPath(root(options), file, false), { force: true });
    },
  };
}
