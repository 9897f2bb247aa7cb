/** Events folded into a timeline: what took how long, and within what. Pure. */
import { textOf, type WireEvent } from "./events.js";

export interface Span {
  readonly key: string;
  readonly kind: "turn" | "step" | "call" | "approval" | "subagent";
  readonly label: string;
  /** How far in it stands: 0 for turns. */
  readonly depth: number;
  /** Milliseconds since the session's first event. */
  readonly start: number;
  /** Absent while it goes on. */
  readonly end?: number;
  readonly isFailed: boolean;
}

export interface Timeline {
  readonly spans: readonly Span[];
  /** Milliseconds from the first event to the last. */
  readonly duration: number;
}

/** In the order in which things began. */
export function timelineOf(events: readonly WireEvent[]): Timeline {
  const spans = new Map<string, Span>();
  const origin = Date.parse(events[0]?.at ?? "");
  const at = (event: WireEvent) => Math.max(0, Date.parse(event.at) - origin);
  const begin = (event: WireEvent, kind: Span["kind"], key: string, label: string, depth: number) => {
    spans.set(key, { key, kind, label, depth, start: at(event), isFailed: false });
  };
  const finish = (event: WireEvent, key: string, isFailed: boolean) => {
    const span = spans.get(key);
    if (span !== undefined && span.end === undefined) spans.set(key, { ...span, end: at(event), isFailed });
  };
  for (const event of events) {
    const { type, turnId = "", data } = event;
    const parent = textOf(data.parentCallId);
    const depth = parent === "" ? 1 : 3;
    const callId = textOf(data.callId);
    const step = `step:${turnId}:${parent}:${String(data.step)}`;
    switch (type) {
      case "turn.started":
        begin(event, "turn", `turn:${turnId}`, "turn", 0);
        break;
      case "turn.completed":
      case "turn.failed":
        for (const { key, end } of [...spans.values()])
          if (end === undefined) finish(event, key, type === "turn.failed");
        break;
      case "step.started":
        begin(event, "step", step, `step ${String(data.step)}`, depth);
        break;
      case "step.completed":
        finish(event, step, false);
        break;
      case "actions.requested":
        for (const call of Array.isArray(data.calls) ? data.calls : []) {
          const nested = textOf(call.parentCallId) !== "" || parent !== "";
          begin(event, "call", `call:${textOf(call.callId)}`, textOf(call.toolName), nested ? 4 : 2);
        }
        break;
      case "action.result":
        if (!spans.has(`call:${callId}`)) begin(event, "call", `call:${callId}`, textOf(data.toolName), 0);
        finish(event, `call:${callId}`, data.isError === true);
        break;
      case "action.approval_requested":
        begin(event, "approval", `approval:${callId}`, `approval of ${textOf(data.toolName)}`, depth + 2);
        break;
      case "action.approval_resolved":
        finish(event, `approval:${callId}`, data.decision !== "approve");
        break;
      case "subagent.called":
        begin(event, "subagent", `subagent:${callId}`, textOf(data.subagent), 2);
        break;
      case "subagent.completed":
        finish(event, `subagent:${callId}`, data.isError === true);
        break;
    }
  }
  const last = events.at(-1);
  return { spans: [...spans.values()], duration: last === undefined ? 0 : at(last) };
}
