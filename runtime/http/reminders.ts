import type { FastifyInstance } from "fastify";
import { agentOf, type HttpHost } from "./context.js";
import { refuseWhileDraining } from "./session.js";

/** Reminders listed and fired by hand; under `--dev` only, where none fires by itself. Source: `http-api.md` (Dev-mode routes). */
export function reminderRoutes(app: FastifyInstance, host: HttpHost): void {
  app.get("/v1/dev/reminders", async (request) => ({
    reminders: await agentOf(request).reminders.api(undefined).list(),
  }));

  app.post("/v1/dev/reminders/:reminderId", async (request) => {
    refuseWhileDraining(host);
    const { reminderId } = request.params as { reminderId: string };
    return agentOf(request).reminders.dispatch(reminderId);
  });
}
