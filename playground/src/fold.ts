/** Events folded into what the chat shows. Pure: the same events give the same transcript, live or replayed. */
import { textOf, type WireEvent } from "./events.js";

export type Item =
  | { readonly kind: "user"; readonly key: string; readonly text: string }
  | { readonly kind: "reasoning"; readonly key: string; readonly text: string; readonly isOpen: boolean }
  | {
      readonly kind: "reply";
      readonly key: string;
      readonly text: string;
      readonly isOpen: boolean;
      readonly parentCallId?: string;
    }
  | {
      readonly kind: "call";
      readonly key: string;
      readonly toolName: string;
      readonly args: unknown;
      readonly state: "running" | "ok" | "failed";
      readonly output?: unknown;
      readonly isStubbed: boolean;
      readonly durationMs?: number;
      readonly parentCallId?: string;
      readonly approval?: "asked" | "approve" | "deny" | "cancelled";
    }
  | { readonly kind: "failure"; readonly key: string; readonly text: string; readonly isCancelled: boolean };

export interface Transcript {
  readonly items: readonly Item[];
  /** Index of the next event; the place to go on from after a break. */
  readonly next: number;
  readonly status: "new" | "running" | "waiting" | "ended";
  readonly title?: string;
  readonly model?: string;
  readonly tokens: { readonly input: number; readonly output: number };
  readonly costUsd?: number;
}

export const emptyTranscript: Transcript = { items: [], next: 0, status: "new", tokens: { input: 0, output: 0 } };

/** Adds an event. One that was seen already changes nothing. */
export function fold(transcript: Transcript, event: WireEvent): Transcript {
  if (event.index < transcript.next) return transcript;
  return { ...apply(transcript, event), next: event.index + 1 };
}

function apply(before: Transcript, { type, index, data }: WireEvent): Transcript {
  const parent = typeof data.parentCallId === "string" ? { parentCallId: data.parentCallId } : {};
  switch (type) {
    case "session.started":
      return {
        ...before,
        ...(typeof data.title === "string" ? { title: data.title } : {}),
        ...(typeof data.model === "string" ? { model: data.model } : {}),
      };
    case "message.received":
      return { ...add(before, { kind: "user", key: `user:${index}`, text: textOf(data.text) }), status: "running" };
    case "turn.queued":
    case "turn.started":
      return { ...before, status: "running" };
    case "reasoning.appended":
    case "reasoning.completed": {
      // Of several subagents at once the thoughts would mingle; what they do and answer is shown.
      if ("parentCallId" in parent) return before;
      const key = `reasoning:${index}`;
      return type === "reasoning.appended"
        ? grow(before, "reasoning", key, textOf(data.delta), {})
        : settle(before, "reasoning", key, textOf(data.text), {});
    }
    case "message.appended":
      return grow(before, "reply", `reply:${textOf(data.messageId)}`, textOf(data.delta), parent);
    case "message.completed":
      return settle(before, "reply", `reply:${textOf(data.messageId)}`, textOf(data.text), parent);
    case "actions.requested":
      return asArray(data.calls).reduce<Transcript>((transcript, call) => {
        const own = typeof call.parentCallId === "string" ? { parentCallId: call.parentCallId } : parent;
        return add(transcript, {
          kind: "call",
          key: textOf(call.callId),
          toolName: textOf(call.toolName),
          args: call.args,
          state: "running",
          isStubbed: false,
          ...own,
        });
      }, before);
    case "action.result":
      return updateCall(before, data, {
        state: data.isError === true ? "failed" : "ok",
        output: data.output,
        isStubbed: data.stubbed === true,
        ...(typeof data.durationMs === "number" ? { durationMs: data.durationMs } : {}),
      });
    case "action.approval_requested":
      return updateCall(before, data, { args: data.args, approval: "asked" });
    case "action.approval_resolved": {
      const { decision } = data;
      const approval = decision === "approve" || decision === "deny" ? decision : "cancelled";
      return updateCall(before, data, { approval });
    }
    case "turn.completed":
      return count({ ...close(before), status: "waiting" }, data);
    case "turn.failed":
    case "session.failed": {
      const isCancelled = data.status === "cancelled";
      const failure: Item = { kind: "failure", key: `failure:${index}`, text: textOf(data.message), isCancelled };
      return { ...add(close(before), failure), status: type === "turn.failed" ? "waiting" : "ended" };
    }
    case "session.waiting":
      return { ...close(before), status: "waiting" };
    case "session.completed":
      return { ...close(before), status: "ended" };
    default:
      return before;
  }
}

