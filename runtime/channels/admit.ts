import { createHmac } from "node:crypto";
import { allowAll, authenticate, bearerAuth, type AuthPolicy as HostPolicy, localDevStrict } from "../auth/policy.js";
import { matchSecret } from "../auth/secret.js";
import type { AuthFn, AuthPolicy, HmacAuthOptions } from "../authoring/channels.js";
import type { SessionAuth } from "../authoring/host.js";
import type { Log } from "../session/ports.js";
import type { ChannelRequest } from "./contract.js";

/** Decides who is calling; `undefined` leaves the question to the next policy. */
type Admit = (
  request: ChannelRequest,
  asRequest: () => Promise<Request>,
) => SessionAuth | undefined | Promise<SessionAuth | undefined>;

/** A channel's policies, made ready once for each generation. */
export interface Gate {
  /** The first policy that admits says who is calling. */
  admit(request: ChannelRequest, asRequest: () => Promise<Request>): Promise<SessionAuth | undefined>;
  /** Value of `WWW-Authenticate`, when some policy takes credentials that it names. */
  readonly challenge: string | undefined;
}

/** The gate of a channel; without policies of its own, the host's. */
export function createGate(channelId: string, chain: readonly AuthFn[] | undefined, log: Log): Gate {
  const admits = chain?.map((policy) => toAdmit(channelId, policy, log)) ?? [fromHost];
  const schemes = new Set(chain?.map((policy) => (typeof policy === "function" ? "" : policy.scheme)) ?? ["bearer"]);
  const challenges = [
    ...(schemes.has("bearer") ? ["Bearer"] : []),
    ...(schemes.has("basic") ? [`Basic realm="${channelId}", charset="UTF-8"`] : []),
  ];
  return {
    async admit(request, asRequest) {
      for (const admit of admits) {
        const auth = await admit(request, asRequest);
        if (auth !== undefined) return auth;
      }
      return undefined;
    },
    challenge: challenges.length === 0 ? undefined : challenges.join(", "),
  };
}

const fromHost: Admit = (request) => authenticate(request.hostAuth, { peer: request.peer, headers: request.headers });

function toAdmit(channelId: string, policy: AuthFn, log: Log): Admit {
  if (typeof policy === "function") return customPolicy(channelId, policy);
  switch (policy.scheme) {
    case "local-dev-strict":
      return ofHost(localDevStrict());
    case "allow-all":
      return ofHost(allowAll());
    case "bearer":
      return isSecret(policy.token) ? ofHost(bearerAuth(policy.token, policy.id)) : nobody(channelId, policy, log);
    case "basic":
      return basicPolicy(policy.users);
    case "hmac":
      return isSecret(policy.options.secret) ? hmacPolicy(channelId, policy.options) : nobody(channelId, policy, log);
    case "oidc":
      return nobody(channelId, policy, log);
  }
}

/** An empty secret, often a variable that is not set, would be one that everybody knows. */
function isSecret(text: unknown): text is string {
  return typeof text === "string" && text !== "";
}

function nobody(channelId: string, { scheme }: AuthPolicy, log: Log): Admit {
  const reason = scheme === "oidc" ? "this version of bdk does not carry it out yet" : "its secret is empty";
  log("warn", `channel "${channelId}": its ${scheme} policy admits nobody: ${reason}`);
  return () => undefined;
}

function ofHost(policy: HostPolicy): Admit {
  return ({ peer, headers }) => policy.admit({ peer, headers });
}

function customPolicy(
  channelId: string,
  policy: (request: Request) => SessionAuth | null | Promise<SessionAuth | null>,
): Admit {
  return async (_request, asRequest) => {
    const auth: unknown = await policy(await asRequest());
    if (auth === null || auth === undefined) return undefined;
    if (typeof auth === "object" && "kind" in auth && "id" in auth) {
      if (isSecret(auth.kind) && isSecret(auth.id)) return auth as SessionAuth;
    }
    throw new TypeError(`an auth function of channel "${channelId}" must return { kind, id } or null`);
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
