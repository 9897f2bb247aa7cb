import { elapsed } from "./elapsed.js";
import type { CallOutcome, Rejection, SessionDeps } from "./ports.js";
import type { SessionRunner } from "./runner.js";
import type { Caller, DirectToolCall, ToolCallOutcome } from "./service.js";
import type { TokenBook } from "./token-book.js";

type DirectCalls = (caller: Caller, call: DirectToolCall) => Promise<ToolCallOutcome>;

/** Tool calls without a model turn; inside a session when one is named, then recorded on its stream. */
export function createDirectCalls(
  deps: SessionDeps,
  tokens: TokenBook,
  requireRunner: (caller: Caller, id: string) => Promise<SessionRunner>,
): DirectCalls {
  const { clock, makeId } = deps;

  function refuse(code: Rejection["code"], message: string, details: Rejection["details"] = {}): Error {
    return deps.fail({ code, message, details });
  }

  /** The session that the call names, by id or by token. */
  function sessionOf({ sessionId, continuationToken }: DirectToolCall): string | undefined {
    if (continuationToken === undefined) return sessionId;
    if (sessionId !== undefined) {
      throw refuse("invalid_request", "give either sessionId or continuationToken, not both");
    }
    const row = tokens.find(continuationToken);
    if (row === "malformed") {
      throw refuse("invalid_continuation_token", "a continuation token reads <channelId>:<key>");
    }
    if (row === undefined) throw refuse("invalid_continuation_token", "no session answers to this continuation token");
    return row.id;
  }

  return async (caller, call) => {
    const { toolName, input = {}, notices } = call;
    const generation = deps.generation();
    const found = generation.tool(toolName);
    const tool = found instanceof Promise ? await found : found;
    if (tool === undefined || tool.modelOnly === true) {
      const available = [...generation.directToolNames, ...(generation.lentToolNames?.() ?? [])];
      throw refuse("unknown_tool", `no tool named "${toolName}"`, { available });
    }
    if (tool.execution === "agent") {
      throw refuse("invalid_request", `"${toolName}" runs where the agent runs and can't be called from outside`);
    }
    const sessionId =
      call.sessionId === undefined && call.continuationToken === undefined ? undefined : sessionOf(call);
    const runner = sessionId === undefined ? undefined : await requireRunner(caller, sessionId);

    const checked = tool.prepare(input);
    const prepared = checked instanceof Promise ? await checked : checked;
    if ("refused" in prepared) throw refuse("invalid_input", prepared.refused, { issues: prepared.issues });

    const callId = makeId(`tool_${toolName}_`);
    if (runner !== undefined) {
      const { output, isError, durationMs } = await runner.direct(callId, toolName, input, prepared, call.signal);
      return { callId, toolName, isError, result: output, durationMs };
    }
    const startedAt = clock.now();
    const scope = {
      callId,
      caller: caller.auth,
      // Only calls that last ask for it, and making one costs more than most calls do.
      get signal() {
        return call.signal;
      },
      ...(notices && { notices }),
    };
    const running = prepared.run(scope);
    const outcome: CallOutcome = running instanceof Promise ? await running : running;
    return {
      callId,
      toolName,
      isError: outcome.isError,
      result: outcome.output,
      durationMs: elapsed(clock, startedAt),
    };
  };
}
