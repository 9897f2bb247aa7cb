import type { ArtifactScope } from "../artifacts/api.js";
import type { ArtifactsApi } from "../authoring/artifacts.js";
import type { HookContext } from "../authoring/hooks.js";
import type { HostServices } from "../authoring/host.js";
import type { AgentGeneration } from "../manifest/bundle.js";
import type { SessionEvent, SessionEventType } from "../session/event.js";
import type { EventSink, Log, ObservedSession, SessionRecord } from "../session/ports.js";
import { namespaceOf, sessionInfo } from "../tools/context.js";
import { messageOf } from "../tools/result.js";

type Handler = (event: SessionEvent, ctx: HookContext) => unknown;

interface NamedHandler {
  readonly hook: string;
  /** Of the extension that brings it. */
  readonly namespace: string | undefined;
  readonly handler: Handler;
}

export interface HookSources {
  readonly generation: () => AgentGeneration;
  readonly services: (record: SessionRecord) => HostServices;
  readonly artifacts: (scope: ArtifactScope) => ArtifactsApi;
  readonly stateRoot: string;
  /** Aborts when the server shuts down. */
  readonly signal: AbortSignal;
  readonly log: Log;
}

/**
 * Hands recorded events to the hooks of the running code: those of the type first, then `"*"`, in order of hook name. A handler
 * that throws is logged and the next one runs.
 */
export function createHookSink(sources: HookSources): EventSink {
  let table:
    | { readonly from: AgentGeneration; readonly byType: ReadonlyMap<string, readonly NamedHandler[]> }
    | undefined;

  function handlersOf(type: SessionEventType): readonly NamedHandler[] {
    const generation = sources.generation();
    if (table?.from !== generation) table = { from: generation, byType: collect(generation) };
    const named = table.byType.get(type);
    const all = table.byType.get("*");
    return named === undefined ? (all ?? []) : all === undefined ? named : [...named, ...all];
  }

  return {
    wants: (type) => handlersOf(type).length > 0,
    async dispatch(event, session) {
      const ctx = contextOf(sources, event, session);
      const withNamespace = (base: HookContext, namespace: string): HookContext => ({
        ...base,
        artifacts: sources.artifacts({ record: session.record, turnId: event.turnId, namespace }),
      });
      for (const { hook, namespace, handler } of handlersOf(event.type)) {
        try {
          await handler(event, namespace === undefined ? ctx : withNamespace(ctx, namespace));
        } catch (error) {
          sources.log("error", `hook "${hook}" handler for ${event.type} threw: ${messageOf(error)}`);
        }
      }
    },
  };
}

function collect({ agent, definitions }: AgentGeneration): ReadonlyMap<string, readonly NamedHandler[]> {
  const byType = new Map<string, NamedHandler[]>();
  for (const { id, name, layer } of agent.hooks) {
    const definition = definitions[id];
    if (typeof definition !== "object" || definition === null || !("events" in definition)) continue;
    for (const [type, handler] of Object.entries((definition.events ?? {}) as Readonly<Record<string, unknown>>)) {
      if (typeof handler !== "function") continue;
      const bound: Handler = (event, ctx) => handler.call(definition.events, event, ctx);
      byType.set(type, [
        ...(byType.get(type) ?? []),
        { hook: name, namespace: namespaceOf({ name, layer }), handler: bound },
      ]);
    }
  }
  return byType;
}

function contextOf(sources: HookSources, event: SessionEvent, session: ObservedSession): HookContext {
  const { record, continuationToken } = session;
  return {
    session: sessionInfo(record),
    agent: { name: sources.generation().agent.name },
    channel: { id: record.channelId, continuationToken },
    host: sources.services(record),
    artifacts: sources.artifacts({ record, turnId: event.turnId }),
    stateRoot: sources.stateRoot,
    signal: sources.signal,
  };
}
