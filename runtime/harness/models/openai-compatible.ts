import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { Harness } from "../harness.js";
import { createEndpointFetch } from "./endpoint.js";
import { readModelParams } from "./params.js";
import { createProviderHarness } from "./provider-harness.js";
import type { ProviderSettings } from "./section.js";

/**
 * Any server with OpenAI's chat completions: `BDK_OPENAI_COMPATIBLE_BASE_URL` says where,
 * `BDK_OPENAI_COMPATIBLE_API_KEY` is sent when it is set.
 */
export function createHarness(settings: ProviderSettings): Harness {
  const { modelId, baseUrl, apiKey, silenceMs } = settings;
  const provider = createOpenAICompatible({
    name: "compatible",
    baseURL: baseUrl,
    includeUsage: true,
    fetch: createEndpointFetch(silenceMs),
    ...(apiKey !== undefined && { apiKey }),
  });
  return createProviderHarness({
    settings,
    model: provider.chatModel(modelId),
    metadataKey: "compatible",
    readParams: (model) => readModelParams(model, "openai-compatible"),
    options: (_request, { effort }) =>
      effort === undefined ? {} : { providerOptions: { compatible: { reasoningEffort: effort } } },
  });
}
