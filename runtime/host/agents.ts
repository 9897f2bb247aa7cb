import type { AgentBundle } from "../manifest/bundle.js";
import type { ServedAgent } from "./agent.js";
import { checkBundle } from "./check.js";
import { createGeneration, type Generation, type GenerationOptions } from "./generation.js";
import type { HostLog } from "./log.js";
import type { HostOptions } from "./options.js";

/** The agents that a host serves, and the code they run on. */
export interface ServedAgents {
  /** The newest bundle. */
  readonly bundle: AgentBundle;
  /** In the order of the manifest they came with. */
  all(): readonly ServedAgent[];
  /** The agent of a slug; without one the first. */
  get(slug: string | undefined): ServedAgent | undefined;
  /** Takes new code: all agents change at once, or none does. */
  swap(next: AgentBundle): Promise<void>;
  /** Takes up what an earlier process left: open turns, parked approvals. */
  recover(): Promise<void>;
  /** Lets turns settle, then releases the stores. */
  close(graceMs: number): Promise<void>;
}

export interface ServedAgentsOptions extends GenerationOptions {
  readonly host: HostOptions;
  readonly log: HostLog;
  readonly open: (slug: string, generation: Generation) => Promise<ServedAgent>;
}

/** Opens every agent of a bundle. */
export async function openAgents(bundle: AgentBundle, options: ServedAgentsOptions): Promise<ServedAgents> {
  const { log } = options;
  const agents = new Map<string, ServedAgent>();
  let current = bundle;
  let swapping: Promise<void> = Promise.resolve();

  const generations = (of: AgentBundle): ReadonlyMap<string, Generation> =>
    new Map(of.manifest.agents.map((entry) => [entry.slug, createGeneration(of, entry, options)]));

  const openAll = async (wanted: ReadonlyMap<string, Generation>): Promise<ReadonlyMap<string, ServedAgent>> => {
    const opened = new Map<string, ServedAgent>();
    try {
      for (const [slug, generation] of wanted) {
        if (!agents.has(slug)) opened.set(slug, await options.open(slug, generation));
      }
      return opened;
    } catch (error) {
      await Promise.all([...opened.values()].map((agent) => agent.close(0)));
      throw error;
    }
  };

  const swap = async (next: AgentBundle): Promise<void> => {
    checkBundle(next, options.host);
    const wanted = generations(next);
    const opened = await openAll(wanted);
    // From here on nothing can fail.
    current = next;
    for (const [slug, generation] of wanted) agents.get(slug)?.swap(generation);
    for (const [slug, agent] of opened) agents.set(slug, agent);
    for (const [slug, agent] of agents) {
      if (wanted.has(slug)) continue;
      agents.delete(slug);
      agent.close().catch((error: unknown) => log.error(`closing agent "${slug}"`, error));
    }
  };

  for (const [slug, agent] of await openAll(generations(bundle))) agents.set(slug, agent);
  return {
    get bundle() {
      return current;
    },
    all: () => [...agents.values()],
    get: (slug) => (slug === undefined ? agents.values().next().value : agents.get(slug)),
    swap: (next) => {
      const done = swapping.then(() => swap(next));
      swapping = done.catch(() => undefined);
      return done;
    },
    recover: async () => {
      for (const agent of agents.values()) await agent.recover();
    },
    close: async (graceMs) => {
      await swapping;
      await Promise.all([...agents.values()].map((agent) => agent.close(graceMs)));
    },
  };
}
