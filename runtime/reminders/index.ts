/** Reminders: the optional part of the runtime that wakes conversations later. One timer for all. Decision 37. */
import type { ReminderInfo } from "../authoring/host.js";
import type { ReminderHandler } from "../authoring/reminders.js";
import { messageOf } from "../tools/result.js";
import type { DispatchedReminder, ReminderSources, Reminders, StoredReminder } from "./contract.js";
import { createFiring } from "./fire.js";
import { handlerOf } from "./handlers.js";
import { accept } from "./request.js";

/** Longest sleep in milliseconds: a clock that is set, or a machine that slept, is noticed after it. */
const longestSleepMs = 60_000;

/** Prompts that are being sent at one time: of thousands that came due together, each opens a session. */
const maxSending = 64;

/** Waits between attempts of a firing that the disk or the session refuses, in milliseconds. */
const retryMs = { first: 1_000, most: 60_000 };

/** The reminders of one agent. */
export function createReminders(sources: ReminderSources): Reminders {
  const { store, clock, log, signal, fail } = sources;
  const armed = new Map<string, StoredReminder>();
  /** When each is due, in milliseconds: there may be thousands, and every change looks at all of them. */
  const times = new Map<string, number>();
  /** Anonymous handlers, by reminder: these reminders are on no disk. */
  const anonymous = new Map<string, ReminderHandler>();
  /** What is being fired, by reminder. */
  const going = new Map<string, Promise<unknown>>();
  /** Prompts that are due and wait for their turn to be sent, and how many are being sent. */
  const backlog = new Set<string>();
  let sending = 0;
  const failed = new Map<string, { readonly until: number; readonly waits: number }>();
  /** Reminders whose handler is not there; looked at again when the code changes. */
  const orphans = new Set<string>();
  let isStarted = false;
  let disarm = (): void => undefined;
  /** When the timer wakes, in milliseconds. */
  let wakesAt = Number.POSITIVE_INFINITY;

  function set(reminder: StoredReminder): void {
    armed.set(reminder.id, reminder);
    times.set(reminder.id, reminder.firing === undefined ? Date.parse(reminder.nextAt) : 0);
  }

  for (const reminder of store.all()) set(reminder);

  async function keep(reminder: StoredReminder): Promise<void> {
    set(reminder);
    if (!anonymous.has(reminder.id)) await store.put(reminder);
  }

  async function drop(id: string): Promise<boolean> {
    if (!armed.delete(id)) return false;
    times.delete(id);
    failed.delete(id);
    orphans.delete(id);
    backlog.delete(id);
    if (!anonymous.delete(id)) await store.remove(id);
    return true;
  }

  const firing = createFiring(sources, { get: (id) => armed.get(id), keep, drop });

  function handlerFor({ id, handler }: StoredReminder): ReminderHandler | undefined {
    return handler === undefined ? anonymous.get(id) : handlerOf(sources.generation(), handler);
  }

  /** When a reminder wants to be fired, in milliseconds; `undefined` while there is nothing to wait for. */
  function dueOf(id: string): number | undefined {
    const due = times.get(id);
    if (due === undefined || orphans.has(id)) return undefined;
    return Math.max(due, failed.get(id)?.until ?? 0);
  }

  function isDue(id: string, now: number): boolean {
    return !going.has(id) && (dueOf(id) ?? Number.POSITIVE_INFINITY) <= now;
  }

  /** Sets the timer by all that wait. */
  function arm(): void {
    let first = Number.POSITIVE_INFINITY;
    for (const id of times.keys()) {
      if (!going.has(id) && !backlog.has(id)) first = Math.min(first, dueOf(id) ?? first);
    }
    wakeAt(first);
  }

  /** Sets the timer earlier where one reminder wants it: with thousands, most changes are of no concern to it. */
  function armFor(id: string): void {
    const due = dueOf(id);
    if (due !== undefined && due < wakesAt) wakeAt(due);
  }

  function wakeAt(first: number): void {
    disarm();
    wakesAt = Number.POSITIVE_INFINITY;
    if (!isStarted || signal.aborted || first === Number.POSITIVE_INFINITY) return;
    const now = clock.now();
    wakesAt = Math.min(Math.max(first, now), now + longestSleepMs);
    disarm = clock.after(wakesAt - now, wake);
  }

  function wake(): void {
    const now = clock.now();
    for (const id of [...times.keys()].filter((each) => isDue(each, now))) {
      const reminder = armed.get(id);
      // Handlers may take long: they wait for nobody, and nobody for them.
      if (reminder?.prompt !== undefined) backlog.add(id);
      else if (reminder !== undefined) fire(reminder);
    }
    send();
    arm();
  }

  /** Sends of the prompts that are due as many as may go at one time. */
  function send(): void {
    for (const id of backlog) {
      if (sending >= maxSending || !isStarted || signal.aborted) return;
      backlog.delete(id);
      const reminder = armed.get(id);
      // It may have been cancelled, or fired by hand, while it waited.
      if (reminder === undefined || !isDue(id, clock.now())) continue;
      sending += 1;
      void fire(reminder).finally(() => {
        sending -= 1;
        send();
      });
    }
  }

  /** One due time by the clock. Never rejects. */
  async function fire(reminder: StoredReminder): Promise<void> {
    const { id, purpose } = reminder;
    const handler = handlerFor(reminder);
    if (reminder.prompt === undefined && handler === undefined) {
      orphans.add(id);
      log("error", `reminder ${id} (${purpose}) waits: there is no handler "${reminder.handler}" in reminders/`);
      return;
    }
    const retryLater = (error: unknown) => {
      if (signal.aborted || !armed.has(id)) return;
      const waits = Math.min(retryMs.most, (failed.get(id)?.waits ?? retryMs.first / 2) * 2);
      failed.set(id, { until: clock.now() + waits, waits });
      log("error", `reminder ${id} (${purpose}) could not be fired and is tried again: ${messageOf(error)}`);
    };
    await track(
      id,
      firing.fire(reminder, handler, undefined).then(() => void failed.delete(id), retryLater),
    );
  }

  /** Counts as being fired until it settles; what came due meanwhile is looked at then. */
  function track<T>(id: string, work: Promise<T>): Promise<T> {
    const tracked = work.finally(() => {
      going.delete(id);
      armFor(id);
    });
    going.set(id, tracked);
    return tracked;
  }

  return {
    start() {
      if (isStarted) return;
      isStarted = true;
      wake();
    },

    rearm() {
      orphans.clear();
      arm();
    },

    async create(request, record) {
      const { reminder, run } = accept(request, record, sources);
      if (run !== undefined) anonymous.set(reminder.id, run);
      try {
        await keep(reminder);
      } catch (error) {
        armed.delete(reminder.id);
        times.delete(reminder.id);
        anonymous.delete(reminder.id);
        throw error;
      }
      armFor(reminder.id);
      return infoOf(reminder);
    },

    list(sessionId) {
      return [...armed.values()]
        .filter((reminder) => sessionId === undefined || reminder.sessionId === sessionId)
        .sort((left, right) => (left.nextAt < right.nextAt ? -1 : left.nextAt > right.nextAt ? 1 : 0))
        .map(infoOf);
    },

    has: (id) => armed.has(id),

    cancel: drop,

    async dispatch(id): Promise<DispatchedReminder> {
      // One at a time: the clock may be at it.
      while (going.has(id)) await going.get(id)?.catch(() => undefined);
      const reminder = armed.get(id);
      if (reminder === undefined) throw fail("not_found", `there is no reminder ${id}`);
      const handler = handlerFor(reminder);
      if (reminder.prompt === undefined && handler === undefined) {
        throw fail("unknown_handler", `there is no handler "${reminder.handler}" in reminders/`);
      }
      try {
        const fired = firing.fire(reminder, handler, sources.makeId("hand_"));
        const { action, sessionIds, error } = await track(id, fired);
        failed.delete(id);
        if (error !== undefined) throw error;
        return { reminderId: id, action, sessionIds };
      } catch (error) {
        if (error instanceof Error && error.name === "RuntimeError") throw error;
        throw fail("internal", `reminder ${id} failed; the server's log says why`);
      }
    },

    async settled() {
      isStarted = false;
      disarm();
      backlog.clear();
      while (going.size > 0) await Promise.allSettled(going.values());
    },
  };
}

/** A reminder as its makers see it. */
function infoOf(reminder: StoredReminder): ReminderInfo {
  const { id, purpose, channelId, sessionId, nextAt, handler, prompt, until } = reminder;
  return {
    id,
    purpose,
    channelId,
    sessionId,
    nextAt,
    recurring: reminder.every !== undefined || reminder.cron !== undefined,
    ...(handler !== undefined && { handler }),
    ...(prompt !== undefined && { prompt }),
    ...(until !== undefined && { until }),
  };
}
