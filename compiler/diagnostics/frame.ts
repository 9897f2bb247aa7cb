import type { Label } from "./diagnostic.js";

/** Colours of one terminal; `picocolors` has this shape, and so has the absence of colour. */
export interface Paint {
  readonly primary: (text: string) => string;
  readonly secondary: (text: string) => string;
  readonly gutter: (text: string) => string;
}

/** One marked line of a frame, before it is painted. */
interface Marked {
  readonly line: number;
  readonly from: number;
  readonly to: number;
  readonly text: string;
  readonly primary: boolean;
}

const tab = "    ";
/** Longer lines are cropped around the mark: minified code must not flood the terminal. */
const widest = 160;

/**
 * The source lines that the labels of one file point at, each with its mark below: `^^^` under the primary place, `---`
 * under the others. Empty when the file has no such line.
 *
 * @param gutter Width of the column of line numbers.
 */
export function frame(source: string, labels: readonly Label[], gutter: number, paint: Paint): readonly string[] {
  const lines = source.split(/\r\n|\n|\r/);
  const marked = labels.flatMap((label) => markOf(label, lines)).sort((a, b) => a.line - b.line || a.from - b.from);
  if (marked.length === 0) return [];
  const bar = paint.gutter(`${" ".repeat(gutter)} |`);
  const out = [bar];
  let last: number | undefined;
  for (const mark of marked) {
    const { before, inside, after } = cut(lines[mark.line - 1] ?? "", mark);
    if (mark.line !== last) {
      if (last !== undefined && mark.line > last + 1) out.push(paint.gutter(`${" ".repeat(gutter)} …`));
      const number = String(mark.line).padStart(gutter);
      out.push(`${paint.gutter(`${number} |`)} ${before}${inside}${after}`.trimEnd());
    }
    const under = (mark.primary ? "^" : "-").repeat(Math.max(1, widthOf(inside)));
    const colour = mark.primary ? paint.primary : paint.secondary;
    const note = mark.text === "" ? "" : ` ${mark.text}`;
    out.push(`${bar} ${" ".repeat(widthOf(before))}${colour(under + note)}`);
    last = mark.line;
  }
  return out;
}

/**
 * The first line of a span; a span that goes on below is marked to the end of that line. The bare start of a file stands
 * for the file as a whole, and no line of it is to blame.
 */
function markOf({ span, text = "", primary = false }: Label, lines: readonly string[]): readonly Marked[] {
  const line = lines[span.line - 1];
  const isWholeFile = span.line === 1 && span.column === 1 && span.endLine === undefined && text === "";
  if (line === undefined || isWholeFile) return [];
  const from = Math.min(span.column - 1, line.length);
  const oneLine = span.endLine === undefined || span.endLine === span.line;
  const end = oneLine ? (span.endColumn ?? span.column + 1) - 1 : line.trimEnd().length;
  return [{ line: span.line, from, to: Math.max(from, Math.min(end, line.length)), text, primary }];
}

/** The line in three pieces, printable and cropped. */
function cut(line: string, { from, to }: Marked): { before: string; inside: string; after: string } {
  const inside = line.slice(from, Math.min(to, from + widest));
  const room = Math.max(0, widest - inside.length);
  const start = from + inside.length > widest ? from - Math.min(from, Math.floor(room / 2)) : 0;
  const end = Math.max(from + inside.length, start + widest);
  return {
    before: (start > 0 ? "…" : "") + printable(line.slice(start, from)),
    inside: printable(inside),
    after: printable(line.slice(from + inside.length, end)) + (end < line.length ? "…" : ""),
  };
}

/** Tabs as blanks; control characters would move the cursor or change colours. */
function printable(text: string): string {
  return text.replaceAll("\t", tab).replaceAll(/\p{Cc}|[\u202a-\u202e\u2066-\u2069]/gu, "\u00b7");
}

/** Columns that the text takes on a terminal. */
function widthOf(text: string): number {
  let width = 0;
  for (const character of text) {
    if (/\p{Mn}|\p{Me}|\p{Cf}/u.test(character)) continue;
    width +=
      /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/u.test(
        character,
      )
        ? 2
        : 1;
  }
  return width;
}
