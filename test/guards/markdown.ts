import { readSource } from "./source-files.js";

/** One fenced block of a Markdown file. */
export interface CodeBlock {
  readonly file: string;
  /** Line of the opening fence. */
  readonly line: number;
  readonly language: string;
  readonly code: string;
}

/** Every fenced block, in order. */
export function codeBlocks(file: string): CodeBlock[] {
  const blocks: CodeBlock[] = [];
  let open: { fence: string; language: string; line: number; lines: string[] } | undefined;
  for (const [index, text] of readSource(file).split("\n").entries()) {
    const fence = /^(`{3,}|~{3,})\s*(\S*)/.exec(text);
    if (open === undefined) {
      if (fence?.[1] !== undefined) open = { fence: fence[1], language: fence[2] ?? "", line: index + 1, lines: [] };
    } else if (text.trim() === open.fence) {
      blocks.push({ file, line: open.line, language: open.language, code: open.lines.join("\n") });
      open = undefined;
    } else {
      open.lines.push(text);
    }
  }
  if (open !== undefined) throw new Error(`${file}:${open.line}: the block is never closed`);
  return blocks;
}

/** Targets of links, outside code. */
export function linksOf(file: string): string[] {
  const prose = readSource(file)
    .replace(/^(`{3,})[\s\S]*?^\1/gm, "")
    .replace(/`[^`\n]*`/g, "");
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1] ?? "");
}

/** The anchor that a heading gets. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replace(/ /g, "-");
}

/** Anchors of a file's headings. */
export function anchorsOf(file: string): string[] {
  const prose = readSource(file).replace(/^(`{3,})[\s\S]*?^\1/gm, "");
  return [...prose.matchAll(/^#{1,6} (.+)$/gm)].map((match) => anchorOf(match[1] ?? ""));
}
