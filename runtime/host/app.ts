import { isUtf8 } from "node:buffer";
import { type FastifyInstance, fastify } from "fastify";
import { RuntimeError } from "../errors.js";
import { approvalRoutes } from "../http/approvals.js";
import { artifactRoutes } from "../http/artifacts.js";
import { docsRoutes, playgroundRoutes } from "../http/assets.js";
import { channelRoutes } from "../http/channels.js";
import { findAgent, type HttpHost, requireCaller } from "../http/context.js";
import { addCors, letRead } from "../http/cors.js";
import { costRoutes } from "../http/cost.js";
import { discoveryRoutes, healthRoutes } from "../http/discovery.js";
import { handleErrors, sendError } from "../http/errors.js";
import { evalRoutes } from "../http/evals.js";
import { routeHeadAsGet } from "../http/head.js";
import { indexRoutes } from "../http/index-page.js";
import { mcpRoutes } from "../http/mcp.js";
import { reminderRoutes } from "../http/reminders.js";
import { createRouteTable } from "../http/route-table.js";
import { scheduleRoutes } from "../http/schedules.js";
import { addSecurityHeaders } from "../http/security.js";
import { sessionRoutes } from "../http/session.js";
import { streamRoutes } from "../http/stream.js";
import { toolRoutes } from "../http/tools.js";
import type { ServerFactory } from "./tls.js";

/** How long a request may take to arrive whole, in milliseconds: Node's own default, which fastify takes away. */
const requestTimeoutMs = 300_000;

/** What a connection is told whose request is none, by Node's code of the reason. */
const notHttp = { status: "400 Bad Request", message: "the request is not valid HTTP" };
const refusals: Readonly<Record<string, typeof notHttp>> = {
  HPE_HEADER_OVERFLOW: { ...notHttp, status: "431 Request Header Fields Too Large" },
  ERR_HTTP_REQUEST_TIMEOUT: { status: "408 Request Timeout", message: "the request did not arrive in time" },
};

/**
 * The fastify app: one plugin a route family. Agents are found by the slug in the URL at request time, so a swap that
 * brings or removes agents needs no new routes.
 */
export function createApp(host: HttpHost, serverFactory?: ServerFactory): FastifyInstance {
  const app = fastify({
    ...(serverFactory && { serverFactory }),
    logger: false,
    bodyLimit: host.limits.bodyBytes,
    requestTimeout: requestTimeoutMs,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 256 },
    onProtoPoisoning: "error",
    onConstructorPoisoning: "error",
    return503OnClosing: false,
    // HEAD is GET whose body Node leaves out: routing it as such saves a second route for every GET at startup.
    exposeHeadRoutes: false,
    rewriteUrl: routeHeadAsGet,
    // No route declares a JSON schema: bodies are read by hand, so neither ajv nor a serializer compiler is loaded.
    schemaController: { compilersFactory: { buildValidator: refuseSchemas, buildSerializer: refuseSchemas } },
    frameworkErrors: (error, request, reply) => {
      // No hook has seen these requests.
      letRead(request, reply, host.corsOrigins);
      sendError(host, error, request, reply);
    },
    clientErrorHandler(error, socket) {
      const { status, message } = refusals[error.code ?? ""] ?? notHttp;
      const body = JSON.stringify({ ok: false, error: "invalid_request", message });
      if (!socket.writable) return void socket.destroy();
      socket.end(
        `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
      );
    },
  });
  const table = createRouteTable();
  app.addHook("onRoute", ({ method, url }) => table.add(method, url));
  app.decorateRequest("bdkMount", null);
  app.decorateRequest("bdkCaller", null);
  readJsonOnly(app);
  addSecurityHeaders(app, host);
  addCors(app, host.corsOrigins);
  handleErrors(app, host, table);
  if (host.docs !== "off") docsRoutes(app, host);
  if (host.isMulti) {
    healthRoutes(app, host);
    if (host.playground !== "off") indexRoutes(app, host);
  } else if (host.playground === "served") {
    app.get("/", (_request, reply) => reply.redirect("/playground"));
  }
  app.register(
    (agent, _options, done) => {
      agent.addHook("onRequest", findAgent(host));
      healthRoutes(agent, host);
      if (host.playground !== "off") playgroundRoutes(agent, host);
      channelRoutes(agent, host);
      mcpRoutes(agent, host);
      agent.register((guarded, _guardedOptions, ready) => {
        guarded.addHook("onRequest", requireCaller(host));
        sessionRoutes(guarded, host);
        streamRoutes(guarded, host);
        approvalRoutes(guarded);
        costRoutes(guarded);
        artifactRoutes(guarded);
        toolRoutes(guarded, host);
        discoveryRoutes(guarded, host);
        evalRoutes(guarded);
        if (host.isDev) {
          scheduleRoutes(guarded, host);
          reminderRoutes(guarded, host);
        }
        ready();
      });
      done();
    },
    { prefix: host.isMulti ? "/:slug" : "" },
  );
  return app;
}

/** Bodies are JSON, in UTF-8, without keys that reach into prototypes; an empty body is no body. Everything else is 415. */
function readJsonOnly(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser("error", "error");
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>("application/json", { parseAs: "buffer" }, (request, body, done) => {
    if (body.length === 0) return done(null, undefined);
    // Decoding would put U+FFFD in place of what is no UTF-8: a message that nobody sent.
    if (!isUtf8(body)) return done(new RuntimeError("invalid_request", "the body is not valid UTF-8"));
    parse(request, body.toString("utf8"), done);
  });
}

function refuseSchemas(): never {
  throw new RuntimeError("internal", "routes declare no JSON schemas here");
}
