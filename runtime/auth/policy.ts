import { type AuthRequest, isDirectLoopback, isLoopbackHost } from "./loopback.js";
import type { Principal } from "./principal.js";
import { matchSecret } from "./secret.js";

/** Decides who is calling; `undefined` leaves the question to the next policy of the chain. */
export interface AuthPolicy {
  readonly name: string;
  admit(request: AuthRequest): Principal | undefined | Promise<Principal | undefined>;
}

/** Admits direct calls from this machine and nobody else; the default policy. */
export function localDevStrict(): AuthPolicy {
  const principal: Principal = { kind: "loopback", id: "local" };
  return { name: "localDevStrict", admit: (request) => (isDirectLoopback(request) ? principal : undefined) };
}

/** Admits whoever sends `Authorization: Bearer <token>`; compared in constant time. `id` names the principal. */
export function bearerAuth(token: string, id = "token"): AuthPolicy {
  const isToken = matchSecret(token);
  const principal: Principal = { kind: "bearer", id };
  return {
    name: "bearerAuth",
    admit(request) {
      const guess = bearerToken(request.headers.authorization);
      return guess !== undefined && isToken(guess) ? principal : undefined;
    },
  };
}

/** Admits everyone; for demos on trusted networks. */
export function allowAll(): AuthPolicy {
  const principal: Principal = { kind: "anonymous", id: "anonymous" };
  return { name: "allowAll", admit: (request) => (isForeignOrigin(request) ? undefined : principal) };
}

/** Asks the policies in order; the first that admits names the caller. `undefined`: nobody did (401). */
export function authenticate(
  chain: readonly AuthPolicy[],
  request: AuthRequest,
  from = 0,
): Principal | undefined | Promise<Principal | undefined> {
  for (let at = from; at < chain.length; at += 1) {
    const admitted = chain[at]?.admit(request);
    if (admitted instanceof Promise) {
      return admitted.then((principal) => principal ?? authenticate(chain, request, at + 1));
    }
    if (admitted !== undefined) return admitted;
  }
  return undefined;
}

/**
 * The chain of a host: the operator's token first, then bearer, anonymous, or (by default) loopback.
 *
 * @example createAuthChain({ authToken: "s3cret" }) // bearer only
 */
export function createAuthChain(options: {
  readonly authToken?: string;
  readonly operatorToken?: string;
  readonly allowAnonymous?: boolean;
}): readonly AuthPolicy[] {
  const chain: AuthPolicy[] = [];
  if (options.operatorToken !== undefined) chain.push(bearerAuth(options.operatorToken, operatorId));
  if (options.authToken !== undefined) chain.push(bearerAuth(options.authToken));
  if (options.allowAnonymous === true) chain.push(allowAll());
  if (options.authToken === undefined && options.allowAnonymous !== true) chain.push(localDevStrict());
  return chain;
}

/** `id` of the principal that `--operator-token` admits. */
export const operatorId = "operator";

/** The token of an `Authorization: Bearer <token>` header. */
export function bearerToken(authorization: string | readonly string[] | undefined): string | undefined {
  if (typeof authorization !== "string") return undefined;
  return /^bearer +([^\s]+) *$/i.exec(authorization)?.[1];
}

/** A browser page of another site speaking to us: its Origin is not the host that it calls. */
export function isForeignOrigin(request: AuthRequest): boolean {
  const { origin, host } = request.headers;
  if (origin === undefined || request.isAllowedOrigin === true) return false;
  if (typeof origin !== "string" || typeof host !== "string") return true;
  const from = /^https?:\/\/([^/]+)$/i.exec(origin)?.[1]?.toLowerCase();
  if (from === undefined) return true;
  const known = [host, request.forwardedHost].filter((name) => name !== undefined);
  return !known.some((name) => name.toLowerCase() === from) && !(isLoopbackHost(from) && isLoopbackHost(host));
}
