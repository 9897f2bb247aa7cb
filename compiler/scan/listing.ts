import { type Diagnostic, diagnostic } from "../diagnostics/diagnostic.js";
import { type ProjectSource, SourceError } from "../source.js";

/** A source in which a folder that may not be listed is empty, and what is to be said of such folders. */
export function tolerantListing(source: ProjectSource): {
  readonly source: ProjectSource;
  readonly said: Diagnostic[];
} {
  const refused = new Set<string>();
  const said: Diagnostic[] = [];
  const list: ProjectSource["list"] = (dir) => {
    try {
      return source.list(dir);
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      if (!refused.has(dir)) {
        refused.add(dir);
        said.push(
          diagnostic("unreadable", {
            message: `${dir === "" ? "the project's folder" : dir} can't be listed: ${error.message}`,
            at: { file: dir, line: 1, column: 1 },
            help: "see to it that you may read the folder, or delete it",
          }),
        );
      }
      return [];
    }
  };
  return { source: { ...source, list }, said };
}
