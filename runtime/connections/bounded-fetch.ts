/** `fetch` for servers that may answer without end: a message that is too large ends the answer. */
import { ConnectionError } from "./error.js";

/** Largest message, in bytes. */
const largest = 32 * 1024 * 1024;

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** Passes answers on as they come; an event stream may be as long as it likes, of events that are not too large. */
export function boundedFetch(inner: Fetch = fetch): Fetch {
  return async (url, init) => {
    const response = await inner(url, init);
    if (response.body === null) return response;
    const isStream = response.headers.get("content-type")?.includes("text/event-stream") === true;
    const { status, statusText, headers } = response;
    return new Response(response.body.pipeThrough(bounded(isStream)), { status, statusText, headers });
  };
}

function bounded(isStream: boolean): TransformStream<Uint8Array, Uint8Array> {
  let size = 0;
  return new TransformStream({
    transform(chunk, controller) {
      // An event ends at an empty line: what comes after one is another message.
      const end = isStream ? Math.max(lastIndexOf(chunk, "\n\n"), lastIndexOf(chunk, "\n\r\n")) : -1;
      size = end < 0 ? size + chunk.length : chunk.length - end;
      if (size <= largest) return controller.enqueue(chunk);
      const message = `it answered with more than ${largest / 1024 / 1024} MiB`;
      controller.error(new ConnectionError("connection_refused", message, { isUnknown: true }));
    },
  });
}

function lastIndexOf(chunk: Uint8Array, ending: string): number {
  return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).lastIndexOf(ending);
}
