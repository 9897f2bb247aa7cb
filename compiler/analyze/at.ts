import { type Diagnostic, diagnostic, type Span } from "../diagnostics/diagnostic.js";
import type { SourceError } from "../source.js";
import type { Place } from "./facts.js";

/** A place of a file's facts as a span of that file. */
export function spanOf(file: string, [line, column, endLine, endColumn]: Place): Span {
  return { file, line, column, endLine, endColumn };
}

/** A file that scan found and nobody can read any more. */
export function unreadable(file: string, { message }: SourceError): Diagnostic {
  return diagnostic("unreadable", {
    message: `${file} can't be read: ${message}`,
    at: { file, line: 1, column: 1 },
    help: "see to it that the file is there and that you may read it",
  });
}
