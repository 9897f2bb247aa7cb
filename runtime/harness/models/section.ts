import type { LanguageModelV3, LanguageModelV3CallOptions, SharedV3ProviderMetadata } from "@ai-sdk/provider";
import type { Usage } from "../../session/event.js";
import type { Harness, ModelSetting, StepRequest } from "../harness.js";
import type { ModelParams } from "./params.js";
import type { Salvage } from "./xai-drift.js";

/** What the resolver hands to a provider's section. */
export interface ProviderSettings {
  /** The provider's own id: `gpt-5`, without `openai/`. */
  readonly modelId: string;
  readonly baseUrl: string;
  /** Absent for an endpoint that takes none. */
  readonly apiKey?: string;
  /** Milliseconds that the endpoint may say nothing. */
  readonly silenceMs: number;
  /** Name of the variable that holds the key, for messages. */
  readonly keyVariable: string;
  /** As people call the provider. */
  readonly label: string;
  /** List price of a step in US dollars, where the list has the model. */
  readonly price?: (usage: Usage) => Promise<number | undefined>;
}

/** What each `models/<provider>.ts` exports: the whole contract of a model section. */
export interface ModelSection {
  createHarness(settings: ProviderSettings): Harness;
}

/** How one provider differs from the others; everything else is shared. */
export interface ProviderDialect {
  readonly settings: ProviderSettings;
  readonly model: LanguageModelV3;
  /** Key of `providerOptions` and `providerMetadata`. */
  readonly metadataKey: string;
  readonly readParams: (model: ModelSetting) => ModelParams;
  /** Options of one request: effort, cache keys, headers. */
  readonly options: (request: StepRequest, params: ModelParams) => Partial<LanguageModelV3CallOptions>;
  /** Whether a reasoning block with this metadata can travel back. Default: when it has any. */
  readonly keepsReasoning?: (metadata: SharedV3ProviderMetadata) => boolean;
  /** Sends reasoning back even without metadata, as plain text. */
  readonly sendsPlainReasoning?: boolean;
  /** What can be made of an error that the stream reports and goes on after. Default: nothing, the step fails. */
  readonly salvage?: (error: unknown) => Salvage | undefined;
  /** Marks on the system prompt and on the last message, where a provider caches the prompt up to a mark. */
  readonly cacheMark?: SharedV3ProviderMetadata;
}
