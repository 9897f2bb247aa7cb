/** `bot/schedules/<name>.ts`: runs that the clock starts. */
import type { JsonValue } from "../session/event.js";
import type { ArtifactsApi } from "./artifacts.js";
import type { Receive } from "./channels.js";
import type { HostServices, SessionAuth } from "./host.js";

/** What a `run` handler is given. */
export interface ScheduleRunArgs {
  readonly schedule: { readonly id: string };
  /** The tick this run stands for, to the minute. */
  readonly scheduledAt: Date;
  /** Hands a message into a channel. */
  readonly receive: Receive;
  /** Calls a server tool without a model turn. */
  callTool(name: string, input?: unknown): Promise<{ readonly isError: boolean; readonly result: JsonValue }>;
  /** Counts the promise as part of the run. */
  waitUntil(promise: Promise<unknown>): void;
  /** A principal of the schedule's own, for work the agent does on its own behalf. */
  readonly appAuth: SessionAuth;
  readonly host: HostServices;
  readonly artifacts: ArtifactsApi;
  readonly signal: AbortSignal;
}

interface ScheduleTiming {
  /** Five fields, UTC: minute, hour, day of month, month, day of week. */
  readonly cron: string;
  readonly description?: string | undefined;
  /** Runs once after an outage of under an hour. Default true. */
  readonly catchUp?: boolean | undefined;
  /** What a tick does while the last run is still going. Default `skip`. */
  readonly overlap?: "skip" | "queue" | undefined;
}

/** Exactly one of `markdown`, a prompt for a task session, and `run`. */
export type ScheduleConfig = ScheduleTiming &
  (
    | { readonly markdown: string; readonly run?: never }
    | { run(args: ScheduleRunArgs): unknown; readonly markdown?: never }
  );

/** What `defineSchedule` returns. */
export type ScheduleDefinition = ScheduleConfig & { readonly __agentServe: "schedule" };

/**
 * Defines a schedule.
 *
 * @example
 * export default defineSchedule({
 *   cron: "0 9 * * 1-5",
 *   async run({ callTool, host }) {
 *     const { result } = await callTool("count_incidents");
 *     await host.kv.put("incidents", result);
 *   },
 * });
 */
export function defineSchedule(config: ScheduleConfig): ScheduleDefinition {
  return { ...config, __agentServe: "schedule" };
}
