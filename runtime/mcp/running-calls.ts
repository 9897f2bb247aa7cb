/** Calls that run, so that their client can take them back by their id. Source: MCP 2025-11-25, Cancellation. */
import type { Caller } from "../session/service.js";
import type { RpcId } from "./message.js";

/** Something that ends when its client no longer wants it. */
export interface Cancellable {
  cancel(reason: Error): void;
}

/**
 * The calls at one URL of this process, by who made them. Revisions before 2026-07-28 say by its id which request is cancelled, and
 * there are no sessions to tell clients of one principal apart: an id that two of them use at a time cancels nothing, and
 * neither does whoever the server does not know.
 */
export class RunningCalls {
  readonly #running = new Map<string, Set<Cancellable>>();

  /** @returns what to call when the call has ended */
  begin(caller: Caller, id: RpcId, call: Cancellable): () => void {
    const key = keyOf(caller, id);
    if (key === undefined) return () => undefined;
    const calls = this.#running.get(key) ?? new Set();
    this.#running.set(key, calls.add(call));
    return () => {
      calls.delete(call);
      if (calls.size === 0) this.#running.delete(key);
    };
  }

  /** Cancels the one call that is meant. Whatever else a client may name is passed over: it may have ended just now. */
  cancel(caller: Caller, id: unknown): void {
    const key = typeof id === "string" || typeof id === "number" ? keyOf(caller, id) : undefined;
    const calls = key === undefined ? undefined : this.#running.get(key);
    if (calls?.size !== 1) return;
    for (const call of calls) call.cancel(new Error("the client cancelled the request"));
  }
}

function keyOf({ owner, auth }: Caller, id: RpcId): string | undefined {
  return auth.kind === "anonymous" ? undefined : JSON.stringify([owner, id]);
}
