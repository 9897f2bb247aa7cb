/**
 * What the turn loop asks of a model: one step at a time. Harnesses implement these types through
 * `runtime/harness/harness.ts`. Source: decision 18.
 */
import type { FinishReason, JsonObject, JsonValue, Usage } from "./event.js";

export interface ModelSetting {
  /** `grok-4.5`, `openai/<id>`, `anthropic/<id>`, `offline`. */
  readonly id: string;
  readonly params: readonly { readonly id: string; readonly value: string }[];
}

/** One message of the conversation as the model sees it, in our own neutral form. */
export type ModelMessage =
  | { readonly role: "user"; readonly text: string }
  | {
      readonly role: "assistant";
      readonly text?: string;
      readonly reasoning?: string;
      readonly calls?: readonly { readonly callId: string; readonly toolName: string; readonly args: JsonValue }[];
      /** Opaque provider state (signatures, response ids) that must travel back with this message. */
      readonly provider?: JsonValue;
    }
  | {
      readonly role: "tool";
      readonly callId: string;
      readonly toolName: string;
      readonly output: JsonValue;
      readonly isError: boolean;
    };

export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
}

export interface StepRequest {
  readonly sessionId: string;
  readonly turnId: string;
  /** 1 for the first step of a turn. */
  readonly step: number;
  readonly model: ModelSetting;
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolSpec[];
  readonly signal: AbortSignal;
}

/** What a step yields, in order; `finish` comes last, exactly once. */
export type StepPart =
  | { readonly type: "reasoning"; readonly delta: string }
  | { readonly type: "text"; readonly delta: string }
  | { readonly type: "call"; readonly callId?: string; readonly toolName: string; readonly args: JsonValue }
  | {
      readonly type: "finish";
      readonly reason: FinishReason;
      readonly usage?: Usage;
      /** US dollars: the provider's own charge when it reports one, else the list price where there is one. */
      readonly costUsd?: number;
      readonly provider?: JsonValue;
    };

/**
 * Runs one model step. Throws `RuntimeError("model_unavailable", …)` when the model cannot be reached or has no key;
 * the message names the variable to set. Must stop promptly when `signal` aborts.
 */
export interface Harness {
  step(request: StepRequest): AsyncIterable<StepPart>;
}

/** Chooses the harness of a model id; throws `model_unavailable` for a model whose section or key is missing. */
export interface HarnessResolver {
  resolve(model: ModelSetting): Promise<Harness>;
  /** What is missing for this model, to warn at startup: `undefined` when nothing is. */
  problem(model: ModelSetting): string | undefined;
}
