import type { Clock } from "../../../runtime/session/ports.js";

/** A clock that the test moves. */
export interface TestClock extends Clock {
  /** Moves to an instant, waking whoever is due on the way. */
  moveTo(instant: string): void;
}

/** Sleeps of a second and more are the test's; shorter ones are real. */
export function clockAt(instant: string): TestClock {
  let now = Date.parse(instant);
  const sleeping = new Set<{ readonly at: number; readonly wake: () => void }>();
  return {
    now: () => now,
    after(ms, callback) {
      if (ms < 1_000) {
        const timer = setTimeout(callback, ms);
        return () => clearTimeout(timer);
      }
      const sleeper = { at: now + ms, wake: callback };
      sleeping.add(sleeper);
      return () => sleeping.delete(sleeper);
    },
    moveTo(next) {
      const end = Date.parse(next);
      for (;;) {
        const [first] = [...sleeping].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
        if (first === undefined) break;
        sleeping.delete(first);
        now = Math.max(now, first.at);
        first.wake();
      }
      now = end;
    },
  };
}
