import type { Clock } from "../../../runtime/session/ports.js";

/** A clock that the test moves. */
export interface TestClock extends Clock {
  /** Moves to an instant, waking whoever is due on the way. */
  moveTo(instant: string): void;
  /** Shows another time, as when somebody sets it: who sleeps, sleeps on for as long as before. */
  setTo(instant: string): void;
}

/** Sleeps of a second and more are the test's; shorter ones are real. */
export function clockAt(instant: string): TestClock {
  let now = Date.parse(instant);
  const sleeping = new Set<{ at: number; readonly wake: () => void }>();
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
    setTo(next) {
      const by = Date.parse(next) - now;
      now += by;
      for (const sleeper of sleeping) sleeper.at += by;
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
