import { structuredPatch } from "diff";

/** Past so many changed lines a text counts as rewritten: the hunks would help no reader, and Myers is quadratic there. */
const maxEditLength = 4_000;

/** Unified hunks between two texts, three lines of context, without file headers. */
export function diffText(before: string, after: string): string {
  // Where neither text ends its last line, saying so on both sides would only distract.
  const [old, now] = !before.endsWith("\n") && !after.endsWith("\n") ? [`${before}\n`, `${after}\n`] : [before, after];
  const patch = structuredPatch("", "", old, now, "", "", { context: 3, maxEditLength });
  if (patch === undefined) return rewritten(before, after);
  return patch.hunks
    .flatMap((hunk) => [`@@ -${hunk.oldStart},${hunk.oldLines} +${hunk.newStart},${hunk.newLines} @@`, ...hunk.lines])
    .join("\n");
}

function rewritten(before: string, after: string): string {
  return `@@ rewritten: ${before.split("\n").length} lines became ${after.split("\n").length} @@`;
}
