/** `bot/hooks/<name>.ts`: code that observes the session event stream. */
import type { SessionEvent, SessionEventType } from "../session/event.js";
import type { ArtifactsApi } from "./artifacts.js";
import type { HostServices, SessionInfo } from "./host.js";

/** What a hook's handler is given besides the event. */
export interface HookContext {
  readonly session: SessionInfo;
  /** The agent that the event belongs to. */
  readonly agent: { readonly name: string };
  /** `continuationToken` is `null` when the session can't take follow-ups. */
  readonly channel: { readonly id: string; readonly continuationToken: string | null };
  readonly host: HostServices;
  /** Bound to this session: `tag` fills in `sessionId` and `turnId`. */
  readonly artifacts: ArtifactsApi;
  /** Absolute path of the local state root. Keep derived state in `host.kv` or `host.files` instead. */
  readonly stateRoot: string;
  /** Aborts when the server shuts down. */
  readonly signal: AbortSignal;
}

/** An event type, or `"*"` for all of them. */
export type HookEventName = SessionEventType | "*";

/** The event that a key of the `events` map receives: `data` is narrowed by a typed key; `"*"` gets the union. */
export type HookEvent<K extends HookEventName> = K extends SessionEventType ? SessionEvent<K> : SessionEvent;

/** A handler. It can't change the turn; if it throws, that is logged and the next one runs. */
export type HookHandler<K extends HookEventName> = (event: HookEvent<K>, ctx: HookContext) => unknown;

/** Handlers by event type. */
export type HookEvents = { readonly [K in HookEventName]?: HookHandler<K> };

/** What `defineHook` returns; the handlers stay callable, so a unit test can call them with a stub context. */
export interface HookDefinition<K extends HookEventName = never> {
  readonly events: [K] extends [never] ? HookEvents : { readonly [P in K]: HookHandler<P> };
  readonly __agentServe: "hook";
}

/**
 * Defines a hook.
 *
 * @example
 * export default defineHook({
 *   events: {
 *     "turn.failed"(event, ctx) {
 *       ctx.host.otel.increment("turns.failed", { status: event.data.status ?? "error" });
 *     },
 *   },
 * });
 */
export function defineHook<K extends HookEventName>(config: {
  readonly events: { readonly [P in K]: HookHandler<P> };
}): HookDefinition<K> {
  return { ...config, __agentServe: "hook" } as HookDefinition<K>;
}
