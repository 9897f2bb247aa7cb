/** An agent's schedules as the rest of the runtime holds them: the optional part is loaded when something needs it. */
import type { Sections } from "../host/sections.js";
import type { AgentGeneration } from "../manifest/bundle.js";
import type { Dispatched, ScheduleSources, Schedules, SchedulesSection } from "./contract.js";

/** Schedules that cost nothing while there are none. */
export interface ScheduleMount {
  /** Fires by the clock from now on. */
  start(): Promise<void>;
  /** The running code is new. */
  rearm(): Promise<void>;
  dispatch(scheduleId: string): Promise<Dispatched>;
  /** Fires no more; resolves when no run is going, or after `graceMs` milliseconds (default 10 s). */
  settled(graceMs?: number): Promise<void>;
}

export function mountSchedules(
  sections: Sections,
  generation: () => AgentGeneration,
  sources: () => ScheduleSources,
): ScheduleMount {
  let loading: Promise<Schedules> | undefined;
  /** Whether the clock is to be listened to at all: not under `--dev`. */
  let isStarted = false;

  function load(): Promise<Schedules> {
    loading ??= open();
    return loading;
  }

  async function open(): Promise<Schedules> {
    const section = (await sections.schedules?.()) as SchedulesSection | undefined;
    if (section === undefined) {
      throw new Error("this server was built without schedules; build it with `bdk build --include schedules`");
    }
    return section.createSchedules(sources());
  }

  return {
    async start() {
      isStarted = true;
      if (generation().agent.schedules.length > 0) await (await load()).start();
    },
    async rearm() {
      if (!isStarted || (generation().agent.schedules.length === 0 && loading === undefined)) return;
      const schedules = await load();
      await schedules.start();
      schedules.rearm();
    },
    async dispatch(scheduleId) {
      return (await load()).dispatch(scheduleId);
    },
    async settled(graceMs = 10_000) {
      isStarted = false;
      if (loading === undefined) return;
      const schedules = await loading;
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, graceMs);
      });
      await Promise.race([schedules.settled(), late]);
      clearTimeout(timer);
    },
  };
}
