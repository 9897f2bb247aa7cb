/** Lets an agent's requests to another agent of the same host in as the principal they are made for. */
import { createHash, randomBytes } from "node:crypto";
import type { AuthRequest } from "./loopback.js";
import type { AuthPolicy } from "./policy.js";
import type { Principal } from "./principal.js";

/** The header that carries a pass. */
export const peerHeader = "x-bdk-peer";

/** How long a pass that nobody has shown is good for, in milliseconds: it is made for one request. */
const goodForMs = 30_000;

/** Passes of one process, and the policy that knows them. */
export interface PeerPasses {
  /** Headers for one request that is made for this principal. */
  issue(principal: Principal): Readonly<Record<string, string>>;
  /** Admits whoever shows a pass of this process, once, as the principal it was issued for. */
  readonly policy: AuthPolicy;
}

/**
 * Makes passes that say nothing and that only this process knows. Whoever one admits owns what it makes, and sees what
 * that owner sees, but never more: rights over sessions of others are not passed on, since a model chooses what is asked.
 */
export function createPeerPasses(now: () => number = Date.now): PeerPasses {
  /** Those that are under way, oldest first, by their hash: how long a look-up takes tells nothing of a pass. */
  const underWay = new Map<string, { readonly principal: Principal; readonly until: number }>();
  const hash = (pass: string) => createHash("sha256").update(pass).digest("base64");

  function forgetOld(): void {
    for (const [key, { until }] of underWay) {
      if (until >= now()) return;
      underWay.delete(key);
    }
  }

  return {
    issue(principal) {
      forgetOld();
      const pass = randomBytes(32).toString("base64url");
      const hops = (principal.hops ?? 0) + 1;
      underWay.set(hash(pass), { principal: { ...principal, hops, isPeer: true }, until: now() + goodForMs });
      return { [peerHeader]: pass };
    },
    policy: {
      name: "peer",
      admit(request: AuthRequest) {
        const pass = request.headers[peerHeader];
        if (typeof pass !== "string") return undefined;
        const key = hash(pass);
        const found = underWay.get(key);
        underWay.delete(key);
        return found === undefined || now() > found.until ? undefined : found.principal;
      },
    },
  };
}
