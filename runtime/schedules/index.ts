/** Schedules: the optional part of the runtime that starts runs by the clock. One timer for all, over our own `next`. */
import type { ScheduleDefinition, ScheduleRunArgs } from "../authoring/schedules.js";
import type { ScheduleEntry } from "../manifest/schema.js";
import type { Caller } from "../session/service.js";
import { messageOf } from "../tools/result.js";
import type { Dispatched, ScheduleSources, Schedules } from "./contract.js";
import { next } from "./cron.js";
import { lastDue, seenUpTo, tickSessionId } from "./ticks.js";

/** Longest sleep in milliseconds: a clock that is set, or a machine that slept, is noticed after it. */
const longestSleepMs = 60_000;

type TimedEntry = ScheduleEntry & { readonly cron: string };

/** The schedules of one agent. */
export function createSchedules(sources: ScheduleSources): Schedules {
  const { clock, ledger, log, sessions, signal } = sources;
  /** Up to when each schedule has been looked at, in milliseconds. */
  const seen = new Map<string, number>();
  /** The runs that are going, and the one that waits behind them, by schedule. */
  const going = new Map<string, Promise<unknown>>();
  const waiting = new Set<string>();
  let isStarted = false;
  let disarm = (): void => undefined;

  /** All of them have a time: one that the environment gives none stops the start. */
  const entries = (): readonly TimedEntry[] =>
    sources.generation().agent.schedules.flatMap((entry) => {
      const { cron } = entry;
      return typeof cron === "string" ? [{ ...entry, cron }] : [];
    });

  function arm(): void {
    disarm();
    if (!isStarted || signal.aborted) return;
    const now = clock.now();
    const dues = entries().flatMap(({ cron }) => next(cron, new Date(now))?.getTime() ?? []);
    if (dues.length === 0) return;
    disarm = clock.after(Math.min(longestSleepMs, Math.max(0, Math.min(...dues) - now)), wake);
  }

  function wake(): void {
    const now = clock.now();
    for (const entry of entries()) {
      const from = seen.get(entry.name);
      seen.set(entry.name, seenUpTo(from, now));
      const tick = from === undefined ? undefined : lastDue(entry.cron, from, now);
      if (tick !== undefined) admit(entry, tick);
    }
    arm();
  }

  /** Runs a tick, or does with it what `overlap` says while the last run is going. */
  function admit(entry: TimedEntry, tick: number): void {
    const { name } = entry;
    const last = going.get(name);
    if (last !== undefined && (entry.overlap !== "queue" || waiting.has(name))) {
      log("warn", `schedule "${name}": ${new Date(tick).toISOString()} is skipped, the last run is still going`);
      return;
    }
    if (last !== undefined) waiting.add(name);
    const run = (last ?? Promise.resolve())
      .then(() => {
        waiting.delete(name);
        return signal.aborted ? undefined : fire(entry, tick);
      })
      .catch((error: unknown) => log("error", `schedule "${name}" failed: ${messageOf(error)}`))
      .finally(() => {
        if (going.get(name) === run) going.delete(name);
        log("debug", `schedule "${name}": the run of ${new Date(tick).toISOString()} is over`);
      });
    going.set(name, run);
  }

  /** One tick of the clock, once whatever dies meanwhile. Resolves when the run is over. */
  async function fire(entry: TimedEntry, tick: number): Promise<void> {
    const { name } = entry;
    const isDone = () => note(entry, tick);
    if (entry.form === "run") {
      // A run may have done anything when it dies: it is not begun again.
      await isDone();
      for (const id of await runHandler(entry, tick)) await sessions.settled(id);
      return;
    }
    // A session that is there says that the tick was taken, also by a process that died before it could note it.
    const id = tickSessionId(name, tick);
    if (!sessions.exists(id)) await startTask(entry, id);
    await isDone();
    await sessions.settled(id);
  }

  /** Up to when the ticks of this expression are done with. */
  function note({ name, cron }: TimedEntry, until: number): Promise<void> {
    return ledger.put(name, { last: new Date(until).toISOString(), cron });
  }

  async function startTask(entry: ScheduleEntry, id?: string): Promise<string> {
    const message = typeof entry.prompt === "string" ? entry.prompt : definitionOf(entry).markdown;
    if (message === undefined) throw new Error("it has no prompt");
    const { sessionId } = await sessions.create(callerOf(entry.name), {
      message,
      channelId: "schedule",
      mode: "task",
      title: entry.name,
      ...(id !== undefined && { id }),
    });
    return sessionId;
  }

  /** Runs a handler to its end, `waitUntil` included; resolves with the sessions it started. */
  async function runHandler(entry: ScheduleEntry, tick: number): Promise<readonly string[]> {
    const { name } = entry;
    const definition = definitionOf(entry);
    const caller = callerOf(name);
    const started: string[] = [];
    const pending: Promise<unknown>[] = [];
    const args: ScheduleRunArgs = {
      schedule: { id: name },
      scheduledAt: new Date(tick),
      receive: async (channel, options) => {
        const session = await sources.receive(channel, options);
        if (!started.includes(session.id)) started.push(session.id);
        return session;
      },
      callTool: async (toolName, input = {}) => {
        const { isError, result } = await sessions.callTool(caller, { toolName, input, signal });
        return { isError, result };
      },
      waitUntil: (promise) => {
        const kept = Promise.resolve(promise);
        kept.catch(() => undefined); // told below, when the run is over
        pending.push(kept);
      },
      appAuth: caller.auth,
      host: sources.services(undefined),
      artifacts: sources.artifacts({ record: undefined, turnId: undefined }),
      signal,
    };
    const failures: unknown[] = [];
    await Promise.resolve()
      .then(() => definition.run?.(args))
      .catch((error: unknown) => failures.push(error));
    // What is waited for may itself ask to be waited for more.
    for (const promise of pending) await promise.catch((error: unknown) => failures.push(error));
    if (failures.length > 0) throw new Error(failures.map(messageOf).join("; "), { cause: failures[0] });
    return started;
  }

  function definitionOf(entry: ScheduleEntry): Partial<ScheduleDefinition> {
    return (sources.generation().definitions[entry.id] ?? {}) as Partial<ScheduleDefinition>;
  }

  /** What the schedule missed while no process ran, once. */
  async function takeUp(entry: TimedEntry, now: number): Promise<void> {
    seen.set(entry.name, now);
    const noted = (await ledger.get(entry.name)) as { readonly last?: string; readonly cron?: string } | undefined;
    const last = Date.parse(noted?.last ?? "");
    if (Number.isNaN(last) || (noted?.cron ?? entry.cron) !== entry.cron) {
      // New here, or at other times than before: what lies before this start is nothing that was missed.
      await note(entry, now);
      return;
    }
    seen.set(entry.name, seenUpTo(last, now));
    const tick = entry.catchUp === false ? undefined : lastDue(entry.cron, last, now);
    if (tick !== undefined) admit(entry, tick);
  }

  return {
    async start() {
      if (isStarted) return;
      isStarted = true;
      const now = clock.now();
      for (const entry of entries()) {
        await takeUp(entry, now).catch((error: unknown) => {
          log("error", `schedule "${entry.name}" could not be taken up: ${messageOf(error)}`);
        });
      }
      // Ticks may have passed while the ledger was read.
      wake();
    },

    rearm() {
      for (const { name } of entries()) if (!seen.has(name)) seen.set(name, clock.now());
      arm();
    },

    async dispatch(scheduleId): Promise<Dispatched> {
      const entry = entries().find(({ name }) => name === scheduleId);
      if (entry === undefined) {
        const available = entries().map(({ name }) => name);
        throw sources.fail("not_found", `no schedule named "${scheduleId}"`, { available });
      }
      try {
        const now = Math.floor(clock.now() / 60_000) * 60_000;
        const sessionIds = entry.form === "run" ? await runHandler(entry, now) : [await startTask(entry)];
        return { scheduleId, sessionIds };
      } catch (error) {
        log("error", `schedule "${scheduleId}" failed: ${messageOf(error)}`);
        throw sources.fail("internal", `schedule "${scheduleId}" failed; the server's log says why`);
      }
    },

    async settled() {
      isStarted = false;
      disarm();
      while (going.size > 0) await Promise.all(going.values());
    },
  };
}

/** The schedule's own principal. */
function callerOf(scheduleId: string): Caller {
  const auth = { kind: "app", id: `schedule:${scheduleId}` };
  return { owner: `${auth.kind}:${auth.id}`, seesAll: false, auth };
}
