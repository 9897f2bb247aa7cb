import { RuntimeError } from "../../errors.js";
import type { Sections } from "../../host/sections.js";
import type { Harness, HarnessResolver } from "../harness.js";
import { createOfflineHarness } from "../offline/offline.js";
import { type ModelName, parseModelId, providers } from "./model-id.js";
import type { PricesSection } from "./prices.js";
import type { ModelSection } from "./section.js";

export interface HarnessResolverOptions {
  readonly sections: Sections;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Script of the offline model as JSON, when there is one; asked at its first turn. */
  readonly readOfflineScript?: () => string | undefined;
}

type ProviderModel = Exclude<ModelName, { provider: "offline" }>;

/** Chooses the harness of a model: the built-in offline one, or a provider whose section was linked. Decision 18. */
export function createHarnessResolver(options: HarnessResolverOptions): HarnessResolver {
  const { sections, environment, readOfflineScript } = options;
  const offline = createOfflineHarness(readOfflineScript && { readScript: readOfflineScript });
  const harnesses = new Map<string, Promise<Harness>>();

  const missing = (name: ProviderModel): string | undefined => {
    const facts = providers[name.provider];
    if (sections[facts.section] === undefined) {
      return `this server was built without ${facts.label}; build it with \`bdk build --include ${facts.section}\``;
    }
    if (facts.needsKey && isUnset(environment[facts.keyVariable])) {
      return `${facts.keyVariable} is not set; set it, or choose the built-in offline model with --model offline`;
    }
    if (facts.baseUrl === undefined && isUnset(environment[facts.baseUrlVariable])) {
      return `${facts.baseUrlVariable} is not set; it says where ${facts.label} is, such as http://127.0.0.1:11434/v1`;
    }
    return undefined;
  };

  /** Loaded at the first step that a provider doesn't put a price on. */
  const prices = async (): Promise<PricesSection | undefined> => {
    const section: unknown = await sections.prices?.();
    return isPricesSection(section) ? section : undefined;
  };

  const create = async (name: ProviderModel): Promise<Harness> => {
    const facts = providers[name.provider];
    const section: unknown = await sections[facts.section]?.();
    if (!isModelSection(section))
      throw new RuntimeError("internal", `the section ${facts.section} is not a model section`);
    const apiKey = environment[facts.keyVariable];
    const baseUrl = environment[facts.baseUrlVariable];
    return section.createHarness({
      modelId: name.modelId,
      baseUrl: (isUnset(baseUrl) ? (facts.baseUrl ?? "") : baseUrl).replace(/\/+$/, ""),
      silenceMs: silenceOf(environment.BDK_MODEL_TIMEOUT_MS),
      keyVariable: facts.keyVariable,
      label: facts.label,
      price: async (usage) => (await prices())?.priceOf(name.provider, name.modelId, usage),
      ...(!isUnset(apiKey) && { apiKey }),
    });
  };

  return {
    async resolve(model) {
      const name = parseModelId(model.id);
      if (name.provider === "offline") return offline;
      const problem = missing(name);
      if (problem !== undefined) throw new RuntimeError("model_unavailable", `${model.id}: ${problem}`);
      const known = harnesses.get(model.id);
      if (known !== undefined) return known;
      const created = create(name);
      harnesses.set(model.id, created);
      created.catch(() => harnesses.delete(model.id));
      return created;
    },
    problem(model) {
      try {
        const name = parseModelId(model.id);
        return name.provider === "offline" ? undefined : missing(name);
      } catch (error) {
        return error instanceof Error ? error.message : String(error);
      }
    },
  };
}

/** Milliseconds that an endpoint may say nothing, before its answer and between two pieces of it. */
const defaultSilenceMs = 120_000;

/** @throws RuntimeError `model_unavailable` for a value that is no number of milliseconds. */
function silenceOf(given: string | undefined): number {
  if (isUnset(given)) return defaultSilenceMs;
  const ms = Number(given);
  if (Number.isInteger(ms) && ms > 0 && ms < 2 ** 31) return ms;
  throw new RuntimeError("model_unavailable", `BDK_MODEL_TIMEOUT_MS is not a number of milliseconds: ${given}`);
}

function isModelSection(value: unknown): value is ModelSection {
  return (
    typeof value === "object" && value !== null && "createHarness" in value && typeof value.createHarness === "function"
  );
}

function isPricesSection(value: unknown): value is PricesSection {
  return typeof value === "object" && value !== null && "priceOf" in value && typeof value.priceOf === "function";
}

function isUnset(value: string | undefined): value is undefined | "" {
  return value === undefined || value === "";
}
