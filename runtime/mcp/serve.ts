/** One message of a client, from its headers to its answer. Source: MCP 2026-07-28, and its revisions since 2025-03-26. */
import type { IncomingHttpHeaders } from "node:http";
import type { Caller } from "../session/service.js";
import type { Soon } from "../session/soon.js";
import type { McpEndpoint, ResultFields } from "./endpoint.js";
import { decodeHeaderValue } from "./header-value.js";
import {
  errorReply,
  type Fields,
  isFields,
  notification,
  type Reply,
  type Request,
  type RpcId,
  resultReply,
} from "./message.js";
import { checkParamHeaders } from "./param-headers.js";
import { codes, type Era, legacyVersions, logLevels, metaKeys, supportedVersions } from "./protocol.js";
import type { Cancellable } from "./running-calls.js";
import { ServedCall } from "./served-call.js";

/** Who speaks, and how to speak to them before the answer. */
export interface Exchange {
  readonly headers: IncomingHttpHeaders;
  readonly caller: Caller;
  /** Whether anything can be said before the answer: the client takes an event stream. */
  readonly takesNotices: boolean;
  /** Sends a text ahead of the answer. */
  notify(text: string): void;
  /** Aborts when the server closes. */
  readonly closing: AbortSignal;
  /** Aborts when the server closes, and when the client went away before it was answered. */
  readonly gone: AbortSignal;
  /** Whether the client went away before it was answered. */
  readonly isGone: boolean;
  /** Lets the client take a call back until it has ended; gives what to call then. */
  begin(id: RpcId, call: Cancellable): () => void;
  /** Takes back the call that a client names by its id. */
  cancel(id: unknown): void;
}

type Answer = Soon<Reply>;

/** Answers a request of a revision that opens with `initialize`. Errors are answers: the status is 200. */
export function serveLegacy(endpoint: McpEndpoint, request: Request, exchange: Exchange): Answer {
  const { id, method, params } = request;
  switch (method) {
    case "initialize":
      return resultReply(id, initializeResult(endpoint, params));
    case "ping":
      return resultReply(id, "{}");
    case "logging/setLevel":
      if (!endpoint.hasLogging) return unknownMethod(200, request);
      // Nothing is remembered from one request to the next: the level stays what it is.
      return logLevels.includes(String(params.level))
        ? resultReply(id, "{}")
        : errorReply(200, id, codes.invalidParams, `"level" must be one of ${logLevels.join(", ")}`);
    case "tools/list":
      return noPages(request) ?? resultReply(id, `{"tools":${endpoint.tools("legacy")}}`);
    case "tools/call":
      return callTool(endpoint, request, "legacy", exchange);
    default:
      return unknownMethod(200, request);
  }
}

/** Answers a request that carries its version itself, after its headers have been found to say what its body says. */
export function serveModern(endpoint: McpEndpoint, request: Request, exchange: Exchange): Answer {
  const { id, method, params } = request;
  const mismatch = (message: string) => errorReply(400, id, codes.headerMismatch, message);
  if (exchange.headers["mcp-method"] !== method) {
    return mismatch(`the header Mcp-Method must be the request's method, "${clip(method)}"`);
  }
  switch (method) {
    case "server/discover":
      return resultReply(id, `{${opening(endpoint)},${discovery(endpoint)},${caching(endpoint)}}`);
    case "tools/list":
      return (
        noPages(request) ??
        resultReply(id, `{${opening(endpoint)},"tools":${endpoint.tools("modern")},${caching(endpoint)}}`)
      );
    case "tools/call": {
      const { name } = params;
      const header = exchange.headers["mcp-name"];
      if (typeof name === "string" && (typeof header !== "string" || decodeHeaderValue(header) !== name)) {
        return mismatch(`the header Mcp-Name must be the tool's name, "${clip(name)}"`);
      }
      const marked = typeof name === "string" ? endpoint.paramHeaders(name) : undefined;
      const problem = marked && checkParamHeaders(marked, params.arguments, exchange.headers);
      return problem === undefined ? callTool(endpoint, request, "modern", exchange) : mismatch(problem);
    }
    case "subscriptions/listen":
      return listen(endpoint, request, exchange);
    default:
      return unknownMethod(404, request);
  }
}

