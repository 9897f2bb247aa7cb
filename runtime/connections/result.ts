/** Answers of servers as results of our tools, and as `ctx.host.mcp` gives them. */
import type { HostMcpCallResult, HostMcpContent } from "../authoring/host.js";
import type { JsonObject, JsonValue } from "../session/event.js";
import type { CallOutcome } from "../session/ports.js";
import { failed } from "../tools/result.js";
import type { RawResult } from "./link.js";

/** Largest answer that is kept and shown to a model, in characters of its JSON. */
const largest = 8 * 1024 * 1024;

type Part = Readonly<Record<string, unknown>>;

/**
 * A result for the model and the log: text and images as they are; of what a model can't be shown, a line that says what
 * it was.
 */
export function toOutcome(result: RawResult, toolName: string): CallOutcome {
  const content = (result.content ?? []).map(toPart);
  const output: JsonValue =
    result.structuredContent === undefined
      ? { content }
      : { content, structuredContent: result.structuredContent as JsonValue };
  if (JSON.stringify(output).length > largest) {
    return failed(`"${toolName}" answered with more than ${largest / 1024 / 1024} MiB; ask it for less`);
  }
  return { output, isError: result.isError === true };
}

/** The answer as the server gave it, for code. */
export function toHostResult(result: RawResult): HostMcpCallResult {
  const { structuredContent, isError } = result;
  return {
    content: (result.content ?? []) as readonly HostMcpContent[],
    ...(structuredContent !== undefined && { structuredContent: structuredContent as JsonObject }),
    ...(isError !== undefined && { isError }),
  };
}

function toPart(part: Part): JsonObject {
  const { type, data, mimeType } = part;
  switch (type) {
    case "text":
      return text(String(part.text ?? ""));
    case "image":
      return { type: "image", data: String(data ?? ""), mimeType: String(mimeType ?? "image/png") };
    case "audio":
      return text(`[audio, ${mimeType}, not shown]`);
    case "resource_link":
      return text(`[${part.title ?? part.name ?? "resource"}: ${part.uri}]`);
    case "resource":
      return toResource((part.resource ?? {}) as Part);
    default:
      return text(`[${String(type)}, not shown]`);
  }
}

function toResource({ uri, text: own, blob, mimeType }: Part): JsonObject {
  if (typeof own === "string") return text(own);
  if (typeof blob === "string" && typeof mimeType === "string" && mimeType.startsWith("image/")) {
    return { type: "image", data: blob, mimeType };
  }
  return text(`[${uri}, ${mimeType ?? "bytes"}, not shown]`);
}

function text(value: string): JsonObject {
  return { type: "text", text: value };
}
