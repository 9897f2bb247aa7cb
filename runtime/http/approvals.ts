import type { FastifyInstance } from "fastify";
import { RuntimeError } from "../errors.js";
import { readBody, readBoolean, readEnum, readSessionId } from "./body.js";
import { agentOf, callerOf } from "./context.js";

/** Listing and settling tool calls that wait for a human. Source: `http-api.md`, `wire.md`. */
export function approvalRoutes(app: FastifyInstance): void {
  app.get("/v1/session/:sessionId/approvals", async (request) => ({
    approvals: await agentOf(request).sessions.approvals(callerOf(request), readSessionId(request)),
  }));

  app.post("/v1/session/:sessionId/approvals/:callId", async (request) => {
    const { callId } = request.params as { callId: string };
    const body = readBody(request);
    const decision = readEnum(body, "decision", ["approve", "deny"]);
    if (decision === undefined) throw new RuntimeError("invalid_request", '"decision" must be "approve" or "deny"');
    const confirm = readBoolean(body, "confirm") ?? false;
    const sessionId = readSessionId(request);
    await agentOf(request).sessions.resolveApproval(callerOf(request), sessionId, callId, decision, confirm);
    return { ok: true, callId, decision };
  });
}
