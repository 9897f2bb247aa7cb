import type { JsonValue } from "../session/event.js";
import type { CallOutcome } from "../session/ports.js";
import { isJson, toJson } from "./json-value.js";

/** The outcome of what `execute` returned. `copy`: the outcome is kept, so it must not share parts with the author. */
export function outcomeOf(value: unknown, copy: boolean): CallOutcome {
  try {
    const output = !copy && isJson(value) ? value : toJson(value);
    return isEnvelope(output) ? fromEnvelope(output) : { output, isError: false };
  } catch (error) {
    return failedWith(error);
  }
}

/** The outcome of a failure: its message is what the caller and the model get. */
export function failedWith(error: unknown): CallOutcome {
  return failed(messageOf(error));
}

export function failed(message: string): CallOutcome {
  return { output: { message }, isError: true };
}

/** What an error says, whatever was thrown: reading it may throw as well. */
export function messageOf(error: unknown): string {
  try {
    if (error instanceof Error) return error.message === "" ? error.name : String(error.message);
    // An error of another realm (code run through `vm`) is none of ours by instanceof.
    if (typeof error === "object" && error !== null && "message" in error) return String(error.message);
    return typeof error === "string" ? error : (JSON.stringify(error) ?? String(error));
  } catch {
    return "it threw something that has no message";
  }
}

/** An explicit result, as `outcomeOf` leaves it. */
export interface Envelope {
  readonly content: readonly JsonValue[];
  readonly structuredContent?: JsonValue;
  readonly isError?: boolean;
}

const envelopeKeys = new Set(["content", "structuredContent", "isError"]);

/** Whether a value is an explicit result and nothing else. */
export function isEnvelope(value: JsonValue): value is JsonValue & Envelope {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const { content, isError } = value as { readonly content?: JsonValue; readonly isError?: JsonValue };
  if (!Array.isArray(content) || !content.every(isPart)) return false;
  if (isError !== undefined && typeof isError !== "boolean") return false;
  return Object.keys(value).every((key) => envelopeKeys.has(key));
}

function isPart(part: JsonValue): boolean {
  if (typeof part !== "object" || part === null || !("type" in part)) return false;
  const { type, ...rest } = part as { readonly [key: string]: JsonValue };
  switch (type) {
    case "text":
      return typeof rest.text === "string";
    case "image":
    case "audio":
      return typeof rest.data === "string" && typeof rest.mimeType === "string";
    case "resource":
      return typeof rest.resource === "object" && rest.resource !== null && "uri" in rest.resource;
    case "resource_link":
      return typeof rest.uri === "string" && typeof rest.name === "string";
    default:
      return false;
  }
}

function fromEnvelope({ content, structuredContent, isError }: Envelope): CallOutcome {
  const output: JsonValue = structuredContent === undefined ? { content } : { content, structuredContent };
  return { output, isError: isError === true };
}
