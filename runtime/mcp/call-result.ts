/** What a tool gave, as MCP's `CallToolResult`. */
import type { JsonValue } from "../session/event.js";
import { isEnvelope } from "../tools/result.js";
import type { ResultFields } from "./endpoint.js";
import type { Era } from "./protocol.js";

/** A result that is text, or JSON that a client can also take as it is. */
export interface Given {
  readonly value: JsonValue;
  readonly isError: boolean;
  /** The tool is listed with an `outputSchema`: clients refuse a result without a structured part. */
  readonly isStructured: boolean;
}

/**
 * An envelope's parts go as they are. Anything else goes as text, and as structured content where the revision lets it:
 * objects always, other values since 2026-07-28 and only for a tool that has announced them.
 *
 * @example resultFields({ value: { sum: 3 }, isError: false, isStructured: false }, "modern")
 */
export function resultFields({ value, isError, isStructured }: Given, era: Era): ResultFields {
  if (isEnvelope(value)) {
    const { content, structuredContent } = value;
    if (structuredContent === undefined && isStructured && !isError) {
      return textFields("the tool announces an outputSchema and gave no structured content", true);
    }
    const structured =
      structuredContent === undefined ? "" : `,"structuredContent":${JSON.stringify(structuredContent)}`;
    return `"content":${JSON.stringify(content)}${structured}${isError ? ',"isError":true' : ""}`;
  }
  if (isError) return textFields(messageIn(value), true);
  const json = JSON.stringify(value);
  const text = typeof value === "string" ? json : JSON.stringify(json);
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  const structured = isObject || (era === "modern" && isStructured) ? `,"structuredContent":${json}` : "";
  return `"content":[{"type":"text","text":${text}}]${structured}`;
}

/** A result that is one text. */
export function textFields(text: string, isError: boolean): ResultFields {
  return `"content":[{"type":"text","text":${JSON.stringify(text)}}]${isError ? ',"isError":true' : ""}`;
}

/** A failed call's value is `{ message }`. */
function messageIn(value: JsonValue): string {
  if (typeof value === "object" && value !== null && "message" in value && typeof value.message === "string") {
    return value.message;
  }
  return typeof value === "string" ? value : JSON.stringify(value);
}
