/** What model steps cost by the public price list, for providers that don't report their charge. Decision 17. */
import { calcPrice } from "@pydantic/genai-prices";
import type { Usage } from "../../session/event.js";
import type { ProviderName } from "./model-id.js";

/** What `prices.ts` exports: the whole contract of the section. */
export interface PricesSection {
  /** US dollars of one step; `undefined` for a model that the list doesn't have. */
  priceOf(provider: ProviderName, modelId: string, usage: Usage): number | undefined;
}

/** Providers as the price list calls them; an endpoint of one's own has no list price. */
const listed: Readonly<Partial<Record<ProviderName, string>>> = {
  xai: "x-ai",
  openai: "openai",
  anthropic: "anthropic",
};

export const priceOf: PricesSection["priceOf"] = (provider, modelId, usage) => {
  const providerId = listed[provider];
  if (providerId === undefined) return undefined;
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage;
  const counts = {
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    ...(cacheReadTokens > 0 && { cache_read_tokens: cacheReadTokens }),
    ...(cacheWriteTokens > 0 && { cache_write_tokens: cacheWriteTokens }),
  };
  return calcPrice(counts, modelId, { providerId })?.total_price;
};
