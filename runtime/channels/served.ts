import { type ChannelDefinition, POST } from "../authoring/channels.js";
import type { AgentGeneration } from "../manifest/bundle.js";
import type { ChannelEntry } from "../manifest/schema.js";
import { messageOf } from "../tools/result.js";
import { createGate, type Gate } from "./admit.js";
import type { ChannelSources, RunningChannel } from "./contract.js";
import { loadPack, type PackHost, type ServedPack } from "./packs.js";
import { createRouter, type Router } from "./router.js";

/** A channel with what is made once from its code. */
export interface ServedChannel extends RunningChannel {
  readonly route: Router;
  readonly gate: Gate;
  /** Why its pack can't carry it out. */
  readonly problem?: Error;
}

/** The channels of one generation of the code. */
export interface Served {
  readonly of: AgentGeneration;
  readonly channels: ReadonlyMap<string, ServedChannel>;
  /** Aborts when newer code takes over or the server shuts down. */
  readonly signal: AbortSignal;
}

export interface ServedChannels {
  /** Resolves when `current` is of the running code. Never rejects: a pack that does not open is its channel's problem. */
  ready(): Promise<void>;
  /** Of the running code, or of the code before while the new one's packs are loaded. */
  current(): Served;
}

/** What a pack is given, without what comes from its channel alone. */
export type HostOfPack = (id: string, definition: ChannelDefinition, signal: AbortSignal) => PackHost;

export function createServed(sources: ChannelSources, hostOf: HostOfPack): ServedChannels {
  let current: (Served & { readonly controller: AbortController }) | undefined;
  let opening: { readonly of: AgentGeneration; readonly done: Promise<void> } | undefined;

  async function open(of: AgentGeneration): Promise<void> {
    const controller = new AbortController();
    const signal = AbortSignal.any([controller.signal, sources.signal]);
    const channels = await Promise.all(of.agent.channels.map((entry) => serve(of, entry, signal)));
    if (sources.generation() !== of) return controller.abort();
    current?.controller.abort();
    current = { of, channels: new Map(channels.map((each) => [each.id, each])), signal, controller };
  }

  async function serve(of: AgentGeneration, entry: ChannelEntry, signal: AbortSignal): Promise<ServedChannel> {
    const definition = of.definitions[entry.id] as ChannelDefinition;
    const { name: id } = entry;
    const own = definition.events === undefined ? [] : [definition.events];
    const base = { id, entry, definition };
    if (definition.pack === undefined) {
      const gate = createGate(id, definition.auth, sources);
      return { ...base, handlers: own, route: createRouter(definition.routes ?? []), gate };
    }
    try {
      const pack = await openPack(definition.pack, hostOf(id, definition, signal));
      const handlers = pack.events === undefined ? own : [pack.events, ...own];
      const { path, description } = pack.ingress;
      const route = createRouter([POST(path, { description, handler: unheard })]);
      return { ...base, pack, handlers, route, gate: createGate(id, [], sources) };
    } catch (error) {
      const problem = new Error(`channel "${id}" can't be served: ${messageOf(error)}`, { cause: error });
      sources.log("error", problem.message);
      return { ...base, handlers: own, route: createRouter([]), gate: createGate(id, [], sources), problem };
    }
  }

  async function openPack(name: string, host: PackHost): Promise<ServedPack> {
    return (await loadPack(sources.sections, name)).openPack(host);
  }

  return {
    async ready() {
      for (;;) {
        const of = sources.generation();
        if (current?.of === of) return;
        if (opening?.of !== of) opening = { of, done: open(of) };
        await opening.done;
      }
    },
    current() {
      if (current === undefined) throw new Error("the channels were asked for before they were ready");
      return current;
    },
  };
}

/** Stands in the route table for an ingress, which answers itself. */
function unheard(): never {
  throw new Error("an ingress has no handler");
}
