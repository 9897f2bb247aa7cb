import type { FastifyInstance } from "fastify";
import { RuntimeError } from "../errors.js";
import { readBody } from "./body.js";

/**
 * The routes of the playground's Evals tab, as a server without evals answers them: it has no cases and no runs.
 * Source: decision 41.
 */
export function evalRoutes(app: FastifyInstance): void {
  app.get("/v1/dev/evals", async () => ({ evals: [], config: {} }));
  app.get("/v1/dev/evals/runs", async () => ({ runs: [] }));
  app.post("/v1/dev/evals/runs", async (request) => {
    readBody(request);
    throw new RuntimeError("not_found", "no case matches: this server was built without evals");
  });
  const unknownRun = async () => {
    throw new RuntimeError("not_found", "no such run");
  };
  app.get("/v1/dev/evals/runs/:runId", unknownRun);
  app.post("/v1/dev/evals/runs/:runId/cancel", unknownRun);
}
