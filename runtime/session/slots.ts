/** The running turns of one agent, counted against `maxRunningTurns`; those beyond wait in order of arrival. */
export interface TurnSlots {
  /** Takes a slot if one is free. */
  take(limit: number | undefined): boolean;
  /** Place in the queue that the next `wait` would get, from 1. */
  readonly nextPosition: number;
  /** Resolves with `true` once a slot is held, with `false` when `signal` aborts first. */
  wait(signal: AbortSignal): Promise<boolean>;
  release(limit: number | undefined): void;
}

export function createTurnSlots(): TurnSlots {
  let running = 0;
  const queue: (() => void)[] = [];
  const isFree = (limit: number | undefined) => limit === undefined || running < limit;

  return {
    take(limit) {
      if (queue.length > 0 || !isFree(limit)) return false;
      running += 1;
      return true;
    },
    get nextPosition() {
      return queue.length + 1;
    },
    wait(signal) {
      return new Promise((resolve) => {
        if (signal.aborted) return resolve(false);
        const leave = () => {
          queue.splice(queue.indexOf(enter), 1);
          resolve(false);
        };
        const enter = () => {
          signal.removeEventListener("abort", leave);
          running += 1;
          resolve(true);
        };
        signal.addEventListener("abort", leave, { once: true });
        queue.push(enter);
      });
    },
    release(limit) {
      running -= 1;
      while (queue.length > 0 && isFree(limit)) queue.shift()?.();
    },
  };
}
