/** What went wrong with a server, in words for the model and for people, without a credential. */
import {
  InsufficientScopeError,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { ConnectionError } from "./error.js";

/** Longest message of a server that is passed on, in characters. */
const longest = 1_000;

/** @param clean takes what is secret out of a text */
export function explain(error: unknown, clean: (text: string) => string): ConnectionError {
  if (error instanceof ConnectionError) return error;
  const told = inOneLine(clean(messageOf(error))).slice(0, longest);
  if (error instanceof UnauthorizedError || error instanceof InsufficientScopeError) return unauthorized(told);
  if (error instanceof ProtocolError) {
    // The client's own check of an answer: by then the call has run.
    return new ConnectionError("connection_refused", told, { isUnknown: /structured content/i.test(told) });
  }
  if (error instanceof SdkHttpError) return explainStatus(error.status, told);
  const lost = error instanceof SdkError ? lostLine(error.cause) : lostLine(error);
  if (lost !== undefined) return lost;
  if (error instanceof SdkError) {
    switch (error.code) {
      case SdkErrorCode.RequestTimeout:
        return new ConnectionError("connection_timeout", "it did not answer in time", { isUnknown: true });
      case SdkErrorCode.ConnectionClosed:
        return new ConnectionError("connection_unreachable", "it closed the connection", { isUnknown: true });
      case SdkErrorCode.CapabilityNotSupported:
        return new ConnectionError("connection_refused", "the tool asks back for input, which nobody here can give");
      case SdkErrorCode.InvalidResult:
      case SdkErrorCode.UnsupportedResultType:
      case SdkErrorCode.InputRequiredRoundsExceeded:
        // It answered, and so the call is over; with what nobody can use.
        return new ConnectionError("connection_refused", `its answer can't be used: ${told}`, { isUnknown: true });
      default:
        return new ConnectionError("connection_unreachable", told, {
          isUnknown: error.code === SdkErrorCode.SendFailed || error.code === SdkErrorCode.EraNegotiationFailed,
        });
    }
  }
  if (error instanceof Error && error.name === "AbortError") {
    return new ConnectionError("connection_timeout", "the call was interrupted", { isUnknown: true });
  }
  return new ConnectionError("connection_unreachable", told, { isUnknown: true });
}

/** What a server says, without line ends and without what a terminal would take for commands. */
export function inOneLine(text: string): string {
  return text.replaceAll(/[\s\p{Cc}]+/gu, " ");
}

/** A server that has forgotten a session answers 404 to its id, and has run nothing. */
export function isStaleSession(error: unknown): boolean {
  return error instanceof SdkHttpError && error.status === 404;
}

/** `fetch failed` says nothing; its cause does. A request that was never sent had no effect. */
function lostLine(error: unknown): ConnectionError | undefined {
  const reason = reasonOf(error);
  if (reason === undefined) return undefined;
  return new ConnectionError("connection_unreachable", `it can't be reached: ${reason}`, {
    isUnknown: !neverSent.has(reason),
  });
}

const neverSent = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT", "EHOSTUNREACH"]);

function explainStatus(status: number | undefined, told: string): ConnectionError {
  if (status === 401 || status === 403) return unauthorized(`it answered ${status}`);
  // Before 500 nothing ran; a server that fails may have begun.
  const isUnknown = status === undefined || status >= 500;
  return new ConnectionError("connection_unreachable", status === undefined ? told : `it answered ${status}: ${told}`, {
    isUnknown,
  });
}

function unauthorized(told: string): ConnectionError {
  return new ConnectionError("connection_unauthorized", `it refuses the credentials: ${told}`);
}

function reasonOf(error: unknown): string | undefined {
  for (let each = error; each instanceof Error; each = each.cause) {
    if (each instanceof SdkError) continue;
    if ("code" in each && typeof each.code === "string" && /^[A-Z_]+$/.test(each.code)) return each.code;
    if (each instanceof AggregateError) return reasonOf(each.errors[0]);
  }
  return undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
