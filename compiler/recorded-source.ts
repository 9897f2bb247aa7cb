import path from "node:path";
import type { ProjectSource } from "./source.js";

/** A source that remembers every path it was asked about, also those where nothing was: what a result depends on. */
export function recordedSource(source: ProjectSource): { readonly source: ProjectSource; asked(): readonly string[] } {
  const seen = new Set<string>();
  const note = (file: string): string => {
    seen.add(file);
    return file;
  };
  return {
    source: {
      root: source.root,
      list: (dir) => source.list(note(dir)),
      readText: (file) => source.readText(note(file)),
      readBytes: (file) => source.readBytes(note(file)),
      hash: (file) => source.hash(note(file)),
      typeOf: (file) => source.typeOf(note(file)),
      exists: (file) => source.exists(note(file)),
      realpath: (file) => source.realpath(file),
      admit: (folder) => source.admit(folder),
    },
    asked: () => [...seen].map((file) => path.join(source.root, file)),
  };
}
