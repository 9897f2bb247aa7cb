import { createOpenAI } from "@ai-sdk/openai";
import type { Harness } from "../harness.js";
import { createEndpointFetch } from "./endpoint.js";
import { readModelParams } from "./params.js";
import { createProviderHarness } from "./provider-harness.js";
import type { ProviderSettings } from "./section.js";

/** OpenAI through the Responses API. Nothing is stored at the provider: reasoning travels back encrypted. */
export function createHarness(settings: ProviderSettings): Harness {
  const { modelId, baseUrl, apiKey = "", silenceMs } = settings;
  return createProviderHarness({
    settings,
    model: createOpenAI({ baseURL: baseUrl, apiKey, fetch: createEndpointFetch(silenceMs) }).responses(modelId),
    metadataKey: "openai",
    readParams: (model) => readModelParams(model, "openai"),
    options: (request, { effort }) => ({
      providerOptions: {
        openai: {
          store: false,
          promptCacheKey: request.sessionId,
          ...(effort !== undefined && { reasoningEffort: effort, reasoningSummary: "auto" }),
        },
      },
    }),
    keepsReasoning: (metadata) => typeof metadata.openai?.reasoningEncryptedContent === "string",
  });
}
