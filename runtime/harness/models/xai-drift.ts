import { type JSONObject, type LanguageModelV3Usage, TypeValidationError } from "@ai-sdk/provider";

/** What can be made of a chunk that the provider package did not understand. */
export type Salvage =
  /** It carries nothing that we need. */
  | { readonly kind: "nothing" }
  /** It is the end of the response: its own count stands in for the package's, which has none. */
  | { readonly kind: "end"; readonly usage: LanguageModelV3Usage };

/**
 * The xAI package checks every chunk against the shapes it knows, and reports one that it does not know as an error
 * while the stream goes on. A new field is no reason to fail the step, unless the chunk carries text or a call of ours.
 */
export function salvageChunk(error: unknown): Salvage | undefined {
  if (!TypeValidationError.isInstance(error)) return undefined;
  const chunk = objectOf(error.value);
  const type = chunk.type;
  if (typeof type !== "string" || !type.startsWith("response.")) return undefined;
  if (type === "response.completed" || type === "response.done") {
    const usage = toLanguageModelUsage(objectOf(objectOf(chunk.response).usage));
    return { kind: "end", usage };
  }
  if (/^response\.(?:incomplete|failed|output_text\.delta)$/.test(type)) return undefined;
  const item = objectOf(chunk.item).type;
  const isNeeded = type === "response.output_item.done" && (item === "function_call" || item === "message");
  return isNeeded ? undefined : { kind: "nothing" };
}

function toLanguageModelUsage(raw: JSONObject): LanguageModelV3Usage {
  const cacheRead = numberOf(objectOf(raw.input_tokens_details).cached_tokens);
  const reasoning = numberOf(objectOf(raw.output_tokens_details).reasoning_tokens);
  const input = numberOf(raw.input_tokens);
  return {
    inputTokens: { total: input, noCache: undefined, cacheRead, cacheWrite: undefined },
    outputTokens: { total: numberOf(raw.output_tokens), text: undefined, reasoning },
    raw,
  };
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function objectOf(value: unknown): JSONObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JSONObject) : {};
}
