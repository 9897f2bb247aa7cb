import { type Diagnostic, diagnostic, type Result, type Span } from "../diagnostics/diagnostic.js";
import type { Entry } from "../scan/tree.js";
import { slotOf } from "../slots.js";
import { type ProjectSource, SourceError } from "../source.js";
import { unreadable } from "./at.js";

/** A Markdown file: what its front matter says, and the rest. */
export interface Prose {
  readonly attributes: Readonly<Record<string, unknown>>;
  /** Spans of the front matter's keys. */
  readonly fields: Readonly<Record<string, Span>>;
  readonly body: string;
  /** There is front matter, and it can't be read: what it lacks is not to be told as well. */
  readonly isUnread?: boolean;
}

/** Reads a Markdown entry. Front matter is YAML, and only where the slot has it; nothing of it is ever executed. */
export async function readProse({ kind, file }: Entry, source: ProjectSource): Promise<Result<Prose>> {
  let text: string;
  try {
    text = source.readText(file);
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    return empty("", unreadable(file, error));
  }
  if (!slotOf(kind).frontMatter) return empty(text);

  const fence = /^---[ \t]*(\S*)[ \t]*\r?\n/.exec(text);
  if (fence === null) return empty(text);
  const [opening, language] = fence;
  const rest = text.slice(opening.length);
  const closing = /^---[ \t]*(?:\r?\n|$)/m.exec(rest);
  if (language !== "" || closing === null) {
    if (language === "" && !/^[\w-]+[ \t]*:/.test(rest)) return empty(text);
    const message =
      closing === null
        ? "the front matter is never closed"
        : `front matter in ${language} is not read: it must be YAML`;
    const help =
      closing === null
        ? "end it with a line of three hyphens"
        : "start it with a line of three hyphens and nothing else";
    return empty(text, diagnostic("badFrontMatter", { message, at: lineOf(file, 1), help }));
  }
  const body = rest.slice(closing.index + closing[0].length).replace(/^\r?\n/, "");
  const parsed = await parseFrontMatter(rest.slice(0, closing.index), file);
  return { value: { ...parsed.value, body }, diagnostics: parsed.diagnostics };
}

const usage = "write it as lines of `key: value` between two lines of three hyphens";

async function parseFrontMatter(yaml: string, file: string): Promise<Result<Omit<Prose, "body">>> {
  const { isMap, isScalar, LineCounter, parseDocument } = await import("yaml");
  const lines = new LineCounter();
  const document = parseDocument(yaml, { lineCounter: lines, prettyErrors: false, logLevel: "silent" });
  // The text begins after the opening fence, on the file's second line.
  const spanAt = (offset: number, length = 1): Span => {
    const { line, col } = lines.linePos(offset);
    return { file, line: line + 1, column: col, endLine: line + 1, endColumn: col + length };
  };
  const refuse = (message: string, at: Span, help = usage): Result<Omit<Prose, "body">> => ({
    value: { attributes: {}, fields: {}, isUnread: true },
    diagnostics: [diagnostic("badFrontMatter", { message, at, help })],
  });

  const [error] = document.errors;
  if (error !== undefined) {
    const help = "put values that begin with a *, or contain a colon, a # or a quote, in double quotes";
    return refuse(`the front matter is not YAML: ${error.message}`, spanAt(error.pos[0]), help);
  }
  if (document.contents === null) return { value: { attributes: {}, fields: {} }, diagnostics: [] };
  if (!isMap(document.contents)) return refuse("the front matter is not a list of keys and values", spanAt(0));
  const spans = document.contents.items.flatMap(({ key }) =>
    isScalar(key) && key.range ? [[String(key.value), spanAt(key.range[0], key.range[1] - key.range[0])] as const] : [],
  );
  const fields = Object.fromEntries(spans);
  try {
    const attributes: Record<string, unknown> = document.toJS({ maxAliasCount: 50 });
    return { value: { attributes, fields }, diagnostics: [] };
  } catch (cause) {
    if (!(cause instanceof ReferenceError)) throw cause;
    return refuse(`the front matter is not YAML: ${cause.message}`, spanAt(0));
  }
}

function empty(body: string, ...diagnostics: readonly Diagnostic[]): Result<Prose> {
  return { value: { attributes: {}, fields: {}, body, isUnread: diagnostics.length > 0 }, diagnostics };
}

function lineOf(file: string, line: number): Span {
  return { file, line, column: 1 };
}
