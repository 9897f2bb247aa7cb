import { posix } from "node:path";
import type { FileEntry } from "../../runtime/manifest/schema.js";
import { unreadable } from "../analyze/at.js";
import type { Diagnostic } from "../diagnostics/diagnostic.js";
import { type ProjectSource, SourceError } from "../source.js";
import { sha256 } from "./canonical.js";

/** Files that travel inside the bundle, by the hash of their bytes. */
export interface FileStore {
  addFile(path: string, file: string): FileEntry;
  addText(path: string, text: string): FileEntry;
  /** sha256 → base64, in byte order of the hashes. */
  blobs(): Readonly<Record<string, string>>;
  /** Files that can't be read, or are gone since they were listed; each is empty in the store. */
  readonly problems: readonly Diagnostic[];
}

export function createFileStore(source: ProjectSource): FileStore {
  const found = new Map<string, string>();
  const problems: Diagnostic[] = [];
  const add = (path: string, bytes: Uint8Array): FileEntry => {
    const hash = sha256(bytes);
    found.set(hash, Buffer.from(bytes).toString("base64"));
    return { path: posix.normalize(path), sha256: hash, bytes: bytes.byteLength };
  };
  const read = (file: string): Uint8Array => {
    try {
      return source.readBytes(file);
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      problems.push(unreadable(file, error));
      return new Uint8Array();
    }
  };
  return {
    problems,
    addFile: (path, file) => add(path, read(file)),
    addText: (path, text) => add(path, new TextEncoder().encode(text)),
    blobs: () => Object.fromEntries([...found].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}
