import type { FastifyInstance } from "fastify";
import { RuntimeError } from "../errors.js";
import type { SessionEvent } from "../session/event.js";
import { createCostView, type SessionCost } from "../session/views/cost.js";
import { readSessionId } from "./body.js";
import { agentOf, callerOf } from "./context.js";
import type { LineBatches } from "./write-lines.js";

/** Tokens and money of a session, turn by turn, folded from its events. Source: `wire.md` (cost). */
export function costRoutes(app: FastifyInstance): void {
  app.get("/v1/session/:sessionId/cost", async (request) => {
    const sessionId = readSessionId(request);
    const batches = await agentOf(request).sessions.read(callerOf(request), sessionId, 0);
    return { sessionId, ...(await foldLines(batches)) };
  });
}

/** Most lines are deltas: they need not be parsed to see that they cost nothing. */
const telling = /^\{"type":"(?:turn\.started|subagent\.called|step\.completed)"/;

async function foldLines(batches: LineBatches): Promise<SessionCost> {
  const view = createCostView();
  for await (const lines of batches) {
    for (const line of lines) if (telling.test(line)) view.apply(parse(line));
  }
  return view.result();
}

function parse(line: string): SessionEvent {
  try {
    return JSON.parse(line) as SessionEvent;
  } catch (error) {
    throw new RuntimeError("storage_unavailable", "the session's log is damaged", {}, error);
  }
}
