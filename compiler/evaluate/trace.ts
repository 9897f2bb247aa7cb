/** Stacks of evaluated text in terms of the sources. */
import { SourceMap, type SourceMapPayload } from "node:module";
import type { Span } from "../diagnostics/diagnostic.js";
import { isProject } from "../link/input-names.js";

/** Reads places in one linked text. The map is parsed on first use. */
export interface Tracer {
  /** Places of the frames that are project code, innermost first. */
  frames(stack: string): readonly Span[];
  /** The innermost place in one source, by its name in the map; of a package too. */
  within(stack: string, source: string): Span | undefined;
}

/** As `child.ts` names the text. */
const frame = /\/bdk-project\.js:(\d+):(\d+)/;

export function createTracer(map: string): Tracer {
  let parsed: SourceMap | undefined;
  const places = (stack: string): readonly Span[] => {
    parsed ??= new SourceMap(JSON.parse(map) as SourceMapPayload);
    const spans: Span[] = [];
    for (const line of stack.split("\n")) {
      const match = frame.exec(line);
      if (match === null) continue;
      // The text begins on the second line.
      const entry = parsed.findEntry(Number(match[1]) - 2, Number(match[2]) - 1);
      if (!("originalSource" in entry) || entry.originalSource === undefined) continue;
      spans.push({ file: entry.originalSource, line: entry.originalLine + 1, column: entry.originalColumn + 1 });
    }
    return spans;
  };
  return {
    frames: (stack) => places(stack).filter(({ file }) => isProject(file)),
    within: (stack, source) => places(stack).find(({ file }) => file === source),
  };
}
