import { createXai } from "@ai-sdk/xai";
import type { Harness } from "../harness.js";
import { createEndpointFetch } from "./endpoint.js";
import { readModelParams } from "./params.js";
import { createProviderHarness } from "./provider-harness.js";
import type { ProviderSettings } from "./section.js";
import { salvageChunk } from "./xai-drift.js";

/**
 * xAI through the Responses API, which streams tool calls with ids and counts reasoning as output. Nothing is stored at
 * the provider: reasoning travels back encrypted, so a session goes on after a restart from our own record.
 */
export function createHarness(settings: ProviderSettings): Harness {
  const { modelId, baseUrl, apiKey = "", silenceMs } = settings;
  return createProviderHarness({
    settings,
    model: createXai({ baseURL: baseUrl, apiKey, fetch: createEndpointFetch(silenceMs) }).responses(modelId),
    metadataKey: "xai",
    readParams: (model) => readModelParams(model, "xai"),
    options: (request, { effort }) => ({
      providerOptions: { xai: { store: false, ...(effort !== undefined && { reasoningEffort: effort }) } },
      // Requests of one conversation reach the machine that has its prompt cached.
      headers: { "x-grok-conv-id": request.sessionId },
    }),
    salvage: salvageChunk,
    keepsReasoning: (metadata) => typeof metadata.xai?.reasoningEncryptedContent === "string",
  });
}
