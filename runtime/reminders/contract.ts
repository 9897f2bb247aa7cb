/** What the reminders of an agent need of the world, and what they offer to it. */
import type { ArtifactScope } from "../artifacts/api.js";
import type { ArtifactsApi } from "../authoring/artifacts.js";
import type { HostServices, ReminderCreate, ReminderInfo } from "../authoring/host.js";
import type { ReminderOutcome } from "../authoring/reminders.js";
import type { ErrorCode } from "../errors.js";
import type { AgentGeneration } from "../manifest/bundle.js";
import type { JsonObject } from "../session/event.js";
import type { RunningSessions } from "../session/index.js";
import type { Clock, Log, MakeId, SessionRecord } from "../session/ports.js";

/** A reminder as it is kept. Instants are ISO-8601; without `every` and `cron` it fires once. */
export interface StoredReminder {
  readonly id: string;
  readonly purpose: string;
  /** Bound when it was made: tokens of the built-in API go stale. */
  readonly sessionId: string;
  readonly channelId: string;
  readonly createdAt: string;
  readonly nextAt: string;
  /** Milliseconds. */
  readonly every?: number;
  readonly cron?: string;
  readonly prompt?: string;
  /** Name of a handler in `reminders/`. */
  readonly handler?: string;
  readonly args?: JsonObject;
  readonly until?: string;
  /** A prompt that is being sent: the key by which the session knows it again, and since when. */
  readonly firing?: { readonly key: string; readonly at: string };
}

/** Where reminders outlive the process. Acts take place in call order; a promise resolves when it is on disk. */
export interface ReminderStore {
  all(): Iterable<StoredReminder>;
  put(reminder: StoredReminder): Promise<void>;
  remove(id: string): Promise<void>;
  close(): void;
}

export interface ReminderSources {
  readonly generation: () => AgentGeneration;
  readonly sessions: Pick<RunningSessions, "wake" | "findByKey" | "findByToken">;
  /** The facts of a session, as they are stored. */
  readonly record: (sessionId: string) => SessionRecord | undefined;
  readonly services: (record: SessionRecord | undefined) => HostServices;
  readonly artifacts: (scope: ArtifactScope) => ArtifactsApi;
  readonly store: ReminderStore;
  readonly makeId: MakeId;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly log: Log;
  readonly fail: (code: ErrorCode, message: string, details?: Readonly<Record<string, unknown>>) => Error;
}

/** What came of a reminder that was fired by hand. */
export interface DispatchedReminder {
  readonly reminderId: string;
  readonly action: ReminderOutcome["action"];
  /** The sessions that were woken. */
  readonly sessionIds: readonly string[];
}

/** The reminders of one agent. */
export interface Reminders {
  /** Fires by the clock from now on, and once what came due while no process ran. */
  start(): void;
  /** Looks at the running code anew: a handler that was missing may be there. */
  rearm(): void;
  /**
   * Arms a reminder; on disk when it resolves, unless its handler is anonymous.
   *
   * @param record the session that it is made in, whose conversation is meant when none is named
   */
  create(reminder: ReminderCreate, record: SessionRecord | undefined): Promise<ReminderInfo>;
  /** Soonest first; of one session, or all. */
  list(sessionId: string | undefined): readonly ReminderInfo[];
  /** False when there is none of that id. */
  cancel(id: string): Promise<boolean>;
  has(id: string): boolean;
  /** Fires one, once, whatever the clock says. */
  dispatch(id: string): Promise<DispatchedReminder>;
  /** Fires no more; resolves when nothing is being fired. */
  settled(): Promise<void>;
}

/** What the section `reminders` exports. */
export interface RemindersSection {
  createReminders(sources: ReminderSources): Reminders;
}
