/** What a proxy in front of us says of the caller; believed under `--trust-proxy` only. */
import type { FastifyRequest } from "fastify";

/**
 * Address of the caller: the socket's, or what the trusted proxy appended to `X-Forwarded-For`. That is the last entry:
 * whatever stands before it came with the request and may be invented.
 */
export function callerAddress(request: FastifyRequest, trustProxy: boolean): string {
  const peer = request.socket.remoteAddress ?? "unknown";
  const told = trustProxy ? lastOf(request.headers["x-forwarded-for"]) : undefined;
  return told === undefined ? peer : withoutPort(told);
}

/** Some proxies add the port, another one for each connection: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function withoutPort(told: string): string {
  const match = /^(?:\[([0-9a-f:.]+)\](?::\d+)?|(\d+(?:\.\d+){3}):\d+)$/i.exec(told);
  return match?.[1] ?? match?.[2] ?? told;
}

/** The host that the trusted proxy was asked for. */
export function forwardedHost(request: FastifyRequest): string | undefined {
  return lastOf(request.headers["x-forwarded-host"]);
}

/** Base of a request's URL as the caller wrote it; `base` when the trusted proxy does not say. */
export function forwardedBase(request: FastifyRequest, base: string): string {
  const host = forwardedHost(request);
  const scheme = lastOf(request.headers["x-forwarded-proto"]);
  if (host === undefined || !/^https?$/.test(scheme ?? "https")) return base;
  const url = `${scheme ?? new URL(base).protocol.slice(0, -1)}://${host}`;
  return URL.canParse(url) ? url : base;
}

function lastOf(header: string | readonly string[] | undefined): string | undefined {
  const text = typeof header === "string" ? header : header?.at(-1);
  return text?.split(",").at(-1)?.trim() || undefined;
}
