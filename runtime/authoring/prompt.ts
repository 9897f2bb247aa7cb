/** Long strings that sit inside indented TypeScript, without the indentation. */

/** The `prompt` tag, and `prompt.lines` for APIs that take separate lines. */
export interface PromptTag {
  /**
   * Returns one string: the newline right after the opening backtick is dropped and the whitespace that all lines
   * share is removed. Blank lines don't count for it and stay; a final newline stays. Values are inserted first, so a
   * value of several lines needs the indentation of the text around it.
   *
   * @example prompt`
   *   First line.
   *     Indented by two.
   * ` // "First line.\n  Indented by two.\n"
   */
  (strings: TemplateStringsArray, ...values: readonly unknown[]): string;
  /** The same, as an array of lines without a final empty one. */
  lines(strings: TemplateStringsArray, ...values: readonly unknown[]): string[];
}

function interpolate(strings: TemplateStringsArray, values: readonly unknown[]): string {
  // `strings[i]` is undefined where an escape is not valid; the raw text is what was written.
  return strings.raw.map((raw, i) => (strings[i] ?? raw) + (i < values.length ? String(values[i]) : "")).join("");
}

function commonIndent(lines: readonly string[]): string {
  let common: string | undefined;
  for (const line of lines) {
    const indent = line.slice(0, line.length - line.trimStart().length);
    if (common === undefined) common = indent;
    let shared = 0;
    while (shared < common.length && common[shared] === indent[shared]) shared++;
    common = common.slice(0, shared);
  }
  return common ?? "";
}

function dedent(strings: TemplateStringsArray, values: readonly unknown[]): string[] {
  const lines = interpolate(strings, values)
    .replace(/^\r?\n/, "")
    .split("\n");
  const isBlank = (line: string) => line.trim() === "";
  const indent = commonIndent(lines.filter((line) => !isBlank(line)));
  return lines.map((line) => (isBlank(line) ? "" : line.slice(indent.length)));
}

function toText(strings: TemplateStringsArray, ...values: readonly unknown[]): string {
  return dedent(strings, values).join("\n");
}

function toLines(strings: TemplateStringsArray, ...values: readonly unknown[]): string[] {
  const lines = dedent(strings, values);
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}

export const prompt: PromptTag = /* @__PURE__ */ Object.assign(toText, { lines: toLines });
