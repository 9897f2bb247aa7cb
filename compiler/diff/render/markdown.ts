import type { Change, Level } from "../change.js";
import { countLines, createReport, entryLabel, type Report, summary } from "../report.js";
import { visible } from "./visible.js";

export interface MarkdownOptions {
  /** Longest result in characters; text diffs go first, then the tail of the lists. Default 60 000 (GitHub takes 65 536). */
  readonly maxLength?: number;
  /** Show the lines of changed texts, folded. Default true. */
  readonly textDiffs?: boolean;
}

const headings: Readonly<Record<Level, string>> = {
  breaking: "🛑 Breaking",
  risky: "⚠️ Risky",
  compatible: "✅ Compatible",
};

/**
 * A pull-request comment: a summary line, the project's own changes by level, each package once, compatible changes and
 * text diffs folded. Text from the manifest is escaped so that it can neither form Markdown or HTML nor mention anyone.
 */
export function renderMarkdown(changes: readonly Change[], options: MarkdownOptions = {}): string {
  const maxLength = options.maxLength ?? 60_000;
  const report = createReport(changes);
  const blocks = lists(report);
  const texts = options.textDiffs === false ? [] : textDiffs(changes, report);
  const whole = join([...blocks, ...texts]);
  if (whole.length <= maxLength) return whole;
  const short = join([...blocks, note(`${texts.length} text diffs left out to keep this short`)]);
  return short.length <= maxLength ? short : cut(short, maxLength);
}

function lists(report: Report): string[] {
  const [compatible, grave] = [
    report.own.filter((group) => group.level === "compatible"),
    report.own.filter((group) => group.level !== "compatible"),
  ];
  return [
    `## Manifest diff: ${summary(report.counts)}`,
    ...grave.map(({ level, changes }) =>
      section(
        `### ${headings[level]}`,
        changes.map((change) => bullet(change, report)),
      ),
    ),
    ...report.packages.map((group) =>
      section(
        `### ${code(group.name)} ${escapeProse(group.versions)} (${summary(group.counts)})`,
        group.changes.map((change) => bullet(change, report, `${change.level}: `)),
      ),
    ),
    ...compatible.map(({ level, changes }) =>
      folded(`${headings[level]} (${changes.length})`, changes.map((change) => bullet(change, report)).join("\n")),
    ),
  ];
}

function textDiffs(changes: readonly Change[], report: Report): string[] {
  return changes.flatMap((change) => {
    if (change.textDiff === undefined) return [];
    const { added, removed } = countLines(change.textDiff);
    const title = `<code>${html(`${entryLabel(change, report.severalAgents)}${change.path}`)}</code> (+${added} −${removed})`;
    return [folded(title, fence(change.textDiff))];
  });
}

function bullet(change: Change, report: Report, prefix = ""): string {
  return `- ${prefix}${code(entryLabel(change, report.severalAgents))} ${escapeProse(change.message)}`;
}

function section(heading: string, lines: readonly string[]): string {
  return `${heading}\n\n${lines.join("\n")}`;
}

function folded(title: string, body: string): string {
  return `<details><summary>${title}</summary>\n\n${body}\n\n</details>`;
}

function note(text: string): string {
  return `_${text}; \`bdk diff\` shows everything._`;
}

function join(blocks: readonly string[]): string {
  return `${blocks.join("\n\n")}\n`;
}

/** Whole lines only, and every opened fold closed. */
function cut(text: string, maxLength: number): string {
  const tail = `\n\n${note("the rest left out to keep this short")}\n`;
  const room = maxLength - tail.length - "\n\n</details>".length;
  const kept = text.slice(0, text.lastIndexOf("\n", room));
  const open = kept.split("<details>").length > kept.split("</details>").length;
  return `${kept}${open ? "\n\n</details>" : ""}${tail}`;
}

/** A code fence longer than any run of backticks within. */
function fence(text: string): string {
  const ticks = "`".repeat(Math.max(3, longestRun(text) + 1));
  return `${ticks}diff\n${text.split("\n").map(visible).join("\n")}\n${ticks}`;
}

/** A code span that its text can't end. */
function code(text: string): string {
  const line = oneLine(text);
  const ticks = "`".repeat(longestRun(line) + 1);
  const pad = /^[` ]|[` ]$/.test(line) ? " " : "";
  return `${ticks}${pad}${line}${pad}${ticks}`;
}

function longestRun(text: string): number {
  return Math.max(0, ...[...text.matchAll(/`+/g)].map((run) => run[0].length));
}

const zeroWidth = "\u200b";

/** Plain words: no Markdown, no HTML, no link, no mention of a person, issue or team. */
function escapeProse(text: string): string {
  return html(oneLine(text))
    .replace(/[\\`*_{}[\]()#+!|~$]/g, (character) => `\\${character}`)
    .replace(/@|\\#|(?<=\bGH)-(?=\d)/gi, (character) => `${character}${zeroWidth}`)
    .replace(/:\/\/|\bwww\./gi, (start) => `${start[0]}${zeroWidth}${start.slice(1)}`);
}

function html(text: string): string {
  const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };
  return oneLine(text).replace(/[&<>]/g, (character) => entities[character] ?? character);
}

/** Line breaks and control characters as spaces; direction marks removed. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, " ").replace(/\p{Cf}/gu, "");
}
