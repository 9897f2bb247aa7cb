import type { FastifyInstance } from "fastify";
import type { CatalogTool } from "../connections/contract.js";
import { RuntimeError } from "../errors.js";
import { hasLentTools, lentToolDetail, toolListing, withLentTools } from "../host/info.js";
import type { AgentManifest } from "../manifest/schema.js";
import { after } from "../session/soon.js";
import { readBody, readQuery, readString } from "./body.js";
import { agentOf, callerOf, type HttpHost } from "./context.js";
import { refuseWhileDraining } from "./session.js";

const json = "application/json; charset=utf-8";

/** Direct tool calls, and the catalog. Source: `http-api.md` (Call a tool without a model turn, Discovery routes). */
export function toolRoutes(app: FastifyInstance, host: HttpHost): void {
  app.post("/v1/tools/:toolName", (request) => {
    refuseWhileDraining(host);
    const { toolName } = request.params as { toolName: string };
    const body = readBody(request);
    const sessionId = readString(body, "sessionId");
    const continuationToken = readString(body, "continuationToken");
    const called = agentOf(request).sessions.callTool(callerOf(request), {
      toolName,
      input: body.input,
      ...(sessionId !== undefined && { sessionId }),
      ...(continuationToken !== undefined && { continuationToken }),
    });
    return after(called, ({ callId, toolName: name, isError, result, durationMs }) => ({
      ok: true,
      toolName: name,
      callId,
      isError,
      result,
      durationMs,
    }));
  });

  app.get("/v1/tools", async (request, reply) => {
    await checkBinding(request);
    const { generation, connections } = agentOf(request);
    if (!hasLentTools(generation.agent)) return reply.type(json).send(generation.toolsJson);
    const { tools: lent, connectionErrors } = await connections.catalog(generation);
    return { tools: withLentTools(toolListing(generation.agent), lent), connectionErrors };
  });

  app.get("/v1/tools/:toolName", async (request, reply) => {
    await checkBinding(request);
    const { toolName } = request.params as { toolName: string };
    const { generation, connections } = agentOf(request);
    const text = generation.toolJson(toolName);
    if (text !== undefined) return reply.type(json).send(text);
    const { tools: lent } = await connections.catalog(generation);
    const tool = lent.find(({ name }) => name === toolName);
    if (tool === undefined) throw unknownTool(generation.agent, toolName, lent);
    return lentToolDetail(tool);
  });
}

/** `session` and `continuationToken` bind a listing to a session: it must exist and be the caller's. */
async function checkBinding(request: Parameters<typeof agentOf>[0]): Promise<void> {
  const query = readQuery(request);
  const sessionId = readString(query, "session");
  const continuationToken = readString(query, "continuationToken");
  if (sessionId !== undefined && continuationToken !== undefined) {
    throw new RuntimeError("invalid_request", '"session" and "continuationToken" exclude each other');
  }
  const { sessions } = agentOf(request);
  const named = continuationToken === undefined ? sessionId : sessions.findByToken(continuationToken);
  if (named !== undefined) await sessions.get(callerOf(request), named);
  else if (continuationToken !== undefined) {
    throw new RuntimeError("invalid_continuation_token", "no session answers to this continuation token");
  }
}

function unknownTool(agent: AgentManifest, toolName: string, lent: readonly CatalogTool[]): RuntimeError {
  const available = withLentTools(toolListing(agent), lent).map(({ name }) => name);
  return new RuntimeError("unknown_tool", `no tool named "${toolName}"`, { available });
}
