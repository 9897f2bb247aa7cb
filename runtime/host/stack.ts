/**
 * Stack traces in terms of the project's own files. Maps are parsed when the first error is rendered, never before.
 */
import { SourceMap, type SourceMapPayload } from "node:module";
import { fileURLToPath } from "node:url";

/** A text that runs under a name, and the map that tells where its lines come from. */
export interface MappedText {
  /** Absolute path or URL, as stack frames have it. */
  readonly file: string;
  /** Source map v3 as JSON, or how to get it. */
  readonly map: string | (() => string | undefined);
  /** Lines that stand before the text in its file. */
  readonly lineOffset?: number;
}

/** A place in a source, lines and columns from 1. */
export interface SourcePlace {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

const texts = new Map<string, MappedText & { parsed?: SourceMap | undefined }>();

/** Makes a text's map known; the newest of one name wins. `removeSourceMap` forgets it. */
export function addSourceMap(text: MappedText): void {
  texts.set(text.file, text);
}

export function removeSourceMap(file: string): void {
  texts.delete(file);
}

/** The source of a place in a mapped text, if its map knows. */
export function originOf(file: string, line: number, column: number): SourcePlace | undefined {
  const text = texts.get(file) ?? (file.startsWith("file:") ? texts.get(fileURLToPath(file)) : undefined);
  if (text === undefined) return undefined;
  const entry = mapOf(text)?.findEntry(line - 1 - (text.lineOffset ?? 0), column - 1);
  if (entry === undefined || !("originalSource" in entry) || entry.originalSource === undefined) return undefined;
  return { file: entry.originalSource, line: entry.originalLine + 1, column: entry.originalColumn + 1 };
}

/** Without a map that can be read, such as for want of a file descriptor, a stack is shown as it is: an error must be told. */
function mapOf(text: MappedText & { parsed?: SourceMap | undefined }): SourceMap | undefined {
  if ("parsed" in text) return text.parsed;
  try {
    const map = typeof text.map === "string" ? text.map : text.map();
    text.parsed = map === undefined ? undefined : new SourceMap(JSON.parse(map) as SourceMapPayload);
    return text.parsed;
  } catch {
    return undefined;
  }
}

const frame = /^(\s+at .*?\(?)((?:file:\/\/)?\/[^\n]*?):(\d+):(\d+)(\)?)$/;

/** A stack with every frame of a mapped text replaced by its place in the project. */
export function mapStack(stack: string): string {
  return stack
    .split("\n")
    .map((line) => {
      const match = frame.exec(line);
      if (match === null) return line;
      const [, head, file, row, column, tail] = match;
      const origin = originOf(file ?? "", Number(row), Number(column));
      return origin === undefined ? line : `${head}${origin.file}:${origin.line}:${origin.column}${tail}`;
    })
    .join("\n");
}

/**
 * An error as a person should read it: its stack in the project's own lines, with its causes. Anything that is not an
 * error is shown as a string.
 */
export function renderStack(error: unknown): string {
  if (!(error instanceof Error) && !isErrorLike(error)) return String(error);
  const own = mapStack(error.stack ?? `${error.name}: ${error.message}`);
  return error.cause === undefined ? own : `${own}\n[cause]: ${renderStack(error.cause)}`;
}

function isErrorLike(value: unknown): value is Error {
  return typeof value === "object" && value !== null && "stack" in value && typeof value.stack === "string";
}
