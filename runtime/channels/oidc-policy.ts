import type { OidcSection, OidcVerifier } from "../auth/oidc/contract.js";
import { bearerToken } from "../auth/policy.js";
import type { OidcAuthOptions } from "../authoring/channels.js";
import type { SessionAuth } from "../authoring/host.js";
import type { Log } from "../session/ports.js";
import type { Admit } from "./admit.js";
import { isPrincipal } from "./send-options.js";

/**
 * Carries out `oidcAuth`. A bearer token that is refused is told why; no bearer token at all leaves the question to the
 * next policy.
 *
 * @param severalIssuers `sub` is unique within an issuer only: then the principal's id names it too
 */
export function oidcPolicy(
  options: OidcAuthOptions,
  severalIssuers: boolean,
  sources: { readonly oidc: () => Promise<OidcSection>; readonly log: Log },
): Admit {
  let verifier: Promise<OidcVerifier> | undefined;
  return async ({ headers }) => {
    const token = bearerToken(headers.authorization);
    if (token === undefined) return undefined;
    verifier ??= sources.oidc().then(({ createOidcVerifier }) => createOidcVerifier(options, sources.log));
    const verdict = await (await verifier)(token);
    switch (verdict.is) {
      case "invalid":
        return {
          denied: "unauthorized",
          message: verdict.message,
          challenge: challenge("invalid_token", verdict.message),
        };
      case "insufficient": {
        const scope = verdict.scopes.join(" ");
        const message = `the token lacks the scope ${scope}`;
        return {
          denied: "forbidden",
          message,
          challenge: `${challenge("insufficient_scope", message)}, scope="${scope}"`,
        };
      }
      case "unknown":
        return { denied: "auth_unavailable", message: "tokens can't be checked just now; try again" };
      case "valid": {
        const { claims } = verdict;
        if (options.principal === undefined) {
          const id = severalIssuers ? `${options.issuer}#${claims.sub}` : claims.sub;
          return { kind: "oidc", id, claims };
        }
        const named: unknown = await options.principal(claims);
        if (named === null || named === undefined) {
          return { denied: "forbidden", message: "this token's holder is not let in" };
        }
        return readPrincipal(named, "`principal` of oidcAuth");
      }
    }
  };
}

/** What a function of the project names, checked. */
export function readPrincipal(named: unknown, what: string): SessionAuth {
  if (isPrincipal(named)) return named as SessionAuth;
  throw new TypeError(`${what} must return { kind, id } or null`);
}

/** RFC 6750 §3. */
function challenge(error: string, description: string): string {
  return `Bearer error="${error}", error_description="${description.replace(/["\\]/g, "'")}"`;
}
