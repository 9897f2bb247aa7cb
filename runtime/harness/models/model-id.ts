import { RuntimeError } from "../../errors.js";
import type { SectionName } from "../../host/sections.js";

export type ProviderName = "xai" | "openai" | "anthropic" | "openai-compatible";

/** What is to be known of a provider before its section is loaded. */
export interface ProviderFacts {
  /** As people call it. */
  readonly label: string;
  readonly section: SectionName;
  readonly keyVariable: string;
  /** False for endpoints that may be open, such as a model server on the same machine. */
  readonly needsKey: boolean;
  readonly baseUrlVariable: string;
  /** Absent: there is no public endpoint, so the variable is needed. */
  readonly baseUrl?: string;
}

/** The providers, by the word before the slash of a model id. Decision 18. */
export const providers: Readonly<Record<ProviderName, ProviderFacts>> = {
  xai: {
    label: "xAI",
    section: "model-xai",
    keyVariable: "XAI_API_KEY",
    needsKey: true,
    baseUrlVariable: "XAI_BASE_URL",
    baseUrl: "https://api.x.ai/v1",
  },
  openai: {
    label: "OpenAI",
    section: "model-openai",
    keyVariable: "OPENAI_API_KEY",
    needsKey: true,
    baseUrlVariable: "OPENAI_BASE_URL",
    baseUrl: "https://api.openai.com/v1",
  },
  anthropic: {
    label: "Anthropic",
    section: "model-anthropic",
    keyVariable: "ANTHROPIC_API_KEY",
    needsKey: true,
    baseUrlVariable: "ANTHROPIC_BASE_URL",
    baseUrl: "https://api.anthropic.com/v1",
  },
  "openai-compatible": {
    label: "the OpenAI-compatible endpoint",
    section: "model-openai-compatible",
    keyVariable: "BDK_OPENAI_COMPATIBLE_API_KEY",
    needsKey: false,
    baseUrlVariable: "BDK_OPENAI_COMPATIBLE_BASE_URL",
  },
};

/** A model id taken apart. */
export type ModelName =
  | { readonly provider: "offline" }
  | { readonly provider: ProviderName; readonly modelId: string };

const forms = "grok-4.5, openai/<id>, anthropic/<id>, openai-compatible/<id> or offline";

/**
 * Reads a model id: `grok-4.5` (xAI), `openai/<id>`, `anthropic/<id>`, `openai-compatible/<id>`, `offline`.
 *
 * @throws RuntimeError `model_unavailable` for anything else, and for speed or effort written into the id.
 * @example parseModelId("openai/gpt-5") // { provider: "openai", modelId: "gpt-5" }
 */
export function parseModelId(id: string): ModelName {
  if (id === "offline" || id.startsWith("offline/")) return { provider: "offline" };
  const suffix = /^(?:xai\/)?(grok-\d+\.\d+)-(fast|slow|none|minimal|low|medium|high|xhigh)$/.exec(id);
  if (suffix !== null) {
    const [, base, word] = suffix;
    const param = word === "fast" || word === "slow" ? `fast=${word === "fast"}` : `effort=${word}`;
    throw unavailable(`"${id}" is not a model: speed and effort are parameters; use id "${base}" with ${param}`);
  }
  const slash = id.indexOf("/");
  if (slash === -1) {
    if (/^grok-/.test(id)) return { provider: "xai", modelId: id };
    const guess = /^(?:gpt-|o\d|chatgpt)/.test(id) ? "openai" : /^claude-/.test(id) ? "anthropic" : undefined;
    throw unavailable(
      guess === undefined
        ? `"${id}" names no known model; write ${forms}`
        : `"${id}" names no provider; write "${guess}/${id}"`,
    );
  }
  const provider = id.slice(0, slash);
  const modelId = id.slice(slash + 1);
  if (modelId !== "" && isProvider(provider)) return { provider, modelId };
  throw unavailable(`"${id}" names no known provider; write ${forms}`);
}

function isProvider(name: string): name is ProviderName {
  return Object.hasOwn(providers, name);
}

function unavailable(message: string): RuntimeError {
  return new RuntimeError("model_unavailable", message);
}
