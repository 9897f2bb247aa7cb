import { stripVTControlCharacters } from "node:util";

/**
 * Rows of cells as aligned lines, two spaces between columns; the last column is cut at `width` when one is given.
 *
 * @example columns([["build", "Build it"], ["dev", "Serve it"]]) // ["build  Build it", "dev    Serve it"]
 */
export function columns(
  rows: readonly (readonly string[])[],
  options: { width?: number; indent?: string } = {},
): string[] {
  const indent = options.indent ?? "";
  const widths: number[] = [];
  for (const row of rows) {
    for (const [position, cell] of row.entries()) widths[position] = Math.max(widths[position] ?? 0, visible(cell));
  }
  return rows.map((row) => {
    const last = row.length - 1;
    const line = row.map((cell, position) =>
      position === last ? cell : cell + " ".repeat((widths[position] ?? 0) - visible(cell)),
    );
    const used = indent.length + widths.slice(0, last).reduce((sum, width) => sum + width + 2, 0);
    line[last] = shorten(line[last] ?? "", options.width === undefined ? undefined : options.width - used);
    return `${indent}${line.join("  ")}`.trimEnd();
  });
}

function visible(text: string): number {
  return stripVTControlCharacters(text).length;
}

function shorten(cell: string, room: number | undefined): string {
  if (room === undefined || visible(cell) <= room) return cell;
  return room < 8 ? cell : `${stripVTControlCharacters(cell).slice(0, room - 1)}…`;
}

/** Breaks prose at spaces so that no line is longer than `width`. */
export function wrap(text: string, width: number, indent = ""): string[] {
  const lines: string[] = [];
  let line = indent;
  for (const word of text.split(" ")) {
    if (line !== indent && line.length + word.length + 1 > width) {
      lines.push(line);
      line = indent;
    }
    line = line === indent ? indent + word : `${line} ${word}`;
  }
  return [...lines, line];
}
