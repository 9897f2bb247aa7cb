import type { FastifyInstance } from "fastify";
import { RuntimeError } from "../errors.js";
import type { Dispatched } from "../schedules/contract.js";
import { readIdempotencyKey } from "./body.js";
import { agentOf, type HttpHost } from "./context.js";
import { refuseWhileDraining } from "./session.js";

/** Firing a schedule by hand; under `--dev` only. Source: `schedules.md` (Dispatch a schedule). */
export function scheduleRoutes(app: FastifyInstance, host: HttpHost): void {
  /** First answers to requests with a key, failures of runs among them: who asks again fires nothing again. */
  const answers = new Map<string, Promise<Dispatched>>();

  app.post("/v1/dev/schedules/:scheduleId", async (request) => {
    refuseWhileDraining(host);
    const { scheduleId } = request.params as { scheduleId: string };
    const { slug, generation, schedules } = agentOf(request);
    const { schedules: entries } = generation.agent;
    if (entries.length === 0) throw new RuntimeError("not_found", "the agent has no schedules");
    const key = readIdempotencyKey(request);
    if (key === undefined || !entries.some(({ name }) => name === scheduleId)) return schedules.dispatch(scheduleId);
    const asked = JSON.stringify([slug, scheduleId, key]);
    const answer = answers.get(asked) ?? schedules.dispatch(scheduleId);
    answers.set(asked, answer);
    return answer;
  });
}
