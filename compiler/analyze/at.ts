import type { Span } from "../diagnostics/diagnostic.js";
import type { Place } from "./facts.js";

/** A place of a file's facts as a span of that file. */
export function spanOf(file: string, [line, column, endLine, endColumn]: Place): Span {
  return { file, line, column, endLine, endColumn };
}
