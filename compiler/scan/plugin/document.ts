import type { Span } from "../../diagnostics/diagnostic.js";
import type { PluginReader } from "./reader.js";

export type JsonObject = Readonly<Record<string, unknown>>;

/** A JSON file of a plugin, with a way to point into it. */
export interface JsonDocument {
  readonly file: string;
  readonly value: JsonObject;
  /** Where a key is first written; the file's start when it is not found. */
  spanOf(key: string): Span;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Reads a JSON object; undefined, and an error, when the file holds anything else. */
export function readJsonObject(file: string, reader: PluginReader): JsonDocument | undefined {
  const text = reader.read(file);
  if (text === undefined) return undefined;
  const refuse = (problem: string) => {
    reader.report("pluginManifest", { message: `${file} ${problem}`, at: reader.start(file) });
    return undefined;
  };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return refuse(`is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (!isObject(value)) return refuse("is not a JSON object");
  return { file, value, spanOf: (key) => find(text, JSON.stringify(key)) ?? reader.start(file) };

  function find(within: string, key: string): Span | undefined {
    const index = within.indexOf(key);
    if (index === -1) return undefined;
    const before = within.slice(0, index).split("\n");
    const column = (before.at(-1) ?? "").length + 1;
    const line = before.length;
    return { file: reader.inSource(file), line, column, endLine: line, endColumn: column + key.length };
  }
}

/** A non-empty string field. */
export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}
