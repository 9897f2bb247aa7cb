import { elapsed } from "./elapsed.js";
import type { CallableTool, CallScope, Generation, PreparedCall, Rejection, SessionDeps } from "./ports.js";
import type { SessionRunner } from "./runner.js";
import type { Caller, CallNotices, DirectToolCall, ToolCallOutcome } from "./service.js";
import { after, type Soon } from "./soon.js";
import type { TokenBook } from "./token-book.js";

type DirectCalls = (caller: Caller, call: DirectToolCall) => Soon<ToolCallOutcome>;

/** Tool calls without a model turn; inside a session when one is named, then recorded on its stream. */
export function createDirectCalls(
  deps: SessionDeps,
  tokens: TokenBook,
  requireOpen: () => void,
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

  function toolOf(found: CallableTool | undefined, toolName: string, generation: Generation): CallableTool {
    if (found === undefined || found.modelOnly === true) {
      const available = [...generation.directToolNames, ...(generation.lentToolNames?.() ?? [])];
      throw refuse("unknown_tool", `no tool named "${toolName}"`, { available });
    }
    if (found.execution === "agent") {
      throw refuse("invalid_request", `"${toolName}" runs where the agent runs and can't be called from outside`);
    }
    return found;
  }

  function prepare(tool: CallableTool, input: unknown): Soon<PreparedCall> {
    return after(tool.prepare(input), (prepared) => {
      if ("refused" in prepared) throw refuse("invalid_input", prepared.refused, { issues: prepared.issues });
      return prepared;
    });
  }

  function run(caller: Caller, call: DirectToolCall, prepared: PreparedCall): Soon<ToolCallOutcome> {
    const { toolName } = call;
    const callId = makeId(`tool_${toolName}_`);
    const startedAt = clock.now();
    return after(prepared.run(new DirectScope(callId, caller, call)), ({ isError, output }) => ({
      callId,
      toolName,
      isError,
      result: output,
      durationMs: elapsed(clock, startedAt),
    }));
  }

  async function runInSession(
    caller: Caller,
    call: DirectToolCall,
    tool: CallableTool,
    sessionId: string,
  ): Promise<ToolCallOutcome> {
    const { toolName, input = {} } = call;
    const runner = await requireRunner(caller, sessionId);
    const prepared = await prepare(tool, input);
    const callId = makeId(`tool_${toolName}_`);
    const { output, isError, durationMs } = await runner.direct(callId, toolName, input, prepared, call.signal);
    return { callId, toolName, isError, result: output, durationMs };
  }

  function begin(caller: Caller, call: DirectToolCall): Soon<ToolCallOutcome> {
    requireOpen();
    const { toolName, input = {} } = call;
    const generation = deps.generation();
    return after(generation.tool(toolName), (found) => {
      const tool = toolOf(found, toolName, generation);
      const sessionId = sessionOf(call);
      if (sessionId !== undefined) return runInSession(caller, call, tool, sessionId);
      return after(prepare(tool, input), (prepared) => run(caller, call, prepared));
    });
  }

  return (caller, call) => {
    try {
      return begin(caller, call);
    } catch (error) {
      return Promise.reject(error);
    }
  };
}

/** Where a call outside any session runs. */
class DirectScope implements CallScope {
  readonly callId: string;
  readonly caller: Caller["auth"];
  readonly notices?: CallNotices;
  readonly #call: DirectToolCall;

  constructor(callId: string, { auth }: Caller, call: DirectToolCall) {
    this.callId = callId;
    this.caller = auth;
    if (call.notices !== undefined) this.notices = call.notices;
    this.#call = call;
  }

  /** Only calls that last ask for it, and making one costs more than most calls do. */
  get signal(): AbortSignal | undefined {
    return this.#call.signal;
  }
}
