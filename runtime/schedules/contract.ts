/** What the schedules of an agent need of the world, and what they offer to it. */
import type { ArtifactScope } from "../artifacts/api.js";
import type { ArtifactsApi } from "../authoring/artifacts.js";
import type { Receive } from "../authoring/channels.js";
import type { HostKvApi, HostServices } from "../authoring/host.js";
import type { ErrorCode } from "../errors.js";
import type { AgentGeneration } from "../manifest/bundle.js";
import type { RunningSessions } from "../session/index.js";
import type { Clock, Log, SessionRecord } from "../session/ports.js";

export interface ScheduleSources {
  readonly generation: () => AgentGeneration;
  readonly sessions: Pick<RunningSessions, "create" | "callTool" | "settled" | "exists">;
  readonly services: (record: SessionRecord | undefined) => HostServices;
  readonly artifacts: (scope: ArtifactScope) => ArtifactsApi;
  readonly receive: Receive;
  /** By schedule id: `{ last, cron }`, the last tick that is done with, and the expression that named it. */
  readonly ledger: HostKvApi;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly log: Log;
  readonly fail: (code: ErrorCode, message: string, details?: Readonly<Record<string, unknown>>) => Error;
}

/** What a schedule that was fired by hand started. */
export interface Dispatched {
  readonly scheduleId: string;
  readonly sessionIds: readonly string[];
}

/** The schedules of one agent. */
export interface Schedules {
  /** Fires by the clock from now on, and what was missed in the last hour once. */
  start(): Promise<void>;
  /** Looks at the running code anew. */
  rearm(): void;
  /** Fires one, once, whatever the clock says. Rejects when the run fails. */
  dispatch(scheduleId: string): Promise<Dispatched>;
  /** Fires no more; resolves when no run is going. */
  settled(): Promise<void>;
}

/** What the section `schedules` exports. */
export interface SchedulesSection {
  createSchedules(sources: ScheduleSources): Schedules;
}
