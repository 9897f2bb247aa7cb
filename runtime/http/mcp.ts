import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type AuthRequest, isLoopbackOrigin } from "../auth/loopback.js";
import { isForeignOrigin } from "../auth/policy.js";
import { RuntimeError } from "../errors.js";
import type { Generation } from "../host/generation.js";
import { createAgentEndpoint } from "../mcp/agent-endpoint.js";
import type { McpEndpoint } from "../mcp/endpoint.js";
import { errorReply, type Reply, type RpcId, readMessage } from "../mcp/message.js";
import { codes } from "../mcp/protocol.js";
import { idOfNobody, receive } from "../mcp/receive.js";
import { RunningCalls } from "../mcp/running-calls.js";
import { createToolsEndpoint, type ServerFacts } from "../mcp/tools-endpoint.js";
import { type AgentMount, agentOf, type HttpHost, requireCaller } from "./context.js";
import { describeError } from "./errors.js";
import { McpExchange } from "./mcp-exchange.js";
import { protectAnswer } from "./security.js";
import { refuseWhileDraining } from "./session.js";

/**
 * The agent as an MCP server: `/v1/mcp` to delegate to it, `/v1/mcp/tools` for its tools alone. Stateless: each POST
 * stands for itself; GET and DELETE are 405. Source: `http-api.md` (MCP endpoint).
 */
export function mcpRoutes(app: FastifyInstance, host: HttpHost): void {
  app.register((mcp, _options, done) => {
    mcp.addHook("onRequest", requireCaller(host, refuseForeignOrigin(host)));
    mcp.setErrorHandler((error, request, reply) => sendMcpError(host, error, request, reply));
    mcp.post("/v1/mcp", answerWith(host, createAgentEndpoint));
    mcp.post("/v1/mcp/tools", answerWith(host, createToolsEndpoint));
    done();
  });
}

/** Whether a path is one of these routes, whatever agent it is of. */
export function isMcpPath(path: string): boolean {
  return /^(?:\/[^/]+)?\/v1\/mcp(?:\/tools)?\/?$/.test(path);
}

/** What is no answer to a message: JSON-RPC's form, the status of HTTP, and our own code in `data`. */
export function sendMcpError(
  host: HttpHost,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const { status, body } = describeError(error);
  if (status >= 500) {
    const path = request.url.split("?", 1)[0];
    host.log[status === 500 ? "error" : "warn"](`${request.method} ${path} answered ${status}`, error);
  }
  if (status === 413 || status === 401) reply.header("connection", "close");
  const isSyntax =
    isFrameworkCode(error, "FST_ERR_CTP_INVALID_JSON_BODY") || isFrameworkCode(error, "FST_ERR_CTP_EMPTY_JSON_BODY");
  const code = isSyntax ? codes.parseError : status >= 500 ? codes.internal : codes.invalidRequest;
  const id = idIn(request.body) ?? idOfNobody(request.headers["mcp-protocol-version"]);
  return send(protectAnswer(reply), errorReply(status, id, code, String(body.message), { error: body.error }));
}

function isFrameworkCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}

/**
 * A page of another site, whoever it says it is: 403, before anything else is looked at. Where only this machine is let
 * in, a page that calls itself the host it calls is one of another site too: it has rebound its own name.
 */
function refuseForeignOrigin({ auth }: HttpHost) {
  const isLocal = auth.some(({ name }) => name === "localDevStrict");
  return (request: AuthRequest): RuntimeError | undefined => {
    const { origin } = request.headers;
    if (origin === undefined || request.isAllowedOrigin === true) return undefined;
    const isOurs = typeof origin === "string" && !isForeignOrigin(request) && (!isLocal || isLoopbackOrigin(origin));
    return isOurs ? undefined : new RuntimeError("forbidden", "pages of other origins may not call this server");
  };
}

type Make = (agent: AgentMount, facts: ServerFacts) => McpEndpoint;

function answerWith(host: HttpHost, make: Make) {
  /** The texts of an agent's endpoint, for as long as its code answers. */
  const endpoints = new WeakMap<Generation, McpEndpoint>();
  const calls = new WeakMap<AgentMount, RunningCalls>();

  function endpointOf(agent: AgentMount): McpEndpoint {
    const known = endpoints.get(agent.generation);
    if (known !== undefined) return known;
    const made = make(agent, { version: host.version, isDev: host.isDev });
    endpoints.set(agent.generation, made);
    return made;
  }

  function callsOf(agent: AgentMount): RunningCalls {
    const known = calls.get(agent);
    if (known !== undefined) return known;
    const made = new RunningCalls();
    calls.set(agent, made);
    return made;
  }

  return (request: FastifyRequest, reply: FastifyReply): Promise<void> | undefined => {
    refuseWhileDraining(host);
    const agent = agentOf(request);
    const { body } = request;
    if (body === undefined) throw new RuntimeError("invalid_request", "the body is empty: send a message");
    const exchange = new McpExchange(request, reply, host.closing, callsOf(agent));
    const fail = (error: unknown): void => {
      exchange.release();
      if (!exchange.hasBegun) throw error;
      host.log.error(`${request.method} ${request.url.split("?", 1)[0]} failed after it had begun to answer`, error);
      exchange.finish(failure(body, error));
    };
    try {
      const answer = receive(endpointOf(agent), body, exchange);
      if (answer instanceof Promise) {
        exchange.keepAlive();
        return answer.then((ready) => exchange.finish(ready)).catch(fail);
      }
      exchange.finish(answer);
    } catch (error) {
      fail(error);
    }
    return undefined;
  };
}

/** The end of a stream whose answer could not be made. */
function failure(body: unknown, error: unknown): Reply {
  const told = describeError(error).body;
  return errorReply(200, idIn(body), codes.internal, String(told.message), { error: told.error });
}

/** The id of the one request in a body. */
function idIn(body: unknown): RpcId | undefined {
  const message = readMessage(body);
  return message.is === "request" ? message.id : undefined;
}

function send(reply: FastifyReply, { status, body }: Reply): FastifyReply {
  reply.code(status);
  return body === undefined ? reply.send() : reply.type("application/json; charset=utf-8").send(body);
}
