import type { FastifyInstance } from "fastify";
import type { SessionEvent, Usage } from "../session/event.js";
import { type CostView, foldCost, noCost } from "../session/views/cost.js";
import { readSessionId } from "./body.js";
import { agentOf, callerOf } from "./context.js";
import type { LineBatches } from "./write-lines.js";

const noUsage: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

/** Tokens and money of a session, turn by turn, folded from its events. Source: `wire.md` (cost). */
export function costRoutes(app: FastifyInstance): void {
  app.get("/v1/session/:sessionId/cost", async (request) => {
    const sessionId = readSessionId(request);
    const batches = await agentOf(request).sessions.read(callerOf(request), sessionId, 0);
    const { turns, total } = await foldLines(batches);
    const { usage = noUsage, costUsd } = total;
    return { sessionId, turns, total: { usage, ...(costUsd !== undefined && { cost: { totalUsd: costUsd } }) } };
  });
}

async function foldLines(batches: LineBatches): Promise<CostView> {
  let view = noCost;
  for await (const lines of batches) {
    for (const line of lines) {
      // Most lines are deltas: they need not be parsed to see that they cost nothing.
      if (line.includes('"turn.completed"')) view = foldCost(view, JSON.parse(line) as SessionEvent);
    }
  }
  return view;
}
