import type { AgentBundle } from "../manifest/bundle.js";
import type { AgentManifest, Dynamic, ModelSetting } from "../manifest/schema.js";
import { agentInfo, toolDetail, toolListing } from "./info.js";
import { placePluginData } from "./plugin-data.js";
import { resolveDynamic } from "./resolve-dynamic.js";

/**
 * One agent's code and everything derived from it. A dev swap makes a new one; a turn in flight keeps the one it began
 * with, and the garbage collector takes it when the last such turn is over.
 */
export interface Generation {
  /** The manifest's entry with every field that depends on the environment filled in. */
  readonly agent: AgentManifest;
  readonly manifestHash: string;
  readonly definitions: Readonly<Record<string, unknown>>;
  readonly files: Readonly<Record<string, string>>;
  /** Body of `GET /v1/info`, made once. */
  readonly infoJson: string;
  /** Body of `GET /v1/tools`, made once. */
  readonly toolsJson: string;
  /** Body of `GET /v1/tools/:name`; `undefined` for a tool that is not there. */
  toolJson(name: string): string | undefined;
}

export interface GenerationOptions {
  /** `--model`: replaces the agent's own setting. */
  readonly model?: ModelSetting;
  /** What to say about a model's parameters, such as one that is ignored. */
  readonly notesOn?: (model: ModelSetting) => readonly string[];
  /** Absolute folder that an agent keeps its state in. */
  readonly stateRootOf: (slug: string) => string;
}

/** Makes the generation of one agent of a bundle. */
export function createGeneration(bundle: AgentBundle, entry: AgentManifest, options: GenerationOptions): Generation {
  const definitions = placePluginData(bundle.definitions[entry.slug] ?? {}, options.stateRootOf(entry.slug));
  const resolved = resolveDynamic(entry, definitions);
  const agent = options.model === undefined ? resolved : withModel(resolved, options.model);
  const notes = isKnown(agent.model) ? options.notesOn?.(agent.model) : undefined;
  const makeInfo = () => JSON.stringify({ agents: [agentInfo(agent, bundle.diagnostics ?? [], notes ?? [])] });
  // When a schedule fires next changes by the minute.
  const info = agent.schedules.length === 0 ? lazy(makeInfo) : makeInfo;
  const tools = lazy(() => JSON.stringify({ tools: toolListing(agent), connectionErrors: [] }));
  const details = new Map<string, string>();
  return {
    agent,
    manifestHash: bundle.manifest.hash,
    definitions,
    files: bundle.files[entry.slug] ?? {},
    get infoJson() {
      return info();
    },
    get toolsJson() {
      return tools();
    },
    toolJson(name) {
      const known = details.get(name);
      if (known !== undefined) return known;
      const tool = agent.tools.find((each) => each.name === name);
      if (tool === undefined) return undefined;
      const text = JSON.stringify(toolDetail(tool));
      details.set(name, text);
      return text;
    },
  };
}

/** The model of the agent and of its subagents, whatever they name themselves. */
function withModel(agent: AgentManifest, model: ModelSetting): AgentManifest {
  const subagents = agent.subagents.map(({ model: _, ...subagent }) => subagent);
  return { ...agent, model, subagents };
}

/** Whether a field's value is there, rather than the mark of one that depends on the environment. */
export function isKnown<T extends object | string>(value: Dynamic<T> | undefined): value is T {
  return value !== undefined && !(typeof value === "object" && "dynamic" in value);
}

/** Made at the first request, so that startup does not pay for it. */
function lazy(make: () => string): () => string {
  let text: string | undefined;
  return () => {
    text ??= make();
    return text;
  };
}
