/** Headers by which a proxy or a tunnel speaks for somebody else. Their presence means: the caller is not this machine. */
const forwardingHeaders: ReadonlySet<string> = new Set([
  "forwarded",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
  "x-forwarded-port",
  "x-forwarded-server",
  "x-original-forwarded-for",
  "x-original-host",
  "x-real-ip",
  "x-client-ip",
  "x-cluster-client-ip",
  "x-envoy-external-address",
  "cf-connecting-ip",
  "fastly-client-ip",
  "fly-client-ip",
  "true-client-ip",
  "via",
]);

/** What an auth policy may look at; header names in lower case. */
export interface AuthRequest {
  /** Address of the other end of the socket; absent when the socket is gone already. */
  readonly peer: string | undefined;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The host that a trusted proxy was asked for; absent without `--trust-proxy`. */
  readonly forwardedHost?: string | undefined;
  /** The operator lets pages of the request's origin in (`--cors-origin`). */
  readonly isAllowedOrigin?: boolean;
}

/** Whether an address is of this machine: `127.0.0.0/8`, `::1`, also written as an IPv4-mapped address. */
export function isLoopbackAddress(address: string | undefined): boolean {
  if (address === undefined) return false;
  const plain = address.toLowerCase().startsWith("::ffff:") ? address.slice(7) : address;
  return plain === "::1" || /^127(?:\.\d{1,3}){3}$/.test(plain);
}

/** Whether a `Host` header (`localhost:3000`, `[::1]:3000`) names this machine. */
export function isLoopbackHost(host: string): boolean {
  const match = /^(\[[0-9a-f:]+\]|[^:[\]]+)(?::\d{1,5})?$/i.exec(host);
  const name = match?.[1]?.toLowerCase();
  if (name === undefined) return false;
  if (name.startsWith("[")) return isLoopbackAddress(name.slice(1, -1));
  return name === "localhost" || name.endsWith(".localhost") || isLoopbackAddress(name);
}

/** Whether an `Origin` header is a page served by this machine; `null` and odd schemes are not. */
export function isLoopbackOrigin(origin: string): boolean {
  const host = /^https?:\/\/([^/]+)$/i.exec(origin)?.[1];
  return host !== undefined && isLoopbackHost(host);
}

/**
 * A direct call from this machine: loopback peer, no forwarding header, and a Host (and Origin, when a browser sends
 * one) that is loopback too, or an origin that the operator named. The last part is what stops a web page that rebinds
 * its own name to 127.0.0.1. A trusted proxy changes nothing: whoever came through it did not call directly. Decision 24.
 */
export function isDirectLoopback(request: AuthRequest): boolean {
  if (!isKnownLoopbackAddress(request.peer)) return false;
  // A request has few headers: asking each is cheaper than asking for all that there might be.
  for (const name in request.headers) if (forwardingHeaders.has(name)) return false;
  const { host, origin } = request.headers;
  if (typeof host !== "string" || !isKnownLoopbackHost(host)) return false;
  if (origin === undefined || request.isAllowedOrigin === true) return true;
  return typeof origin === "string" && isLoopbackOrigin(origin);
}

/** Callers come back with the same address and the same Host: the last answer is nearly always the next one. */
function remember<T>(check: (value: T) => boolean): (value: T) => boolean {
  let last: { readonly value: T; readonly answer: boolean } | undefined;
  return (value) => {
    if (last?.value !== value) last = { value, answer: check(value) };
    return last.answer;
  };
}

const isKnownLoopbackAddress = remember(isLoopbackAddress);
const isKnownLoopbackHost = remember(isLoopbackHost);
