import type { ModelSetting } from "../harness.js";
import { type ProviderName, parseModelId } from "./model-id.js";

/** A setting's parameters, read once; `notes` say which of them do nothing, and why. */
export interface ModelParams {
  readonly effort?: string;
  readonly temperature?: number;
  readonly topP?: number;
  readonly maxOutputTokens?: number;
  readonly notes: readonly string[];
}

/** Efforts that a provider takes; absent: it decides itself what to make of the word. */
const efforts: Partial<Record<ProviderName, readonly string[]>> = {
  xai: ["none", "low", "medium", "high", "xhigh"],
  anthropic: ["low", "medium", "high", "xhigh", "max"],
};

/**
 * Reads `effort` (or `reasoning_effort`), `temperature`, `top_p` and `max_output_tokens`. `fast` has no public parameter
 * at any provider, so it is noted and ignored, as is whatever is not known.
 */
export function readModelParams(model: ModelSetting, provider: ProviderName): ModelParams {
  const notes: string[] = [];
  const params: { -readonly [K in keyof ModelParams]: ModelParams[K] } = { notes };
  const number = (id: string, value: string, min: number, max: number): number | undefined => {
    const parsed = value.trim() === "" ? Number.NaN : Number(value);
    if (parsed >= min && parsed <= max) return parsed;
    notes.push(`${id}="${value}" is not a number from ${min} to ${max}, and is ignored`);
    return undefined;
  };
  for (const { id, value } of model.params) {
    switch (id) {
      case "effort":
      case "reasoning_effort": {
        const known = efforts[provider];
        if (known === undefined || known.includes(value)) params.effort = value;
        else notes.push(`${id}="${value}" is none of ${known.join(", ")}, and is ignored`);
        break;
      }
      case "temperature":
        Object.assign(params, present("temperature", number(id, value, 0, 2)));
        break;
      case "top_p":
        Object.assign(params, present("topP", number(id, value, 0, 1)));
        break;
      case "max_output_tokens":
        Object.assign(params, present("maxOutputTokens", number(id, value, 1, 10_000_000)));
        break;
      case "fast":
        if (value === "true") notes.push("fast has no public parameter at this provider, and is ignored");
        break;
      default:
        notes.push(`${id} is not a known parameter, and is ignored`);
    }
  }
  return params;
}

/** What `info` says about a model's parameters; nothing for the offline model or an id that cannot be read. */
export function notesOnModel(model: ModelSetting): readonly string[] {
  try {
    const name = parseModelId(model.id);
    return name.provider === "offline" ? [] : readModelParams(model, name.provider).notes;
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}

function present<K extends string>(name: K, value: number | undefined): { [P in K]?: number } {
  return value === undefined ? {} : ({ [name]: value } as { [P in K]?: number });
}
