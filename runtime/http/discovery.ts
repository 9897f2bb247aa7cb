import type { FastifyInstance } from "fastify";
import { readIndex, readQuery } from "./body.js";
import { agentOf, type HttpHost } from "./context.js";

/** What the agent is, and what its server says. Source: `http-api.md` (Discovery routes). */
export function discoveryRoutes(app: FastifyInstance, host: HttpHost): void {
  app.get("/v1/info", async (request, reply) => {
    const { generation, connections } = agentOf(request);
    const connectionErrors = connections.failures(generation);
    const text = generation.infoJson;
    if (connectionErrors.length === 0) return reply.type("application/json; charset=utf-8").send(text);
    const info = JSON.parse(text) as { readonly agents: readonly object[] };
    return { agents: info.agents.map((agent) => ({ ...agent, connectionErrors })) };
  });

  app.get("/v1/logs", async (request) => {
    const after = readIndex(readQuery(request), "after", { min: 0, max: Number.MAX_SAFE_INTEGER }) ?? 0;
    return host.log.after(after);
  });
}

/** Liveness and readiness of one agent, without auth. */
export function healthRoutes(app: FastifyInstance, host: HttpHost): void {
  const answer = () => ({ ok: true, version: host.version, manifestHash: host.manifestHash() });
  app.get("/v1/health", async () => answer());
  app.get("/v1/ready", async (_request, reply) =>
    host.isDraining() ? reply.code(503).send({ ...answer(), ok: false }) : answer(),
  );
}
