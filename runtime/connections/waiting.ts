/** Waiting for what may never come. */
import type { Clock } from "../session/ports.js";

/** `undefined` when it takes longer; then nobody is told of a later failure. */
export function within<T>(promise: Promise<T>, ms: number, clock: Clock): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const callOff = clock.after(ms, () => resolve(undefined));
    promise.then(resolve, reject).finally(callOff);
  });
}

/** Stops waiting; what others wait for goes on. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) return stop();
    signal.addEventListener("abort", stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