function callTool(endpoint: McpEndpoint, request: Request, era: Era, exchange: Exchange): Answer {
  const { id, params } = request;
  const { name } = params;
  if (typeof name !== "string") return errorReply(200, id, codes.invalidParams, '"name" must be a string');
  if (endpoint.paramHeaders(name) === undefined) {
    return errorReply(200, id, codes.invalidParams, `there is no tool "${clip(name)}"`);
  }
  if (params.arguments !== undefined && !isFields(params.arguments)) {
    return errorReply(200, id, codes.invalidParams, '"arguments" must be an object');
  }
  const answer = (fields: ResultFields) =>
    resultReply(id, era === "modern" ? `{${opening(endpoint)},${fields}}` : `{${fields}}`);
  const call = new ServedCall(name, request, era, exchange);
  const fields = endpoint.call(call);
  if (typeof fields === "string") return answer(fields);
  return era === "modern" ? fields.then(answer) : untilCancelled(call, id, fields.then(answer), exchange);
}

/** The answer, or that none is wanted any more. */
function untilCancelled(call: ServedCall, id: RpcId, answer: Promise<Reply>, exchange: Exchange): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const end = exchange.begin(id, {
      cancel(reason) {
        call.cancel(reason);
        resolve({ ...errorReply(200, id, codes.cancelled, reason.message), isUnwanted: true });
      },
    });
    answer.then(resolve, reject).finally(() => {
      end();
      call.end();
    });
  });
}

/**
 * A stream of news, of which there are none: a list changes when another process serves it. So the subscription is
 * acknowledged, with nothing in it, and over.
 */
function listen({ serverInfo }: McpEndpoint, { id, params }: Request, exchange: Exchange): Reply {
  if (!isFields(params.notifications)) {
    return errorReply(200, id, codes.invalidParams, '"notifications" must say what to listen for');
  }
  const meta = { [metaKeys.subscriptionId]: id };
  exchange.notify(notification("notifications/subscriptions/acknowledged", { _meta: meta, notifications: {} }));
  const told = `"${metaKeys.subscriptionId}":${JSON.stringify(id)},"${metaKeys.serverInfo}":${serverInfo}`;
  return resultReply(id, `{"resultType":"complete","_meta":{${told}}}`);
}

function unknownMethod(status: number, { id, method }: Request): Reply {
  return errorReply(status, id, codes.methodNotFound, `there is no method "${clip(method)}"`);
}

/** Lists come whole, so no cursor was ever given out. */
function noPages({ id, params }: Request): Reply | undefined {
  if (params.cursor === undefined || params.cursor === null) return undefined;
  return errorReply(200, id, codes.invalidParams, "the list has one page: no cursor is known");
}

function initializeResult(endpoint: McpEndpoint, { protocolVersion }: Fields): string {
  const version = legacyVersions.find((each) => each === protocolVersion) ?? legacyVersions[0];
  return `{"protocolVersion":"${version}",${about(endpoint)},"serverInfo":${endpoint.serverInfo}}`;
}

function discovery(endpoint: McpEndpoint): string {
  return `"supportedVersions":${JSON.stringify(supportedVersions)},${about(endpoint)}`;
}

function about({ hasLogging, instructions }: McpEndpoint): string {
  const capabilities = hasLogging ? '{"tools":{},"logging":{}}' : '{"tools":{}}';
  return `"capabilities":${capabilities}${instructions === undefined ? "" : `,"instructions":${instructions}`}`;
}

/** What every result since 2026-07-28 begins with. */
function opening({ serverInfo }: McpEndpoint): string {
  return `"resultType":"complete","_meta":{"${metaKeys.serverInfo}":${serverInfo}}`;
}

/** Private: what is behind an auth chain is not for caches that others share. */
function caching({ ttlMs }: McpEndpoint): string {
  return `"ttlMs":${ttlMs},"cacheScope":"private"`;
}

function clip(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
