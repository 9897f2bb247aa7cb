import type { PendingApproval } from "../service.js";
import { allOpenCalls, type CallState, type SessionState } from "../state.js";

/** Calls that wait for a human, oldest first. `manifestHash`: of the code that would run now. */
export function pendingApprovals(state: SessionState, manifestHash: string): readonly PendingApproval[] {
  return (state.turn === undefined ? [] : allOpenCalls(state.turn))
    .filter((call) => call.phase === "parked")
    .map((call) => ({
      callId: call.callId,
      toolName: call.toolName,
      args: call.args,
      requestedAt: call.requestedAt ?? state.updatedAt,
      ...(isChanged(call, manifestHash) ? { changed: true } : {}),
    }));
}

/** Whether other code would run than the code that asked. Any change of the bundle counts: helpers decide effects too. */
export function isChanged({ askedBy }: CallState, manifestHash: string): boolean {
  return askedBy !== undefined && askedBy !== manifestHash;
}
