/** A channel's policies: who is calling, or why nobody is let in. */
import { createHmac } from "node:crypto";
import { type OidcSection, problemOfOidc } from "../auth/oidc/contract.js";
import { allowAll, authenticate, bearerAuth, type AuthPolicy as HostPolicy, localDevStrict } from "../auth/policy.js";
import { matchSecret } from "../auth/secret.js";
import type { AuthFn, AuthPolicy, HmacAuthOptions } from "../authoring/channels.js";
import type { SessionAuth } from "../authoring/host.js";
import type { Log } from "../session/ports.js";
import type { ChannelRefusal, ChannelRequest } from "./contract.js";
import { oidcPolicy, readPrincipal } from "./oidc-policy.js";

/** A policy's word on credentials that were meant for it. Another policy may still admit the request. */
export interface Denial {
  readonly denied: "unauthorized" | "forbidden" | "auth_unavailable";
  readonly message: string;
  /** Value of `WWW-Authenticate`. */
  readonly challenge?: string;
}

type Admission = SessionAuth | Denial | undefined;

/** Decides who is calling; `undefined`, or a denial, leaves the question to the next policy. */
export type Admit = (request: ChannelRequest, asRequest: () => Promise<Request>) => Admission | Promise<Admission>;

/** A channel's policies, made ready once for each generation. */
export interface Gate {
  /** The first policy that admits says who is calling; if none does, the gravest denial says why. */
  admit(request: ChannelRequest, asRequest: () => Promise<Request>): Promise<SessionAuth | ChannelRefusal>;
}

/** What policies need of the world. */
export interface GateSources {
  readonly log: Log;
  readonly oidc: () => Promise<OidcSection>;
}

/** What a caller should hear first: that it may try again, then that it is known and not let in, then that it is not known. */
const gravity = { unauthorized: 0, forbidden: 1, auth_unavailable: 2 } as const;

/** The gate of a channel; without policies of its own, the host's. */
export function createGate(channelId: string, auth: readonly AuthFn[] | undefined, sources: GateSources): Gate {
  const chain = auth?.filter((policy, at) => {
    const isPolicy = typeof policy === "function" || (typeof policy === "object" && policy !== null);
    if (!isPolicy) sources.log("warn", `channel "${channelId}": auth.${at} is no policy, and admits nobody`);
    return isPolicy;
  });
  const issuers = new Set(
    chain?.flatMap((policy) => ("scheme" in policy && policy.scheme === "oidc" ? [policy.options.issuer] : [])),
  );
  const admits = chain?.map((policy) => toAdmit(channelId, policy, issuers.size > 1, sources)) ?? [fromHost];
  const schemes = new Set(chain?.map((policy) => (typeof policy === "function" ? "" : policy.scheme)) ?? ["bearer"]);
  const basic = schemes.has("basic") ? [`Basic realm="${channelId}", charset="UTF-8"`] : [];
  const bearer = schemes.has("bearer") || schemes.has("oidc") ? ["Bearer"] : [];
  return {
    async admit(request, asRequest) {
      let denial: Denial | undefined;
      for (const admit of admits) {
        const admission = await admit(request, asRequest);
        if (admission === undefined) continue;
        if (!("denied" in admission)) return admission;
        if (denial === undefined || gravity[admission.denied] > gravity[denial.denied]) denial = admission;
      }
      const code = denial?.denied ?? "unauthorized";
      const challenges = denial?.challenge === undefined ? bearer : [denial.challenge];
      const all = (
        code === "unauthorized" ? [...challenges, ...basic] : denial?.challenge === undefined ? [] : challenges
      ).join(", ");
      return {
        is: "refused",
        code,
        message: denial?.message ?? `channel "${channelId}" does not admit this request`,
        ...(all !== "" && { headers: { "www-authenticate": all } }),
      };
    },
  };
}

const fromHost: Admit = (request) => authenticate(request.hostAuth, request);

function toAdmit(channelId: string, policy: AuthFn, severalIssuers: boolean, sources: GateSources): Admit {
  const nobody = ({ scheme }: AuthPolicy, reason = "its secret is empty"): Admit => {
    sources.log("warn", `channel "${channelId}": its policy "${scheme}" admits nobody: ${reason}`);
    return () => undefined;
  };
  if (typeof policy === "function") return customPolicy(channelId, policy);
  switch (policy.scheme) {
    case "local-dev-strict":
      return ofHost(localDevStrict());
    case "allow-all":
      return ofHost(allowAll());
    case "bearer":
      return isSecret(policy.token) ? ofHost(bearerAuth(policy.token, policy.id)) : nobody(policy);
    case "basic":
      return basicPolicy(policy.users);
    case "hmac":
      return isSecret(policy.options.secret) ? hmacPolicy(channelId, policy.options) : nobody(policy);
    case "oidc": {
      const problem = problemOfOidc(policy.options);
      return problem === undefined ? oidcPolicy(policy.options, severalIssuers, sources) : nobody(policy, problem);
    }
    default:
      return nobody(policy, "it is unknown here");
  }
}

/** An empty secret, often a variable that is not set, would be one that everybody knows. */
function isSecret(text: unknown): text is string {
  return typeof text === "string" && text !== "";
}

function ofHost(policy: HostPolicy): Admit {
  return (request) => policy.admit(request);
}

function customPolicy(
  channelId: string,
  policy: (request: Request) => SessionAuth | null | Promise<SessionAuth | null>,
): Admit {
  return async (_request, asRequest) => {
    const auth: unknown = await policy(await asRequest());
    if (auth === null || auth === undefined) return undefined;
    return readPrincipal(auth, `an auth function of channel "${channelId}"`);
  };
}

function basicPolicy(users: Readonly<Record<string, string>>): Admit {
  const checks = new Map(
    Object.entries(users).flatMap(([user, password]) =>
      isSecret(password) ? [[user, matchSecret(password)] as const] : [],
    ),
  );
  // Asked for an unknown user, so that the answer takes as long as for a known one.
  const never = matchSecret("");
  return ({ headers }) => {
    const { authorization } = headers;
    const encoded = typeof authorization === "string" ? /^basic +([^\s]+) *$/i.exec(authorization)?.[1] : undefined;
    if (encoded === undefined) return undefined;
    const text = Buffer.from(encoded, "base64").toString("utf8");
    const colon = text.indexOf(":");
    if (colon < 0) return undefined;
    const user = text.slice(0, colon);
    const check = checks.get(user);
    const isRight = (check ?? never)(text.slice(colon + 1));
    return check !== undefined && isRight ? { kind: "basic", id: user } : undefined;
  };
}

function hmacPolicy(channelId: string, options: HmacAuthOptions): Admit {
  const { secret, algorithm = "sha256", encoding = "hex", prefix = "" } = options;
  const header = options.header.toLowerCase();
  return async (request) => {
    const sent = request.headers[header];
    if (typeof sent !== "string" || !sent.startsWith(prefix)) return undefined;
    const signature = sent.slice(prefix.length);
    const expected = createHmac(algorithm, secret)
      .update(await request.body())
      .digest(encoding);
    const isRight = matchSecret(expected)(encoding === "hex" ? signature.toLowerCase() : signature);
    return isRight ? { kind: "channel", id: channelId } : undefined;
  };
}
