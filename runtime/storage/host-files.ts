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
    if (scope !== "session" && scope !== "deployment") {
      throw new Error(`host.files: the scope is "session" or "deployment", not ${JSON.stringify(scope)}`);
    }
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
    if (typeof contents !== "string" && !(contents instanceof Uint8Array)) {
      throw new Error(`host.files: what is written is a string or a Uint8Array, not ${kindOf(contents)}`);
    }
    told(file, () => {
      const fd = openFile(containedPath(root(options), file, true), mode);
      try {
        fs.writeFileSync(fd, contents);
        fs.fdatasyncSync(fd);
      } finally {
        fs.closeSync(fd);
      }
    });
  }

  return {
    async write(file, contents, options) {
      put(file, options, contents, "replace");
    },
    async append(file, contents, options) {
      put(file, options, contents, "append");
    },
    async read(file, options) {
      return ifThere(file, () => {
        const target = containedPath(root(options), file, false);
        const found = fs.lstatSync(target, { throwIfNoEntry: false });
        if (found?.isSymbolicLink()) throw new Error(`path "${file}" is a link`);
        return found?.isFile() ? fs.readFileSync(target) : undefined;
      });
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
      ifThere(file, () => fs.rmSync(containedPath(root(options), file, false), { force: true }));
    },
  };
}

/** What the system says of a file, in the words of who asked for it: its place on this machine is nobody's business. */
function told<T>(file: string, act: () => T): T {
  if (typeof file !== "string") throw new Error(`host.files: a path is a string, not ${kindOf(file)}`);
  try {
    return act();
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
    const { code } = error;
    const isFolder = code === "EISDIR" || code === "ERR_FS_EISDIR";
    const reason = isFolder ? "is a folder" : isMissing(error) ? "leads through a file" : `can't be used (${code})`;
    throw new Error(`path "${file}" ${reason}`, { cause: error });
  }
}

/** As `told`; nothing, when there is no such file. */
function ifThere<T>(file: string, act: () => T): T | undefined {
  return told(file, () => {
    try {
      return act();
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  });
}

function kindOf(value: unknown): string {
  return value === null ? "null" : typeof value;
}
