import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Principal } from "../auth/principal.js";
import { RuntimeError } from "../errors.js";
import { callerAddress } from "./forwarded.js";
import { allowanceOf, type RateLimiter, type RateLimitSection } from "./rate-limit/contract.js";

/** Counts a request against its caller's allowance; rejects with 429 `rate_limited` when that is used up. */
export type Meter = (request: FastifyRequest, reply: FastifyReply, principal: Principal | undefined) => Promise<void>;

/** The meter of a host, and how it is joined with the app once there is one. */
export function createMeter(
  { addRateLimiter, keyOfAddress }: RateLimitSection,
  { max, trustProxy }: { readonly max: number; readonly trustProxy: boolean },
): { readonly meter: Meter; attach(app: FastifyInstance): void } {
  let limiter: RateLimiter | undefined;
  return {
    attach(app) {
      limiter = addRateLimiter(app, max);
    },
    async meter(request, reply, principal) {
      const key = allowanceOf(principal, () => keyOfAddress(callerAddress(request, trustProxy)));
      if (key === undefined || limiter === undefined) return;
      const { isExceeded, retryAfterS } = await limiter(request, key);
      if (!isExceeded) return;
      reply.header("retry-after", String(retryAfterS));
      throw new RuntimeError("rate_limited", `more than ${max} requests in a minute; try again in ${retryAfterS} s`);
    },
  };
}
