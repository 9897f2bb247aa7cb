/** Diagnostics as text: for people, for programs, and for GitHub's checks. All three show the same values. */
import pc from "picocolors";
import { type Diagnostic, type Label, primarySpan, type Severity } from "./diagnostic.js";
import { frame, type Paint } from "./frame.js";

export interface PrettyOptions {
  /** Reads a project file for its code frame; undefined or a throw when it can't be read. */
  readonly read?: (file: string) => string | undefined;
  /** Default: what the terminal and `NO_COLOR` say. */
  readonly colour?: boolean;
}

/**
 * For people: header, place, source line with a caret, help.
 *
 * @example
 * warning[BDK1001]: unknown folder bot/tool/: nothing in it is discovered
 *   --> bot/tool:1:1
 *   = help: did you mean tools/?
 */
export function renderPretty(diagnostics: readonly Diagnostic[], options: PrettyOptions = {}): string {
  const colours = pc.createColors(options.colour ?? pc.isColorSupported);
  const read = memoize(options.read ?? (() => undefined));
  return diagnostics.map((each) => renderOne(each, read, colours)).join("\n");
}

type Colours = ReturnType<typeof pc.createColors>;
type Read = (file: string) => string | undefined;

function renderOne(each: Diagnostic, read: Read, colours: Colours): string {
  const { bold, blue, cyan } = colours;
  const shade = shadeOf(each.severity, colours);
  const paint: Paint = { primary: (text) => bold(shade(text)), secondary: blue, gutter: blue };
  const files = [...new Set(sorted(each.labels).map(({ span }) => span.file))];
  const gutter = Math.max(1, ...each.labels.map(({ span }) => String(span.line).length));

  const lines = [`${bold(shade(`${each.severity}[${each.code}]`))}${bold(`: ${each.message}`)}`];
  files.forEach((file, index) => {
    const labels = sorted(each.labels).filter(({ span }) => span.file === file);
    const [first] = labels;
    if (first === undefined) return;
    const arrow = blue(index === 0 ? "-->" : ":::");
    lines.push(`${" ".repeat(gutter)}${arrow} ${file}:${first.span.line}:${first.span.column}`);
    const source = read(file);
    if (source !== undefined) lines.push(...frame(source, labels, gutter, paint));
  });
  const remark = (kind: string, text: string) => {
    const indent = " ".repeat(gutter + 4 + kind.length + 1);
    lines.push(`${" ".repeat(gutter)} ${blue("=")} ${bold(kind)}: ${text.trimEnd().replaceAll("\n", `\n${indent}`)}`);
  };
  for (const note of each.notes ?? []) remark("note", note);
  if (each.help !== undefined) remark("help", cyan(each.help));
  return `${lines.join("\n")}\n`;
}

/** The shape that every program sees: `bdk … --json`, the dev server, the API. Absent values are null, never missing. */
export interface DiagnosticJson {
  readonly code: string;
  readonly severity: Severity;
  readonly message: string;
  readonly file: string | null;
  readonly line: number | null;
  readonly column: number | null;
  readonly endLine: number | null;
  readonly endColumn: number | null;
  readonly labels: readonly Label[];
  readonly help: string | null;
  readonly notes: readonly string[];
}

export function toJson(each: Diagnostic): DiagnosticJson {
  const span = primarySpan(each);
  return {
    code: each.code,
    severity: each.severity,
    message: each.message,
    file: span?.file ?? null,
    line: span?.line ?? null,
    column: span?.column ?? null,
    endLine: span?.endLine ?? null,
    endColumn: span?.endColumn ?? null,
    labels: each.labels,
    help: each.help ?? null,
    notes: each.notes ?? [],
  };
}

/** For programs: `{ "diagnostics": [ … ] }`, with a final newline. */
export function renderJson(diagnostics: readonly Diagnostic[]): string {
  return `${JSON.stringify({ diagnostics: diagnostics.map(toJson) }, null, 2)}\n`;
}

/**
 * For GitHub Actions: one workflow command a diagnostic, shown beside the line in a pull request.
 *
 * @param prefix Path of the project in the repository, when it is not its root.
 */
export function renderGithub(diagnostics: readonly Diagnostic[], prefix = ""): string {
  return diagnostics.map((each) => `${annotation(each, prefix)}\n`).join("");
}

function annotation(each: Diagnostic, prefix: string): string {
  const command = each.severity === "info" ? "notice" : each.severity;
  const span = primarySpan(each);
  const file = span === undefined || prefix === "" ? span?.file : `${prefix.replace(/\/$/, "")}/${span.file}`;
  const properties: readonly (readonly [string, string | number | undefined])[] = [
    ["file", file],
    ["line", span?.line],
    ["endLine", span?.endLine],
    ["col", span?.column],
    ["endColumn", span?.endColumn],
    ["title", each.code],
  ];
  const known = properties.flatMap(([key, value]) =>
    value === undefined ? [] : [`${key}=${escapeProperty(String(value))}`],
  );
  const text = [each.message, ...(each.notes ?? []), ...(each.help === undefined ? [] : [`help: ${each.help}`])].join(
    "\n",
  );
  return `::${command} ${known.join(",")}::${escapeData(text)}`;
}

/** Source: the toolkit's rules for workflow commands. The percent sign comes first, or it would escape the escapes. */
function escapeData(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}

/** The primary label first: its file leads. */
function sorted(labels: readonly Label[]): readonly Label[] {
  return [...labels].sort((a, b) => Number(b.primary ?? false) - Number(a.primary ?? false));
}

function shadeOf(severity: Severity, { red, yellow, blue }: Colours): (text: string) => string {
  return severity === "error" ? red : severity === "warning" ? yellow : blue;
}

function memoize(read: Read): Read {
  const known = new Map<string, string | undefined>();
  return (file) => {
    if (!known.has(file)) known.set(file, attempt(read, file));
    return known.get(file);
  };
}

/** A frame is a courtesy: a file that can't be shown any more is shown without one. */
function attempt(read: Read, file: string): string | undefined {
  try {
    return read(file);
  } catch {
    return undefined;
  }
}
