/**
 * Lets work in while there is time for it. A burst of webhooks has to be acknowledged within seconds, and what each of
 * them starts may wait: it is on disk already.
 */
import { type EventLoopUtilization, performance } from "node:perf_hooks";

/** Milliseconds over which it is seen how busy the process is. */
const window = 20;
/** Share of that time above which new work waits. */
const busy = 0.6;
/** Milliseconds after which the next one is let in all the same, so that nothing stands still. */
const longestPause = 250;

export interface Turnstile {
  /** Resolves when it is the caller's turn, in order; at once when the signal aborts. */
  pass(signal?: AbortSignal): Promise<void>;
}

export function createTurnstile(): Turnstile {
  const waiting: (() => void)[] = [];
  let seen: EventLoopUtilization = performance.eventLoopUtilization();
  let seenAt = performance.now();
  let isBusy = false;
  let lastPass = 0;
  let isTicking = false;

  function look(): void {
    const now = performance.now();
    if (now - seenAt < window) return;
    const next = performance.eventLoopUtilization();
    // A stretch of quiet before says nothing of now.
    isBusy = now - seenAt < 10 * window && performance.eventLoopUtilization(next, seen).utilization > busy;
    seen = next;
    seenAt = now;
  }

  function tick(): void {
    look();
    const now = performance.now();
    if (!isBusy || now - lastPass >= longestPause) {
      lastPass = now;
      waiting.shift()?.();
    }
    isTicking = waiting.length > 0;
    if (isTicking) setTimeout(tick, 5);
  }

  function leave(resolve: () => void): void {
    const at = waiting.indexOf(resolve);
    if (at >= 0) waiting.splice(at, 1);
    resolve();
  }

  return {
    pass(signal) {
      look();
      if (waiting.length === 0 && !isBusy) {
        lastPass = performance.now();
        return Promise.resolve();
      }
      return new Promise((resolve) => {
        waiting.push(resolve);
        signal?.addEventListener("abort", () => leave(resolve), { once: true });
        if (!isTicking) setTimeout(tick, 5);
        isTicking = true;
      });
    },
  };
}
