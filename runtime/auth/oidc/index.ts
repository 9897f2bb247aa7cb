/** Tokens of OpenID providers: the optional part of the runtime that carries out `oidcAuth`. Built on jose. */
import { decodeJwt, errors, type JWTPayload, type JWTVerifyOptions, jwtVerify } from "jose";
import type { OidcAuthOptions } from "../../authoring/channels.js";
import type { Log } from "../../session/ports.js";
import { messageOf } from "../../tools/result.js";
import { type OidcVerdict, type OidcVerifier, oidcAlgorithms } from "./contract.js";
import { discoverKeySet } from "./discovery.js";
import { createProviderKeys, KeysUnavailable } from "./keys.js";

/** Clocks of provider and server may differ by this, in seconds. */
const defaultToleranceS = 30;

/** Keys that a token is tried with which names none: anybody may send such tokens, and each try costs time. */
const mostTried = 16;

/** Checks tokens of one provider: signature, algorithm, issuer, audience, times, subject, scopes. */
export function createOidcVerifier(options: OidcAuthOptions, log: Log): OidcVerifier {
  const { issuer, audience, jwksUri, requiredScopes = [] } = options;
  const locate = jwksUri === undefined ? () => discoverKeySet(issuer) : async () => new URL(jwksUri);
  const getKey = createProviderKeys(issuer, locate, log);
  const checks: JWTVerifyOptions = {
    issuer,
    audience: typeof audience === "string" ? audience : [...audience],
    algorithms: [...(options.algorithms ?? oidcAlgorithms)],
    clockTolerance: options.clockToleranceSeconds ?? defaultToleranceS,
    requiredClaims: ["exp", "sub"],
  };

  const told = new Set<string>();
  const tellOnce = (message: string): void => {
    if (told.has(message)) return;
    told.add(message);
    log("warn", message);
  };

  async function payloadOf(token: string): Promise<JWTPayload> {
    try {
      return (await jwtVerify(token, getKey, checks)).payload;
    } catch (error) {
      if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
      // A token that does not say which of the provider's keys signed it.
      let tried = 0;
      for await (const key of error) {
        if (tried === mostTried) break;
        tried += 1;
        try {
          return (await jwtVerify(token, key, checks)).payload;
        } catch (next) {
          if (!(next instanceof errors.JWSSignatureVerificationFailed)) throw next;
        }
      }
      throw new errors.JWSSignatureVerificationFailed();
    }
  }

  return async (token) => {
    try {
      // Another issuer's token is none for this one's keys: it must not have them read again.
      if (decodeJwt(token).iss !== issuer) return invalid("it is of another issuer");
      const { sub, ...claims } = await payloadOf(token);
      if (typeof sub !== "string" || sub === "") return invalid("it names no subject");
      const held = scopesOf(claims);
      const scopes = requiredScopes.filter((scope) => !held.has(scope));
      return scopes.length === 0 ? { is: "valid", claims: { ...claims, sub } } : { is: "insufficient", scopes };
    } catch (error) {
      if (error instanceof KeysUnavailable) return { is: "unknown" };
      if (error instanceof errors.JOSEError) return invalid(reasonOf(error));
      // A key of the provider's that is broken, or too short to be trusted. Anybody may name it.
      tellOnce(`a key of the issuer ${issuer} can't be used: ${messageOf(error)}`);
      return invalid("the key that it names can't be used");
    }
  };
}

function invalid(reason: string): OidcVerdict {
  return { is: "invalid", message: `the token is not accepted: ${reason}` };
}

/** What the caller is told: enough to mend it, in our own words. */
function reasonOf(error: errors.JOSEError): string {
  if (error instanceof errors.JWTExpired) return "it has expired";
  if (error instanceof errors.JWTClaimValidationFailed) {
    switch (error.claim) {
      case "iss":
        return "it is of another issuer";
      case "aud":
        return "it is for another audience";
      case "nbf":
        return "it is not valid yet";
      default:
        return `its claim "${error.claim}" is missing or wrong`;
    }
  }
  if (error instanceof errors.JOSEAlgNotAllowed) return "its algorithm is not allowed";
  if (error instanceof errors.JWKSNoMatchingKey) return "its key is not one of the issuer's";
  if (error instanceof errors.JWSSignatureVerificationFailed) return "its signature is wrong";
  return "it is not a signed JWT";
}

/** `scope` as RFC 9068 has it, `scp` as some providers write it. */
function scopesOf(claims: Readonly<Record<string, unknown>>): ReadonlySet<string> {
  const listed = [claims.scope, claims.scp].flatMap((value) => (typeof value === "string" ? value.split(" ") : value));
  return new Set(listed.filter((scope) => typeof scope === "string"));
}
