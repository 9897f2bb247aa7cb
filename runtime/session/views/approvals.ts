import type { PendingApproval } from "../service.js";
import { allOpenCalls, type CallState, type SessionState } from "../state.js";

/** Calls that wait for a human, oldest first. `codeHash`: of the code that a tool's calls would run through now. */
export function pendingApprovals(
  state: SessionState,
  codeHash: (toolName: string) => string,
): readonly PendingApproval[] {
  return (state.turn === undefined ? [] : allOpenCalls(state.turn))
    .filter((call) => call.phase === "parked")
    .map((call) => ({
      callId: call.callId,
      toolName: call.toolName,
      args: call.args,
      requestedAt: call.requestedAt ?? state.updatedAt,
      ...(isChanged(call, codeHash(call.toolName)) ? { changed: true } : {}),
    }));
}

/** Whether other code would run than the code that asked: the tool's own, or what that runs through. */
export function isChanged({ askedBy }: CallState, codeHash: string): boolean {
  return askedBy !== undefined && askedBy !== codeHash;
}
