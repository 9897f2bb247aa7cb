import type { FastifyInstance } from "fastify";
import { RuntimeError } from "../errors.js";
import { agentOf, type HttpHost } from "./context.js";
import { refuseWhileDraining } from "./session.js";

/** Firing a schedule by hand; under `--dev` only. Source: `schedules.md` (Dispatch a schedule). */
export function scheduleRoutes(app: FastifyInstance, host: HttpHost): void {
  app.post("/v1/dev/schedules/:scheduleId", async (request) => {
    refuseWhileDraining(host);
    const { scheduleId } = request.params as { scheduleId: string };
    const { generation, schedules } = agentOf(request);
    if (generation.agent.schedules.length === 0) throw new RuntimeError("not_found", "the agent has no schedules");
    return schedules.dispatch(scheduleId);
  });
}
