import { ApiError, streamEvents } from "./api.js";
import type { WireEvent } from "./events.js";

/** Milliseconds before the first reconnect; doubled for each that fails, up to eight seconds. */
const firstDelay = 250;

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener(
      "abort",
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}

/**
 * Follows a session until `signal` aborts. A broken connection is taken up again after the last event that arrived.
 *
 * @param onProblem what is wrong at the moment, or `undefined` when it works again
 */
export async function follow(
  sessionId: string,
  signal: AbortSignal,
  onEvents: (events: readonly WireEvent[]) => void,
  onProblem: (message: string | undefined) => void,
): Promise<void> {
  let next = 0;
  let delay = firstDelay;
  let batch: WireEvent[] = [];
  const flush = () => {
    if (batch.length === 0 || signal.aborted) return;
    onEvents(batch);
    batch = [];
  };
  while (!signal.aborted) {
    try {
      for await (const event of streamEvents(sessionId, next, signal)) {
        if (batch.length === 0) requestAnimationFrame(flush);
        batch.push(event);
        next = event.index + 1;
        delay = firstDelay;
        onProblem(undefined);
      }
      flush();
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiError && error.status < 500) return onProblem(error.message);
      onProblem("The connection broke; trying again…");
    }
    await wait(delay, signal);
    delay = Math.min(delay * 2, 8_000);
  }
}