function asArray(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "object" && each !== null) : [];
}

function add(transcript: Transcript, item: Item): Transcript {
  return { ...transcript, items: [...transcript.items, item] };
}

type Streamed = Extract<Item, { kind: "reasoning" | "reply" }>;

/** The block that deltas go to: the open one of the kind, and for replies of the same message. */
function findOpen(items: readonly Item[], kind: Streamed["kind"], key: string): number {
  return items.findLastIndex((each) => each.kind === kind && each.isOpen && (kind === "reasoning" || each.key === key));
}

function grow(before: Transcript, kind: Streamed["kind"], key: string, delta: string, extra: object): Transcript {
  const at = findOpen(before.items, kind, key);
  const found = before.items[at];
  if (found === undefined || (found.kind !== "reasoning" && found.kind !== "reply")) {
    return add(before, { kind, key, text: delta, isOpen: true, ...extra });
  }
  return { ...before, items: before.items.with(at, { ...found, text: found.text + delta }) };
}

/** The whole text replaces what its deltas made; without deltas it is added. */
function settle(before: Transcript, kind: Streamed["kind"], key: string, text: string, extra: object): Transcript {
  const at = findOpen(before.items, kind, key);
  const found = before.items[at];
  if (found === undefined || (found.kind !== "reasoning" && found.kind !== "reply")) {
    return text === "" ? before : add(before, { kind, key, text, isOpen: false, ...extra });
  }
  return { ...before, items: before.items.with(at, { ...found, text, isOpen: false }) };
}

function updateCall(
  before: Transcript,
  data: Readonly<Record<string, unknown>>,
  change: Partial<Extract<Item, { kind: "call" }>>,
): Transcript {
  const key = textOf(data.callId);
  const at = before.items.findLastIndex((each) => each.kind === "call" && each.key === key);
  const found = before.items[at];
  if (found === undefined || found.kind !== "call") {
    // A direct call, or an event that came without its request.
    const fresh = {
      kind: "call",
      key,
      toolName: textOf(data.toolName),
      args: undefined,
      state: "running",
      isStubbed: false,
    } as const;
    return add(before, { ...fresh, ...change });
  }
  return { ...before, items: before.items.with(at, { ...found, ...change }) };
}

/** At the end of a turn nothing is still streaming, and what never answered has failed. */
function close(before: Transcript): Transcript {
  const items = before.items.map((each): Item => {
    if ((each.kind === "reasoning" || each.kind === "reply") && each.isOpen) return { ...each, isOpen: false };
    if (each.kind === "call" && each.state === "running" && each.approval !== "asked")
      return { ...each, state: "failed" };
    return each;
  });
  return { ...before, items };
}

function count(before: Transcript, data: Readonly<Record<string, unknown>>): Transcript {
  const number = (object: unknown, name: string): number => {
    const value = typeof object === "object" && object !== null ? Reflect.get(object, name) : undefined;
    return typeof value === "number" ? value : 0;
  };
  const tokens = {
    input: before.tokens.input + number(data.usage, "inputTokens"),
    output: before.tokens.output + number(data.usage, "outputTokens"),
  };
  const cost = number(data.cost, "totalUsd");
  return { ...before, tokens, ...(cost === 0 ? {} : { costUsd: (before.costUsd ?? 0) + cost }) };
}
