import { setMaxListeners } from "node:events";
import type { CallOutcome } from "../session/ports.js";
import { failed, failedWith } from "./result.js";

/** How long an interrupted call may take to end by itself, in milliseconds. Decision 32. */
const settleMs = 10_000;

/**
 * Waits for a call: to its end, to its timeout, or, once `signal` aborts, ten more seconds. `abort` tells the tool.
 */
export function settle(
  running: PromiseLike<unknown>,
  limits: { readonly toolName: string; readonly timeoutMs: number; readonly signal: AbortSignal | undefined },
  abort: (reason: Error) => void,
  toOutcome: (value: unknown) => CallOutcome | Promise<CallOutcome>,
): Promise<CallOutcome> {
  const { toolName, timeoutMs, signal } = limits;
  return new Promise((resolve) => {
    let timer = setTimeout(() => {
      const message = `"${toolName}" did not finish within ${timeoutMs / 1000} s; whether it took effect is unknown`;
      abort(new Error(message));
      end({ ...failed(message), unknown: true });
    }, timeoutMs);
    const onAbort = () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        const message = `"${toolName}" was interrupted and did not end within ${settleMs / 1000} s; whether it took effect is unknown`;
        end({ ...failed(message), unknown: true });
      }, settleMs);
      abort(signal?.reason instanceof Error ? signal.reason : new Error("interrupted"));
    };
    const end = (outcome: CallOutcome) => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      resolve(outcome);
    };
    if (signal?.aborted === true) onAbort();
    else if (signal !== undefined) {
      // One signal interrupts many calls: a turn's, or all that run when the server closes. Eleven are no leak.
      setMaxListeners(0, signal);
      signal.addEventListener("abort", onAbort, { once: true });
    }
    Promise.resolve(running)
      .then(toOutcome)
      .then(end, (error: unknown) => end(failedWith(error)));
  });
}
