import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Principal } from "../../auth/principal.js";

/** What has become of a principal's allowance. */
export interface Allowance {
  readonly isExceeded: boolean;
  /** Seconds until requests are answered again. */
  readonly retryAfterS: number;
}

/** Counts a request against an allowance. */
export type RateLimiter = (request: FastifyRequest, key: string) => Promise<Allowance>;

/** What the section `rate-limit` exports. */
export interface RateLimitSection {
  /** To be called before the app is ready. `max`: requests a minute for each key. */
  addRateLimiter(app: FastifyInstance, max: number): RateLimiter;
  /** The address as a key: one for all that somebody is likely to have. */
  keyOfAddress(address: string): string;
}

/**
 * Whose allowance a request counts against: the principal's; for callers that nobody knows, their address's. Signed
 * webhooks (kind `channel`) have none: a service that sends events can't send fewer of them.
 */
export function allowanceOf(principal: Principal | undefined, address: () => string): string | undefined {
  if (principal === undefined || principal.kind === "anonymous") return `address ${address()}`;
  return principal.kind === "channel" ? undefined : `${principal.kind}:${principal.id}`;
}
