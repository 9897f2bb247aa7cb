/** How requests reach a model's endpoint: never past it, and never without end. */

/** Hops within the endpoint's own origin, such as one to a path with a slash. */
const maximalHops = 3;

/** What is wrong with an endpoint itself: trying again would not help. Its message goes on after the provider's name. */
export class EndpointError extends Error {
  override readonly name = "EndpointError";
}

/**
 * The `fetch` that provider packages are given.
 *
 * - A redirect to another origin is refused: the prompt would go there, and with some providers the key.
 * - An endpoint that says nothing for `silenceMs` fails the request.
 */
export function createEndpointFetch(silenceMs: number): typeof fetch {
  return async (input, init = {}) => {
    const watch = new SilenceWatch(silenceMs, init.signal ?? undefined);
    const response = await watch.during(() => follow(requestUrl(input), init, watch.signal));
    if (response.body === null) return response;
    const { status, statusText, headers } = response;
    return new Response(watched(response.body, watch), { status, statusText, headers });
  };
}

async function follow(start: string, init: RequestInit, signal: AbortSignal): Promise<Response> {
  let url = start;
  for (let hop = 0; ; hop += 1) {
    const response = await fetch(url, { ...init, redirect: "manual", signal });
    const location = response.headers.get("location");
    if (response.status < 300 || response.status >= 400 || location === null) return response;
    await response.body?.cancel();
    const next = new URL(location, url);
    const isSame = next.origin === new URL(start).origin;
    // Only these two repeat the request as it was.
    if (!isSame || (response.status !== 307 && response.status !== 308) || hop === maximalHops) {
      throw new EndpointError(
        `redirects from ${new URL(url).origin} to ${next.origin}${next.pathname} (${response.status}), and is not followed: the key stays where it was meant for`,
      );
    }
    url = next.href;
  }
}

/** The body as it is, each wait for a piece of it watched. What nobody reads is not waited for. */
function watched(body: ReadableStream<Uint8Array>, watch: SilenceWatch): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await watch.during(() => reader.read());
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/** Aborts when a wait takes too long. */
class SilenceWatch {
  readonly signal: AbortSignal;
  readonly #silence = new AbortController();
  readonly #ms: number;

  constructor(ms: number, outer: AbortSignal | undefined) {
    this.#ms = ms;
    this.signal = outer === undefined ? this.#silence.signal : AbortSignal.any([outer, this.#silence.signal]);
  }

  async during<T>(wait: () => Promise<T>): Promise<T> {
    const late = () => this.#silence.abort(new EndpointError(`said nothing for ${this.#ms / 1000} s`));
    const timer = setTimeout(late, this.#ms);
    try {
      return await wait();
    } catch (error) {
      // Whatever the request makes of being aborted, this is why it was.
      throw this.#silence.signal.aborted ? this.#silence.signal.reason : error;
    } finally {
      clearTimeout(timer);
    }
  }
}

function requestUrl(input: string | URL | Request): string {
  return input instanceof Request ? input.url : String(input);
}
