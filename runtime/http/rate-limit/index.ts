/** The optional part of the runtime behind `--rate-limit`. Built on `@fastify/rate-limit`. */
import rateLimit, { normalizeIP, type RateLimitPluginOptions } from "@fastify/rate-limit";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { RateLimiter } from "./contract.js";

const windowMs = 60_000;

/** Principals counted at a time; the one not heard of for longest is forgotten first. */
const mostKeys = 10_000;

/** For the whole app, as the package has it; without its check of fastify's version, which is part of no bundle. */
const plugin = Object.assign(
  (app: FastifyInstance, options: RateLimitPluginOptions) => rateLimit(app, options, () => undefined),
  {
    [Symbol.for("skip-override")]: true,
  },
);

export function addRateLimiter(app: FastifyInstance, max: number): RateLimiter {
  const keys = new WeakMap<FastifyRequest, string>();
  let check: ReturnType<FastifyInstance["createRateLimit"]> | undefined;
  app.register(plugin, {
    global: false,
    max,
    timeWindow: windowMs,
    cache: mostKeys,
    keyGenerator: (request) => keys.get(request) ?? "",
  });
  return async (request, key) => {
    // The plugin is there once the app is ready.
    check ??= app.createRateLimit();
    keys.set(request, key);
    const found = await check(request);
    return found.isAllowed
      ? { isExceeded: false, retryAfterS: 0 }
      : { isExceeded: found.isExceeded, retryAfterS: Math.max(1, found.ttlInSeconds) };
  };
}

/** One key for all addresses that somebody is likely to have: of IPv6, the /64 network. */
export function keyOfAddress(address: string): string {
  return normalizeIP(address);
}
