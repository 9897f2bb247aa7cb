import type { Clock } from "./ports.js";

/** Milliseconds since `startedAt`, a time of the same clock; none when the clock was set back meanwhile. */
export function elapsed(clock: Clock, startedAt: number): number {
  return Math.max(clock.now() - startedAt, 0);
}
