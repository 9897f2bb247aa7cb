import type { JsonValue, RequestedCall, SessionEvent } from "../event.js";
import type { ModelMessage } from "../model.js";

type Assistant = Extract<ModelMessage, { role: "assistant" }>;
type Answer = { readonly output: JsonValue; readonly isError: boolean };

/**
 * The conversation as the model sees it, folded event by event at a cost that doesn't grow with its length.
 *
 * A received message enters when the next step begins, so that nothing ever stands between a call and its result;
 * results follow in the order of their calls; a call without one is answered before the conversation goes on.
 */
export interface Conversation {
  /** Grows in place; what stands in it never changes. */
  readonly messages: readonly ModelMessage[];
  apply(event: SessionEvent): void;
}

/** @param child the call whose subagent's conversation it is, and what that was asked; left out: the session's own. */
export function createConversation(child?: { readonly callId: string; readonly prompt: string }): Conversation {
  const messages: ModelMessage[] = [];
  let inbox: string[] = child === undefined ? [] : [child.prompt];
  let text: string | undefined;
  let reasoning = "";
  let calls: RequestedCall[] = [];
  /** Calls of the last assistant message that still need their tool messages. */
  let asked: readonly RequestedCall[] = [];
  const answers = new Map<string, Answer>();

  function dropPartial(): void {
    text = undefined;
    reasoning = "";
    calls = [];
  }

  function closeStep(provider: JsonValue | undefined): void {
    if (text === undefined && reasoning === "" && calls.length === 0) return;
    const message: Assistant = {
      role: "assistant",
      ...(text === undefined ? {} : { text }),
      ...(reasoning === "" ? {} : { reasoning }),
      ...(calls.length === 0 ? {} : { calls: calls.map(toCall) }),
      ...(provider === undefined ? {} : { provider }),
    };
    messages.push(message);
    asked = calls;
    dropPartial();
  }

  function answerAll(): void {
    for (const { callId, toolName } of asked) {
      const { output, isError } = answers.get(callId) ?? { output: "interrupted before it finished", isError: true };
      messages.push({ role: "tool", callId, toolName, output, isError });
    }
    asked = [];
    answers.clear();
  }

  function apply(event: SessionEvent): void {
    if (parentOf(event) !== child?.callId) return;
    switch (event.type) {
      case "message.received":
        inbox.push(event.data.text);
        return;
      case "step.started":
        dropPartial();
        answerAll();
        if (event.data.repair !== undefined) messages.push({ role: "user", text: event.data.repair });
        for (const message of inbox) messages.push({ role: "user", text: message });
        inbox = [];
        return;
      case "reasoning.completed":
        reasoning += event.data.text;
        return;
      case "message.completed":
        if (event.data.text !== "") text = event.data.text;
        return;
      case "actions.requested":
        if (event.turnId !== undefined) calls.push(...event.data.calls);
        return;
      case "step.completed":
        closeStep(event.data.provider);
        return;
      case "action.result": {
        const { callId, output = null, isError } = event.data;
        if (event.turnId !== undefined) answers.set(callId, { output, isError });
        return;
      }
      case "turn.completed":
      case "turn.failed":
        closeStep(undefined);
        answerAll();
        return;
      default:
        return;
    }
  }

  return { messages, apply };
}

/** The call whose subagent an event tells of. */
export function parentOf({ data }: SessionEvent): string | undefined {
  return "parentCallId" in data ? data.parentCallId : undefined;
}

function toCall({ callId, toolName, args = {} }: RequestedCall) {
  return { callId, toolName, args };
}
