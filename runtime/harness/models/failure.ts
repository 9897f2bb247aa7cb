import { APICallError, JSONParseError, TypeValidationError } from "@ai-sdk/provider";
import { RuntimeError } from "../../errors.js";
import { EndpointError } from "./endpoint.js";
import type { ProviderSettings } from "./section.js";

/** Longest wait that a provider may ask for before we give up instead, in milliseconds. */
const longestWaitMs = 30_000;

/** Longest part of a provider's own words that is passed on. */
const longestMessage = 500;

/**
 * How long to wait before trying again, in milliseconds: what the provider asks for, else twice as long each time.
 * `undefined` when trying again would not help.
 */
export function retryDelay(error: unknown, attempt: number): number | undefined {
  if (!isPassing(error)) return undefined;
  const asked = APICallError.isInstance(error) ? retryAfter(error.responseHeaders) : undefined;
  if (asked !== undefined) return asked <= longestWaitMs ? asked : undefined;
  return 500 * 2 ** (attempt - 1) * (0.75 + Math.random() / 2);
}

/** What a turn is told: what happened and what to do about it, without the key. */
export function toRuntimeError(error: unknown, settings: ProviderSettings, attempts: number): RuntimeError {
  const message = describe(error, settings, attempts);
  const { apiKey } = settings;
  const clean = apiKey === undefined || apiKey === "" ? message : message.replaceAll(apiKey, "[redacted]");
  return new RuntimeError("model_unavailable", clean);
}

function describe(error: unknown, settings: ProviderSettings, attempts: number): string {
  const { label, keyVariable, modelId, baseUrl } = settings;
  const tries = attempts > 1 ? ` after ${attempts} tries` : "";
  const endpoint = endpointError(error);
  if (endpoint !== undefined) return `${label} at ${baseUrl} ${endpoint.message}`;
  const unread = unreadable(error);
  if (unread !== undefined)
    return `${label} at ${baseUrl} sent something that is none of its answers: ${shortened(unread)}`;
  const said = ownWords(error);
  const status = APICallError.isInstance(error) ? error.statusCode : undefined;
  if (status === 401 || status === 403) return `${label} refused the key in ${keyVariable} (${status}): ${said}`;
  if (status === 404) return `${label} has no model "${modelId}" at ${baseUrl} (404): ${said}`;
  if (status === 429) return `${label} is limiting requests (429)${tries}: ${said}`;
  if (status !== undefined && status < 300) return `${label}'s answer broke off: ${said}`;
  if (status !== undefined) return `${label} answered ${status}${tries}: ${said}`;
  if (isConnectionError(error)) return `${label} could not be reached at ${baseUrl}${tries}: ${said}`;
  return `${label} failed${tries}: ${said}`;
}

/** Packages may put an error of their own around it. */
function endpointError(error: unknown): EndpointError | undefined {
  if (error instanceof EndpointError) return error;
  return error instanceof Error && error.cause !== undefined ? endpointError(error.cause) : undefined;
}

function ownWords(error: unknown): string {
  // Of an answer that began well, the package says only that it did; its cause says what happened then.
  const isBrokenOff = APICallError.isInstance(error) && (error.statusCode ?? 500) < 300 && error.cause !== undefined;
  return shortened(messageOf(isBrokenOff ? error.cause : error));
}

function shortened(message: string): string {
  const text = message.replace(/\s+/g, " ").trim();
  return text.length > longestMessage ? `${text.slice(0, longestMessage)}…` : text;
}

/** What came, where it is not what the provider's package knows; the package itself tells of its own schemas. */
function unreadable(error: unknown): string | undefined {
  if (JSONParseError.isInstance(error)) return error.text;
  if (TypeValidationError.isInstance(error)) return JSON.stringify(error.value) ?? "nothing";
  return error instanceof Error && error.cause !== undefined ? unreadable(error.cause) : undefined;
}

/** Providers also send errors inside the stream, as objects of their own. */
function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message || error.name;
  if (typeof error === "string") return error;
  if (typeof error === "object" && error !== null) {
    if ("message" in error && typeof error.message === "string") return error.message;
    if ("error" in error) return messageOf(error.error);
    return JSON.stringify(error);
  }
  return String(error);
}

/** Whether a failure may pass by itself: too many requests, a server's fault, a broken connection. */
function isPassing(error: unknown): boolean {
  if (endpointError(error) !== undefined || unreadable(error) !== undefined) return false;
  const status = APICallError.isInstance(error) ? error.statusCode : undefined;
  if (status !== undefined) return status === 429 || status === 408 || status >= 500;
  return isConnectionError(error) || /overloaded|server_error|rate_limit/i.test(wordsIn(error));
}

function isConnectionError(error: unknown): boolean {
  if (APICallError.isInstance(error)) return error.statusCode === undefined && error.isRetryable;
  return /ECONNRESET|ECONNREFUSED|ENOTFOUND|ETIMEDOUT|UND_ERR|fetch failed|terminated|socket hang up/i.test(
    wordsIn(error),
  );
}

function wordsIn(error: unknown): string {
  if (error instanceof Error) return `${error.message} ${error.cause === undefined ? "" : wordsIn(error.cause)}`;
  return typeof error === "object" && error !== null ? JSON.stringify(error) : String(error);
}

function retryAfter(headers: Readonly<Record<string, string>> | undefined): number | undefined {
  const inMs = Number(headers?.["retry-after-ms"] ?? Number.NaN);
  if (inMs >= 0) return inMs;
  const value = headers?.["retry-after"];
  if (value === undefined) return undefined;
  if (/^\d+(\.\d+)?$/.test(value)) return Number(value) * 1000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}
