import type { LanguageModelV3Usage } from "@ai-sdk/provider";
import type { Usage } from "../../session/event.js";

/** One US dollar in xAI's unit of charge. */
const ticksPerUsd = 10_000_000_000;

/**
 * A step's usage in our terms: input with what the cache gave, output with reasoning. `undefined` when the provider
 * reported nothing.
 */
export function toUsage({ inputTokens, outputTokens, raw }: LanguageModelV3Usage): Usage | undefined {
  const isReported = inputTokens.total !== undefined || outputTokens.total !== undefined;
  if (!isReported) return undefined;
  const reasoning = outputTokens.reasoning;
  const output = (outputTokens.total ?? 0) + (countsReasoningApart(raw) ? (reasoning ?? 0) : 0);
  return {
    inputTokens: inputTokens.total ?? 0,
    outputTokens: output,
    cacheReadTokens: inputTokens.cacheRead ?? 0,
    cacheWriteTokens: inputTokens.cacheWrite ?? 0,
    ...(reasoning !== undefined && { reasoningTokens: reasoning }),
  };
}

/** The charge that xAI reports with a response, in US dollars. */
export function chargeOf(raw: LanguageModelV3Usage["raw"]): number | undefined {
  const ticks = raw?.cost_in_usd_ticks;
  return typeof ticks === "number" && Number.isFinite(ticks) && ticks >= 0 ? ticks / ticksPerUsd : undefined;
}

/** Chat completions of xAI leave reasoning out of `completion_tokens`; only the sum in `total_tokens` shows it. */
function countsReasoningApart(raw: LanguageModelV3Usage["raw"]): boolean {
  if (raw === undefined) return false;
  const { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total } = raw;
  const details = raw.completion_tokens_details;
  if (typeof details !== "object" || details === null || Array.isArray(details)) return false;
  const reasoning = details.reasoning_tokens;
  if (typeof reasoning !== "number" || reasoning === 0) return false;
  return typeof prompt === "number" && typeof completion === "number" && total === prompt + completion + reasoning;
}
