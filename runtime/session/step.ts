import type { Draft } from "./decide.js";
import { createDeltas } from "./deltas.js";
import { elapsed } from "./elapsed.js";
import type { FinishReason, JsonValue, RequestedCall } from "./event.js";
import type { Harness, StepPart, StepRequest } from "./model.js";
import type { Clock, MakeId } from "./ports.js";

interface StepIo {
  readonly clock: Clock;
  readonly makeId: MakeId;
  /** The call whose subagent takes the step. */
  readonly parentCallId: string | undefined;
  /** Whether an open call has this id: two must not share one. */
  readonly isTaken: (callId: string) => boolean;
  /** Records while the step runs: deltas and finished blocks of reasoning. */
  readonly record: (draft: Draft) => void;
}

/** How a step ended: the events that close it, still to be recorded, and the failure if there was one. */
export interface StepEnd {
  readonly drafts: readonly Draft[];
  readonly failure?: unknown;
}

/**
 * Runs one model step. Text that has already been shown is always closed by a `message.completed`, also when the step
 * fails or is interrupted, so that a replay reads as the live stream did.
 */
export async function runStep(harness: Harness, request: StepRequest, io: StepIo): Promise<StepEnd> {
  const { turnId, step, signal } = request;
  const startedAt = io.clock.now();
  const { parentCallId } = io;
  const parent = parentCallId === undefined ? {} : { parentCallId };
  let messageId: string | undefined;
  const ownMessageId = () => {
    messageId ??= io.makeId("msg_");
    return messageId;
  };
  const deltas = createDeltas(io.clock, turnId, parent, ownMessageId, io.record);
  let text = "";
  let reasoning = "";
  const calls: RequestedCall[] = [];

  const closeReasoning = () => {
    if (reasoning === "") return;
    deltas.flush();
    io.record({ type: "reasoning.completed", turnId, data: { text: reasoning, ...parent } });
    reasoning = "";
  };
  const message = (finishReason: FinishReason): Draft => ({
    type: "message.completed",
    turnId,
    data: { text, messageId: ownMessageId(), finishReason, ...parent },
  });

  let finish: Extract<StepPart, { type: "finish" }> | undefined;
  try {
    for await (const part of untilAborted(harness.step(request), signal)) {
      switch (part.type) {
        case "reasoning":
          reasoning += part.delta;
          deltas.add("reasoning", part.delta);
          break;
        case "text":
          closeReasoning();
          text += part.delta;
          deltas.add("text", part.delta);
          break;
        case "call":
          closeReasoning();
          calls.push({ callId: callIdOf(part.callId, calls, io), toolName: part.toolName, args: part.args, ...parent });
          break;
        case "finish":
          finish = part;
      }
    }
    if (finish === undefined) throw new Error("the model stopped without finishing its step");
    if (finish.reason === "error") throw new Error("the model reported an error");
  } catch (failure) {
    closeReasoning();
    deltas.flush();
    return { drafts: text === "" ? [] : [message("other")], failure };
  }
  closeReasoning();
  deltas.flush();
  const finishReason = reasonOf(finish.reason, calls.length > 0);
  const drafts: Draft[] = [];
  if (text !== "" || calls.length === 0) drafts.push(message(finishReason));
  if (calls.length > 0) drafts.push({ type: "actions.requested", turnId, data: { calls, ...parent } });
  drafts.push({
    type: "step.completed",
    turnId,
    data: { step, durationMs: elapsed(io.clock, startedAt), finishReason, ...billing(finish), ...parent },
  });
  return { drafts };
}

function billing({ usage, costUsd, provider }: Extract<StepPart, { type: "finish" }>) {
  return {
    ...(usage === undefined ? {} : { usage }),
    ...(costUsd === undefined ? {} : { costUsd }),
    ...(provider === undefined ? {} : { provider: provider as JsonValue }),
  };
}

function reasonOf(reason: FinishReason, hasCalls: boolean): FinishReason {
  if (hasCalls) return "tool-calls";
  return reason === "tool-calls" ? "stop" : reason;
}

/** The harness's own id where it is usable (a provider may need it back), else one of ours. */
function callIdOf(proposed: string | undefined, calls: readonly RequestedCall[], io: StepIo): string {
  const isUsable = proposed !== undefined && /^[\w-]{1,128}$/.test(proposed) && !io.isTaken(proposed);
  return isUsable && !calls.some((call) => call.callId === proposed) ? proposed : io.makeId("call_");
}

/** Ends by throwing as soon as `signal` aborts, even when the source doesn't listen to it. */
async function* untilAborted<T>(source: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  signal.throwIfAborted();
  let stop = (): void => undefined;
  const aborted = new Promise<"aborted">((resolve) => {
    stop = () => resolve("aborted");
    signal.addEventListener("abort", stop, { once: true });
  });
  const iterator = source[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await Promise.race([iterator.next(), aborted]);
      if (next === "aborted") throw signal.reason;
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    signal.removeEventListener("abort", stop);
    // Not awaited: a source that ignores the signal must not hold the turn. What it throws now concerns nobody.
    iterator.return?.().catch(() => undefined);
  }
}
