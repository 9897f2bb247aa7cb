import type { LanguageModelV3FinishReason, LanguageModelV3StreamPart } from "@ai-sdk/provider";
import type { JsonValue } from "../../session/event.js";
import type { Harness, StepPart, StepRequest } from "../harness.js";
import { retryDelay, toRuntimeError } from "./failure.js";
import { toPrompt, toTools } from "./prompt.js";
import { createProviderStateRecorder, type ProviderStateRecorder } from "./provider-state.js";
import type { ProviderDialect } from "./section.js";
import { chargeOf, toUsage } from "./usage.js";
import type { Salvage } from "./xai-drift.js";

/** The first call and three more. */
const maximalAttempts = 4;

/**
 * A harness over one model of an AI SDK provider package: our messages in, its stream out as our parts. What fails
 * before the first part is tried again, with growing pauses; what breaks off later fails the step.
 */
export function createProviderHarness(dialect: ProviderDialect): Harness {
  return {
    async *step(request) {
      for (let attempt = 1; ; attempt += 1) {
        let hasBegun = false;
        try {
          for await (const part of runOnce(dialect, request)) {
            hasBegun = true;
            yield part;
          }
          return;
        } catch (error) {
          request.signal.throwIfAborted();
          const delay = hasBegun || attempt === maximalAttempts ? undefined : retryDelay(error, attempt);
          if (delay === undefined) throw toRuntimeError(error, dialect.settings, attempt);
          await pause(delay, request.signal);
        }
      }
    },
  };
}

async function* runOnce(dialect: ProviderDialect, request: StepRequest): AsyncGenerator<StepPart> {
  const { signal } = request;
  const params = dialect.readParams(request.model);
  const tools = toTools(request.tools);
  const { stream } = await untilAborted(
    dialect.model.doStream({
      prompt: toPrompt(request, dialect),
      abortSignal: signal,
      ...(tools !== undefined && { tools, toolChoice: { type: "auto" } }),
      ...(params.temperature !== undefined && { temperature: params.temperature }),
      ...(params.topP !== undefined && { topP: params.topP }),
      ...(params.maxOutputTokens !== undefined && { maxOutputTokens: params.maxOutputTokens }),
      ...dialect.options(request, params),
    }),
    signal,
  );
  const reader = stream.getReader();
  const recorder = createProviderStateRecorder(dialect.metadataKey);
  let finish: Finish | undefined;
  let end: Extract<Salvage, { kind: "end" }> | undefined;
  try {
    for (;;) {
      const { done, value } = await untilAborted(reader.read(), signal);
      if (done) break;
      const salvage = value.type === "error" ? dialect.salvage?.(value.error) : undefined;
      if (salvage?.kind === "end") end = salvage;
      if (salvage !== undefined) continue;
      if (value.type === "finish" && end === undefined && isMadeUp(value.finishReason)) break;
      const part = toStepPart(value, recorder, end);
      if (part?.type === "finish") finish = part;
      else if (part !== undefined) yield part;
    }
  } finally {
    // Whoever left early, the connection is closed; an error of closing it has nobody to go to.
    reader.cancel().catch(() => undefined);
  }
  if (finish === undefined) throw new Error("the stream ended before the model had finished");
  yield await priced(finish, dialect.settings);
}

/** Packages end every stream with a finish; this is the one they begin with, left when the provider never said its own. */
function isMadeUp({ unified, raw }: LanguageModelV3FinishReason): boolean {
  return unified === "other" && raw === undefined;
}

type Finish = Extract<StepPart, { type: "finish" }>;

/** The step with its list price, unless the provider said what it charged. A price that can't be told fails nothing. */
async function priced(finish: Finish, { price }: ProviderDialect["settings"]): Promise<Finish> {
  const { usage, costUsd } = finish;
  if (usage === undefined || costUsd !== undefined || price === undefined) return finish;
  const listed = await price(usage).catch(() => undefined);
  return listed === undefined ? finish : { ...finish, costUsd: listed };
}

function toStepPart(
  part: LanguageModelV3StreamPart,
  recorder: ProviderStateRecorder,
  end: Extract<Salvage, { kind: "end" }> | undefined,
): StepPart | undefined {
  switch (part.type) {
    case "text-start":
      recorder.open("text", part.id, part.providerMetadata);
      return undefined;
    case "reasoning-start":
      recorder.open("reasoning", part.id, part.providerMetadata);
      return undefined;
    case "text-delta":
      recorder.append("text", part.id, part.delta);
      return part.delta === "" ? undefined : { type: "text", delta: part.delta };
    case "reasoning-delta":
      recorder.append("reasoning", part.id, part.delta);
      // Anthropic sends a block's signature as metadata of an empty delta.
      recorder.close(part.id, part.providerMetadata);
      return part.delta === "" ? undefined : { type: "reasoning", delta: part.delta };
    case "text-end":
    case "reasoning-end":
      recorder.close(part.id, part.providerMetadata);
      return undefined;
    case "tool-call":
      if (part.providerExecuted === true) return undefined;
      recorder.call(part.providerMetadata);
      return { type: "call", callId: part.toolCallId, toolName: part.toolName, args: parseArguments(part.input) };
    case "finish": {
      const reported = end?.usage ?? part.usage;
      const usage = toUsage(reported);
      const costUsd = chargeOf(reported.raw);
      const provider = recorder.state();
      return {
        type: "finish",
        reason: end === undefined ? part.finishReason.unified : recorder.hasCalls() ? "tool-calls" : "stop",
        ...(usage && { usage }),
        ...(costUsd !== undefined && { costUsd }),
        ...(provider !== undefined && { provider }),
      };
    }
    case "error":
      throw part.error;
    default:
      return undefined;
  }
}

/** Arguments as JSON; text that is none goes on as it is, so that the tool's own check can tell the model what is wrong. */
function parseArguments(input: string): JsonValue {
  if (input.trim() === "") return {};
  try {
    return JSON.parse(input) as JsonValue;
  } catch {
    return input;
  }
}

/** The promise's value, or a prompt rejection when the signal aborts first. */
function untilAborted<T>(promise: PromiseLike<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    promise.then(
      (value) => {
        signal.removeEventListener("abort", abort);
        resolve(value);
      },
      (error) => {
        signal.removeEventListener("abort", abort);
        reject(error);
      },
    );
  });
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const passed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  return untilAborted(passed, signal).finally(() => clearTimeout(timer));
}
