import { posix } from "node:path";
import type { FileEntry } from "../../runtime/manifest/schema.js";
import type { ProjectSource } from "../source.js";
import { sha256 } from "./canonical.js";

/** Files that travel inside the bundle, by the hash of their bytes. */
export interface FileStore {
  addFile(path: string, file: string): FileEntry;
  addText(path: string, text: string): FileEntry;
  /** sha256 → base64, in byte order of the hashes. */
  blobs(): Readonly<Record<string, string>>;
}

/** @throws {SourceError} from `addFile`, when the file is gone since it was listed. */
export function createFileStore(source: ProjectSource): FileStore {
  const found = new Map<string, string>();
  const add = (path: string, bytes: Uint8Array): FileEntry => {
    const hash = sha256(bytes);
    found.set(hash, Buffer.from(bytes).toString("base64"));
    return { path: posix.normalize(path), sha256: hash, bytes: bytes.byteLength };
  };
  return {
    addFile: (path, file) => add(path, source.readBytes(file)),
    addText: (path, text) => add(path, new TextEncoder().encode(text)),
    blobs: () => Object.fromEntries([...found].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}
