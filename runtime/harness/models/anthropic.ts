import { createAnthropic } from "@ai-sdk/anthropic";
import type { Harness } from "../harness.js";
import { createEndpointFetch } from "./endpoint.js";
import { readModelParams } from "./params.js";
import { createProviderHarness } from "./provider-harness.js";
import type { ProviderSettings } from "./section.js";

/** Anthropic through the Messages API. The prompt is cached up to the end of the last message; thinking travels back signed. */
export function createHarness(settings: ProviderSettings): Harness {
  const { modelId, baseUrl, apiKey = "", silenceMs } = settings;
  return createProviderHarness({
    settings,
    model: createAnthropic({ baseURL: baseUrl, apiKey, fetch: createEndpointFetch(silenceMs) }).languageModel(modelId),
    metadataKey: "anthropic",
    readParams: (model) => readModelParams(model, "anthropic"),
    options: (_request, { effort }) => (effort === undefined ? {} : { providerOptions: { anthropic: { effort } } }),
    keepsReasoning: ({ anthropic }) =>
      typeof anthropic?.signature === "string" || typeof anthropic?.redactedData === "string",
    cacheMark: { anthropic: { cacheControl: { type: "ephemeral" } } },
  });
}
