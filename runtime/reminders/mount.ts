/** An agent's reminders as the rest of the runtime holds them: the optional part is loaded when something needs it. */
import type { HostRemindersApi, ReminderCreate, ReminderInfo } from "../authoring/host.js";
import type { Sections } from "../host/sections.js";
import type { Log, SessionRecord } from "../session/ports.js";
import type { DispatchedReminder, ReminderSources, Reminders, RemindersSection } from "./contract.js";

/** Reminders that cost nothing while there are none. */
export interface ReminderMount {
  /** Fires by the clock from now on. */
  start(): Promise<void>;
  /** The running code is new. */
  rearm(): Promise<void>;
  /** `ctx.host.reminders`, in a session or outside any. */
  api(record: SessionRecord | undefined): HostRemindersApi;
  has(id: string): Promise<boolean>;
  dispatch(id: string): Promise<DispatchedReminder>;
  /** Fires no more; resolves when nothing is being fired, or after `graceMs` milliseconds (default 10 s). */
  settled(graceMs?: number): Promise<void>;
}

/** @param hasStored whether an earlier process left reminders */
export function mountReminders(
  sections: Sections,
  hasStored: () => boolean,
  sources: () => ReminderSources,
  log: Log,
): ReminderMount {
  let loading: Promise<Reminders> | undefined;
  /** Whether the clock is to be listened to at all: not under `--dev`. */
  let isStarted = false;

  function load(): Promise<Reminders> {
    loading ??= open();
    return loading;
  }

  async function open(): Promise<Reminders> {
    const section = (await sections.reminders?.()) as RemindersSection | undefined;
    if (section === undefined) {
      throw new Error("this server was built without reminders; build it with `bdk build --include reminders`");
    }
    const reminders = section.createReminders(sources());
    if (isStarted) reminders.start();
    return reminders;
  }

  /** Looks, and loads nothing when there is nothing to see. */
  async function look<T>(none: T, act: (reminders: Reminders) => T | Promise<T>): Promise<T> {
    return loading !== undefined || hasStored() ? act(await load()) : none;
  }

  return {
    async start() {
      isStarted = true;
      try {
        await look(undefined, (reminders) => reminders.start());
      } catch (error) {
        // The rest of the server has nothing to do with it.
        log("error", `reminders are armed and can't be fired: ${error instanceof Error ? error.message : error}`);
      }
    },
    async rearm() {
      if (loading !== undefined) (await loading).rearm();
    },
    api: (record) => ({
      create: async (reminder: ReminderCreate) => (await load()).create(reminder, record),
      list: () => look<readonly ReminderInfo[]>([], (reminders) => reminders.list(record?.id)),
      cancel: (id) =>
        look(false, (reminders) => {
          const isOwn = record === undefined || reminders.list(record.id).some((each) => each.id === id);
          return isOwn && reminders.cancel(id);
        }),
    }),
    has: (id) => look(false, (reminders) => reminders.has(id)),
    dispatch: async (id) => (await load()).dispatch(id),
    async settled(graceMs = 10_000) {
      isStarted = false;
      if (loading === undefined) return;
      const reminders = await loading.catch(() => undefined); // whoever asked for it was told
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, graceMs);
      });
      await Promise.race([reminders?.settled(), late]);
      clearTimeout(timer);
    },
  };
}
