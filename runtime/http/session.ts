import type { FastifyInstance, FastifyRequest } from "fastify";
import { RuntimeError } from "../errors.js";
import type { Accepted, CreateSession } from "../session/service.js";
import {
  type Fields,
  readBody,
  readBodyWithFiles,
  readBoolean,
  readEnum,
  readIdempotencyKey,
  readIndex,
  readQuery,
  readSessionId,
  readString,
  readWorkspaceFiles,
  requireString,
} from "./body.js";
import { type AgentMount, agentOf, callerOf, type HttpHost } from "./context.js";

/** Creating, continuing, stopping and listing sessions. Source: `http-api.md`. */
export function sessionRoutes(app: FastifyInstance, host: HttpHost): void {
  // The whole body may hold both the JSON fields and the files, whose texts grow when written as JSON strings.
  const bodyLimit = host.limits.bodyBytes + 2 * host.limits.workspaceBytes;

  app.post("/v1/session", { bodyLimit }, async (request) => {
    refuseWhileDraining(host);
    const agent = agentOf(request);
    const accepted = await agent.sessions.create(callerOf(request), readCreate(request, host));
    return answer(host, agent, accepted);
  });

  app.post("/v1/session/:sessionId", { bodyLimit }, async (request) => {
    refuseWhileDraining(host);
    const agent = agentOf(request);
    const sessionId = readSessionId(request);
    const body = readBodyWithFiles(request, host.limits.bodyBytes);
    const workspaceFiles = readWorkspaceFiles(body, host.limits.workspaceBytes);
    const admission = readEnum(body, "admission", ["preempt", "coalesce"]);
    const idempotencyKey = readIdempotencyKey(request);
    const accepted = await agent.sessions.followUp(callerOf(request), {
      sessionId,
      continuationToken: requireString(body, "continuationToken"),
      message: readMessage(body, host),
      ...(workspaceFiles && { workspaceFiles }),
      ...(admission && { admission }),
      ...(idempotencyKey !== undefined && { idempotencyKey }),
    });
    return answer(host, agent, accepted);
  });

  app.post("/v1/session/:sessionId/fork", async (request) => {
    refuseWhileDraining(host);
    const agent = agentOf(request);
    const body = readBody(request);
    const { atIndex } = body;
    if (typeof atIndex !== "number" || !Number.isSafeInteger(atIndex) || atIndex < 0) {
      throw new RuntimeError("invalid_request", '"atIndex" is required and must be a whole number of at least 0');
    }
    const hasMessage = body.message !== undefined && body.message !== null;
    const idempotencyKey = readIdempotencyKey(request);
    const accepted = await agent.sessions.fork(callerOf(request), {
      sessionId: readSessionId(request),
      atIndex,
      ...(hasMessage && { message: readMessage(body, host) }),
      ...(idempotencyKey !== undefined && { idempotencyKey }),
    });
    return answer(host, agent, accepted);
  });

  app.post("/v1/session/:sessionId/stop", async (request) => {
    const sessionId = readSessionId(request);
    const { stopped } = await agentOf(request).sessions.stop(callerOf(request), sessionId);
    return { ok: true, sessionId, stopped };
  });

  app.get("/v1/sessions", async (request) => {
    const query = readQuery(request);
    const cursor = readString(query, "cursor");
    const limit = readIndex(query, "limit", { min: 1, max: 500 }) ?? 50;
    return agentOf(request).sessions.list(callerOf(request), { limit, ...(cursor !== undefined && { cursor }) });
  });
}

function readCreate(request: FastifyRequest, host: HttpHost): CreateSession {
  const body = readBodyWithFiles(request, host.limits.bodyBytes);
  const title = readString(body, "title");
  const dryRun = readBoolean(body, "dryRun");
  const asOf = readAsOf(body);
  const purpose = readEnum(body, "purpose", ["live", "eval"]);
  const workspaceFiles = readWorkspaceFiles(body, host.limits.workspaceBytes);
  const idempotencyKey = readIdempotencyKey(request);
  return {
    message: readMessage(body, host),
    channelId: "http",
    ...(title !== undefined && { title }),
    ...(dryRun !== undefined && { dryRun }),
    ...(asOf !== undefined && { asOf }),
    ...(purpose && { purpose }),
    ...(workspaceFiles && { workspaceFiles }),
    ...(idempotencyKey !== undefined && { idempotencyKey }),
  };
}

function readMessage(body: Fields, host: HttpHost): string {
  const message = requireString(body, "message");
  if (message.length > host.limits.bodyBytes || Buffer.byteLength(message) > host.limits.bodyBytes) {
    throw new RuntimeError("payload_too_large", `"message" is larger than ${host.limits.bodyBytes} bytes`);
  }
  return message;
}

function readAsOf(body: Fields): string | undefined {
  const { asOf } = body;
  if (asOf === undefined || asOf === null) return undefined;
  if (typeof asOf !== "string")
    throw new RuntimeError("invalid_as_of", '"asOf" must be an ISO-8601 instant with a timezone');
  return asOf;
}

function answer(host: HttpHost, agent: AgentMount, { sessionId, continuationToken }: Accepted) {
  return { ok: true, sessionId, continuationToken, ...sessionUrls(host, agent, sessionId) };
}

/** Where a session can be looked at: the playground, when it is served, and the recorded events. */
export function sessionUrls(host: HttpHost, agent: AgentMount, sessionId: string) {
  const base = host.urlOf(agent.slug);
  return {
    ...(host.playground === "served" && { playgroundUrl: `${base}/playground?sessionId=${sessionId}` }),
    traceUrl: `${base}/v1/session/${sessionId}/events`,
  };
}

/** Once the host is closing, work that would begin a turn is refused; the client may try the next process. */
export function refuseWhileDraining(host: HttpHost): void {
  if (host.isDraining()) throw new RuntimeError("storage_unavailable", "the server is shutting down; try again");
}
