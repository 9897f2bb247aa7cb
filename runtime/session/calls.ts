import { type Draft, unrun } from "./decide.js";
import { elapsed } from "./elapsed.js";
import type { Actor, CallScope, Clock, PreparedCall, SessionRecord } from "./ports.js";
import type { CallState } from "./state.js";

interface CallRequest {
  readonly call: CallState;
  readonly turnId: string;
  readonly record: SessionRecord;
  /** Whose call it is. */
  readonly actor: Actor;
  /** Hash of the code that the call runs through now. */
  readonly codeHash: string;
  /** The call that this one's subagent works on. */
  readonly parentCallId: string | undefined;
  /** The model that a subagent runs on. */
  readonly modelOf: (subagent: string) => string | undefined;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** An earlier process may have run this call and died before its result was recorded. */
  readonly orphaned: boolean;
}

/**
 * Carries out one call of the model as far as it goes now: to its result, to the question a human must answer, or to
 * the subagent that takes it over.
 * Returns the event to record.
 */
export async function runCall(request: CallRequest): Promise<Draft> {
  const { call, turnId, record, actor, signal, clock, orphaned, parentCallId, codeHash } = request;
  const parent = parentCallId === undefined ? {} : { parentCallId };
  const { callId, toolName, args } = call;
  const startedAt = clock.now();
  const refuse = (message: string): Draft => ({
    type: "action.result",
    turnId,
    data: { ...unrun(callId, toolName, message), ...parent },
  });

  if (call.phase === "denied") return refuse(`A human denied this call of ${toolName}; it did not run.`);
  const tool = await actor.tool(toolName);
  if (tool === undefined) {
    return refuse(`There is no tool named "${toolName}". Available: ${actor.toolNames.join(", ") || "none"}.`);
  }
  try {
    const prepared = await tool.prepare(args);
    if ("refused" in prepared) {
      const output = { message: prepared.refused, issues: prepared.issues };
      return {
        type: "action.result",
        turnId,
        data: { callId, toolName, output, isError: true, durationMs: 0, ...parent },
      };
    }
    if (prepared.delegate !== undefined) {
      const model = request.modelOf(prepared.delegate.subagent);
      const data = { callId, ...prepared.delegate, ...(model === undefined ? {} : { model }) };
      return { type: "subagent.called", turnId, data };
    }
    const scope: CallScope = { callId, record, turnId, signal };
    if (call.phase === "requested" && (await asksHuman(prepared, scope))) {
      return { type: "action.approval_requested", turnId, data: { callId, toolName, args, codeHash, ...parent } };
    }
    // A call that asks first and had not asked has not run: only what comes after that may have.
    if (orphaned && prepared.effect === "write" && record.dryRun !== true) {
      return refuse("The server restarted during this call; whether it took effect is unknown. It was not run again.");
    }
    const { output, isError, stubbed } = await prepared.run(scope);
    const durationMs = elapsed(clock, startedAt);
    const flags = stubbed === true ? { isError, stubbed } : { isError };
    return { type: "action.result", turnId, data: { callId, toolName, output, ...flags, durationMs, ...parent } };
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}

/** A dry run stubs writes without asking; a question that fails counts as yes. */
async function asksHuman(prepared: PreparedCall, scope: CallScope): Promise<boolean> {
  if (scope.record?.dryRun === true && prepared.effect === "write") return false;
  try {
    return await prepared.needsApproval(scope);
  } catch {
    return true;
  }
}
