/** Lets an agent's requests to another agent of the same host in as the principal they are made for. */
import { createHmac, randomBytes } from "node:crypto";
import type { AuthRequest } from "./loopback.js";
import type { AuthPolicy } from "./policy.js";
import type { Principal } from "./principal.js";
import { matchSecret } from "./secret.js";

/** The header that carries a pass. */
export const peerHeader = "x-bdk-peer";

/** How long a pass is good for, in milliseconds: it is made for one request. */
const goodForMs = 30_000;

/** Passes of one process, and the policy that knows them. */
export interface PeerPasses {
  /** Headers for one request that is made for this principal. */
  issue(principal: Principal): Readonly<Record<string, string>>;
  /** Admits whoever shows a pass of this process, as the principal it was issued for. */
  readonly policy: AuthPolicy;
}

/**
 * Makes passes with a key that only this process has. Whoever a pass admits owns what it makes, and sees what that owner
 * sees, but never more: rights over sessions of others are not passed on, since a model chooses what is asked.
 */
export function createPeerPasses(now: () => number = Date.now): PeerPasses {
  const key = randomBytes(32);
  const sign = (body: string) => createHmac("sha256", key).update(body).digest("base64url");
  return {
    issue({ kind, id, claims, hops = 0 }) {
      const told = { kind, id, ...(claims !== undefined && { claims }), hops: hops + 1, until: now() + goodForMs };
      const body = Buffer.from(JSON.stringify(told)).toString("base64url");
      return { [peerHeader]: `${body}.${sign(body)}` };
    },
    policy: {
      name: "peer",
      admit(request: AuthRequest) {
        const pass = request.headers[peerHeader];
        const [body, signature, ...more] = typeof pass === "string" ? pass.split(".") : [];
        if (body === undefined || signature === undefined || more.length > 0) return undefined;
        if (!matchSecret(sign(body))(signature)) return undefined;
        const { until, ...principal } = JSON.parse(Buffer.from(body, "base64url").toString()) as Principal & {
          readonly until: number;
        };
        return now() > until ? undefined : { ...principal, isPeer: true };
      },
    },
  };
}
