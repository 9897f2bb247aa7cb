import { once } from "node:events";
import type { FastifyReply } from "fastify";

/** Recorded events as JSON texts, some at a time, pulled as fast as the client reads. */
export type LineBatches = AsyncIterable<readonly string[]>;

/** How often a quiet event stream says that it is alive, in milliseconds; proxies cut connections at 60 s. */
const keepAliveMs = 15_000;

/**
 * Writes batches to a response as they come, waiting whenever the client is slower than the log: nothing piles up in
 * memory. Ends with the batches, when the client leaves, or when `signal` aborts.
 */
export async function writeLines(
  reply: FastifyReply,
  batches: LineBatches,
  render: (lines: readonly string[]) => string,
  options: {
    readonly signal: AbortSignal;
    readonly keepAlive?: string;
    readonly before?: string;
    readonly after?: string;
  },
): Promise<void> {
  const response = reply.raw;
  response.writeHead(200, reply.getHeaders() as Record<string, string>);
  // The head alone tells a client that the stream is open, long before the first event.
  response.flushHeaders();
  const { keepAlive } = options;
  const timer = keepAlive === undefined ? undefined : setInterval(() => response.write(keepAlive), keepAliveMs).unref();
  try {
    if (options.before !== undefined) response.write(options.before);
    for await (const lines of batches) {
      if (response.destroyed) return;
      if (lines.length === 0 || response.write(render(lines))) continue;
      if (!(await drained(response, options.signal))) break;
    }
    if (options.after !== undefined) response.write(options.after);
    response.end();
  } finally {
    clearInterval(timer);
  }
}

/** Waits until the client has taken what was written; `false` when it left or the host closes. */
async function drained(response: FastifyReply["raw"], signal: AbortSignal): Promise<boolean> {
  const stop = new AbortController();
  const abort = () => stop.abort();
  response.once("close", abort);
  signal.addEventListener("abort", abort, { once: true });
  try {
    if (response.destroyed || signal.aborted) return false;
    await once(response, "drain", { signal: stop.signal });
    return true;
  } catch (error) {
    if (stop.signal.aborted) return false;
    throw error;
  } finally {
    response.off("close", abort);
    signal.removeEventListener("abort", abort);
  }
}
