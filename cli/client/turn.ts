import type { SessionEvent } from "../../runtime/session/event.js";

/** Tells, event by event, when a session has nothing more to say by itself: its turn is over, or waits for a person. */
export function createTurnEnd(): (event: SessionEvent) => boolean {
  const open = new Set<string>();
  const parked = new Set<string>();
  return (event) => {
    switch (event.type) {
      case "session.waiting":
      case "session.completed":
      case "session.failed":
        return true;
      case "actions.requested":
        for (const call of event.data.calls) open.add(call.callId);
        return false;
      case "action.approval_requested":
        parked.add(event.data.callId);
        break;
      case "action.approval_resolved":
        parked.delete(event.data.callId);
        return false;
      case "action.result":
        open.delete(event.data.callId);
        parked.delete(event.data.callId);
        break;
      default:
        return false;
    }
    return parked.size > 0 && [...open].every((callId) => parked.has(callId));
  };
}
