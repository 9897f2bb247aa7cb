import { createColors } from "picocolors";
import type { Change, Level } from "../change.js";
import { createReport, entryLabel, type Report, summary } from "../report.js";
import { visible } from "./visible.js";

export interface TerminalOptions {
  /** ANSI colours. Default false. */
  readonly colour?: boolean;
  /** Show the lines of changed texts. Default true. */
  readonly textDiffs?: boolean;
}

type Colours = ReturnType<typeof createColors>;

/** For people at a terminal. Control characters of the manifest's own text are made visible, never sent. */
export function renderTerminal(changes: readonly Change[], options: TerminalOptions = {}): string {
  const colours = createColors(options.colour ?? false);
  const report = createReport(changes);
  const lines = [colours.bold(summary(report.counts))];
  for (const group of report.own) {
    lines.push("", paint(group.level, title(group.level), colours));
    for (const change of group.changes) lines.push(...describe(change, report, "", colours, options));
  }
  for (const group of report.packages) {
    lines.push("", `${colours.bold(visible(group.name))} ${visible(group.versions)} (${summary(group.counts)})`);
    for (const change of group.changes) {
      const level = paint(change.level, change.level.padEnd("compatible".length), colours);
      lines.push(...describe(change, report, `${level}  `, colours, options));
    }
  }
  return `${lines.join("\n")}\n`;
}

function describe(
  change: Change,
  report: Report,
  prefix: string,
  colours: Colours,
  options: TerminalOptions,
): string[] {
  const label = visible(entryLabel(change, report.severalAgents));
  const head = `  ${prefix}${colours.cyan(label)}  ${visible(change.message)}`;
  if (change.textDiff === undefined || options.textDiffs === false) return [head];
  return [head, ...change.textDiff.split("\n").map((line) => `      ${paintLine(line, colours)}`)];
}

function title(level: Level): string {
  return `${level.slice(0, 1).toUpperCase()}${level.slice(1)}`;
}

function paint(level: Level, text: string, colours: Colours): string {
  switch (level) {
    case "breaking":
      return colours.red(text);
    case "risky":
      return colours.yellow(text);
    case "compatible":
      return colours.green(text);
  }
}

function paintLine(line: string, colours: Colours): string {
  const text = visible(line);
  if (line.startsWith("+")) return colours.green(text);
  if (line.startsWith("-")) return colours.red(text);
  return line.startsWith("@") ? colours.cyan(text) : colours.dim(text);
}
