/** One message of a client, from its headers to its answer. Source: MCP 2026-07-28, and its revisions since 2025-03-26. */
import type { IncomingHttpHeaders } from "node:http";
import type { Caller } from "../session/service.js";
import type { McpCall, McpEndpoint, ResultFields } from "./endpoint.js";
import { decodeHeaderValue } from "./header-value.js";
import { errorReply, type Fields, isFields, notification, type Reply, type Request, resultReply } from "./message.js";
import { checkParamHeaders } from "./param-headers.js";
import { codes, type Era, legacyVersions, logLevels, metaKeys, supportedVersions } from "./protocol.js";

/** Who speaks, and how to speak to them before the answer. */
export interface Exchange {
  readonly headers: IncomingHttpHeaders;
  readonly caller: Caller;
  /** Sends a text ahead of the answer; left out when the client takes no event stream. */
  readonly notify?: (text: string) => void;
  /** Aborts when the server closes and, with `orGone`, when the client went away. */
  signal(orGone: boolean): AbortSignal;
  /** Whether the client went away before it was answered. */
  readonly isGone: boolean;
}

type Answer = Reply | Promise<Reply>;

/** Answers a request of a revision that opens with `initialize`. Errors are answers: the status is 200. */
export function serveLegacy(endpoint: McpEndpoint, request: Request, exchange: Exchange): Answer {
  const { id, method, params } = request;
  switch (method) {
    case "initialize":
      return resultReply(id, initializeResult(endpoint, params));
    case "ping":
      return resultReply(id, "{}");
    case "logging/setLevel":
      // Nothing is remembered from one request to the next: the level stays what it is.
      return logLevels.includes(String(params.level))
        ? resultReply(id, "{}")
        : errorReply(200, id, codes.invalidParams, `"level" must be one of ${logLevels.join(", ")}`);
    case "tools/list":
      return noPages(request) ?? resultReply(id, `{"tools":${endpoint.tools("legacy")}}`);
    case "tools/call":
      return callTool(endpoint, request, "legacy", exchange);
    default:
      return errorReply(200, id, codes.methodNotFound, `there is no method "${clip(method)}"`);
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
    default:
      return errorReply(404, id, codes.methodNotFound, `there is no method "${clip(method)}"`);
  }
}

function callTool(endpoint: McpEndpoint, request: Request, era: Era, exchange: Exchange): Answer {
  const { id, params } = request;
  const { name, arguments: args = {} } = params;
  if (typeof name !== "string") return errorReply(200, id, codes.invalidParams, '"name" must be a string');
  if (endpoint.paramHeaders(name) === undefined) {
    return errorReply(200, id, codes.invalidParams, `there is no tool "${clip(name)}"`);
  }
  const answer = (fields: ResultFields) =>
    resultReply(id, era === "modern" ? `{${opening(endpoint)},${fields}}` : `{${fields}}`);
  const meta = isFields(params._meta) ? params._meta : undefined;
  const fields = endpoint.call({
    era,
    name,
    args,
    caller: exchange.caller,
    // A connection that breaks off is a cancelled request since 2026-07-28, and was expressly none before.
    signal: () => exchange.signal(era === "modern"),
    isGone: () => exchange.isGone,
    ...(exchange.notify && noticesTo(exchange.notify, era, meta)),
  });
  return typeof fields === "string" ? answer(fields) : fields.then(answer);
}

/** What the client wants to hear before the answer: progress under its token, log lines from its level on. */
function noticesTo(
  notify: (text: string) => void,
  era: Era,
  meta: Fields | undefined,
): Pick<McpCall, "progress" | "log"> {
  const token = meta?.[metaKeys.progressToken];
  const asked = era === "modern" ? meta?.[metaKeys.logLevel] : "info";
  const least = logLevels.indexOf(String(asked));
  let last = Number.NEGATIVE_INFINITY;
  return {
    ...((typeof token === "string" || typeof token === "number") && {
      progress: (progress, total, message) => {
        // A value that does not grow is none: clients may take it for a fault.
        if (!(progress > last)) return;
        last = progress;
        notify(notification("notifications/progress", { progressToken: token, progress, total, message }));
      },
    }),
    ...(asked !== undefined &&
      least >= 0 && {
        log: (level, data) => {
          if (logLevels.indexOf(level) >= least) notify(notification("notifications/message", { level, data }));
        },
      }),
  };
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

function about({ capabilities, instructions }: McpEndpoint): string {
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
