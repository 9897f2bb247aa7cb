/** `bot/reminders/<name>.ts`: host code that decides what happens when a reminder fires. */
import type { JsonObject } from "../session/event.js";
import type { ArtifactsApi } from "./artifacts.js";
import type { HostServices, SessionInfo } from "./host.js";

/** What a handler is given on each firing. */
export interface ReminderRunArgs {
  /** The serializable arguments given at creation; `{}` when there were none. */
  readonly args: JsonObject;
  readonly reminder: { readonly id: string; readonly purpose: string; readonly until?: string };
  readonly session: SessionInfo;
  readonly host: HostServices;
  readonly artifacts: ArtifactsApi;
  readonly signal: AbortSignal;
  /** Wakes the conversation: starts a model turn with this message. */
  followup(followup: { readonly message: string }): Promise<{ readonly sessionId: string }>;
}

/** `delivered`: done for this time. `skip`: nothing to do this time. `stop`: cancel the reminder. */
export interface ReminderOutcome {
  readonly action: "delivered" | "skip" | "stop";
}

/** Runs on each firing. */
export type ReminderHandler = (args: ReminderRunArgs) => ReminderOutcome | Promise<ReminderOutcome>;

/** A named reminder handler. */
export interface ReminderConfig {
  /** What it does, for listings. */
  readonly description?: string | undefined;
  run(args: ReminderRunArgs): ReminderOutcome | Promise<ReminderOutcome>;
}

/** What `defineReminder` returns. */
export type ReminderDefinition = ReminderConfig & { readonly __agentServe: "reminder" };

/**
 * Defines a handler that stays armed across restarts.
 *
 * @example
 * export default defineReminder({
 *   async run({ args, followup }) {
 *     await followup({ message: `Look at ${String(args.url)} again.` });
 *     return { action: "delivered" };
 *   },
 * });
 */
export function defineReminder(config: ReminderConfig): ReminderDefinition {
  const definition: ReminderDefinition = { ...config, __agentServe: "reminder" };
  // A program that imports the file has a copy of its own: the server knows it again by where it was made.
  return Object.defineProperty(definition, "__madeAt", { value: new Error("made here").stack });
}
