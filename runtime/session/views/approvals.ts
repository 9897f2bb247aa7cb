import type { PendingApproval } from "../service.js";
import type { SessionState } from "../state.js";

/** Calls that wait for a human, oldest first. */
export function pendingApprovals(state: SessionState): readonly PendingApproval[] {
  return (state.turn?.calls ?? [])
    .filter((call) => call.phase === "parked")
    .map(({ callId, toolName, args, requestedAt }) => ({
      callId,
      toolName,
      args,
      requestedAt: requestedAt ?? state.updatedAt,
    }));
}
