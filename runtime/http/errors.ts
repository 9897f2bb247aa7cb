import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type ErrorCode, RuntimeError } from "../errors.js";
import type { HttpHost } from "./context.js";
import { isHead } from "./head.js";
import { isMcpPath, sendMcpError } from "./mcp.js";
import type { RouteTable } from "./route-table.js";
import { protectAnswer } from "./security.js";

/** Every failure leaves as `{ ok: false, error, message }`; what is not one of ours is logged and told as `internal`. */
export function handleErrors(app: FastifyInstance, host: HttpHost, table: RouteTable): void {
  app.setErrorHandler((error: FastifyError | RuntimeError, request, reply) => sendError(host, error, request, reply));
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split("?", 1)[0] ?? "/";
    const methods = table.methodsOf(path, (slug) => host.mount(slug) !== undefined);
    // A path that fits a route's pattern and method and yet was not routed, such as one with nothing after its last slash.
    if (methods.length === 0 || methods.includes(request.method))
      return sendError(host, new RuntimeError("not_found", `no route ${path}`), request, reply);
    reply.header("allow", methods.join(", "));
    // A preflight of a page that nobody let in is answered, and grants nothing.
    if (request.method === "OPTIONS") return reply.code(204).send();
    const message = `${path} accepts ${methods.join(", ")}, not ${isHead(request.raw) ? "HEAD" : request.method}`;
    const refusal = new RuntimeError("method_not_allowed", message);
    return isMcpPath(path) ? sendMcpError(host, refusal, request, reply) : sendError(host, refusal, request, reply);
  });
}

/** Answers with an error's body. */
export function sendError(host: HttpHost, error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { status, body } = describeError(error);
  if (status >= 500)
    host.log[status === 500 ? "error" : "warn"](`${request.method} ${pathOf(request)} answered ${status}`, error);
  if (status === 413 || status === 401) reply.header("connection", "close");
  return protectAnswer(reply).code(status).type("application/json; charset=utf-8").send(body);
}

/** Status and body of an error; nothing of an unexpected error but its kind gets out. */
export function describeError(error: unknown): { readonly status: number; readonly body: Record<string, unknown> } {
  if (error instanceof RuntimeError) return { status: error.status, body: error.toBody() };
  const status = statusOf(error);
  if (!isFrameworkError(error) || status >= 500) {
    return { status: 500, body: { ok: false, error: "internal", message: "the server failed; its log says why" } };
  }
  return { status, body: { ok: false, error: codeOf(status), message: frameworkMessage(error) } };
}

function isFrameworkError(error: unknown): error is FastifyError {
  return error instanceof Error && "statusCode" in error && typeof error.statusCode === "number";
}

/** A path part longer than the router reads names nothing, like any other part that nothing is named. */
function statusOf(error: unknown): number {
  if (!isFrameworkError(error)) return 500;
  return error.code === "FST_ERR_MAX_PARAM_LENGTH" ? 404 : (error.statusCode ?? 500);
}

function codeOf(status: number): ErrorCode {
  if (status === 413) return "payload_too_large";
  if (status === 404) return "not_found";
  if (status === 405) return "method_not_allowed";
  return "invalid_request";
}

function frameworkMessage(error: FastifyError): string {
  switch (error.code) {
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
      return "send the body as application/json";
    case "FST_ERR_MAX_PARAM_LENGTH":
      return "no such route";
    case "FST_ERR_CTP_BODY_TOO_LARGE":
      return "the body is too large";
    case "FST_ERR_CTP_INVALID_JSON_BODY":
      return "the body is not valid JSON, or has a key such as __proto__";
    default:
      return error.message;
  }
}

function pathOf(request: FastifyRequest): string {
  return request.url.split("?", 1)[0] ?? request.url;
}
