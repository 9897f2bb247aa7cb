/** What checks tokens of an OpenID provider, as the rest of the runtime sees it: the optional part is loaded at the first token. */
import type { OidcAuthOptions } from "../../authoring/channels.js";
import type { Log } from "../../session/ports.js";

/** What a token turned out to be. */
export type OidcVerdict =
  | { readonly is: "valid"; readonly claims: Readonly<Record<string, unknown>> & { readonly sub: string } }
  /** Not a token of this provider for this audience, or no longer one. `message` is fit for the caller. */
  | { readonly is: "invalid"; readonly message: string }
  /** A good token that may not do this: `scopes` are those that it lacks. */
  | { readonly is: "insufficient"; readonly scopes: readonly string[] }
  /** The provider's keys can't be had, so nothing can be said about the token. */
  | { readonly is: "unknown" };

/** Checks tokens of one provider. Keeps the provider's keys between calls. */
export type OidcVerifier = (token: string) => Promise<OidcVerdict>;

/** What the section `oidc` exports. */
export interface OidcSection {
  createOidcVerifier(options: OidcAuthOptions, log: Log): OidcVerifier;
}

/** Signature algorithms that a provider's public keys verify. `none` and the shared-secret ones are none of them. */
export const oidcAlgorithms = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
] as const;

/** Why options can't be carried out, in words for the log; `undefined` when they can. */
export function problemOfOidc(options: OidcAuthOptions): string | undefined {
  const { issuer, audience, jwksUri, algorithms } = options;
  const audiences: readonly unknown[] = typeof audience === "string" ? [audience] : (audience ?? []);
  if (!isSafeUrl(issuer)) return "its issuer is not an https URL (plain http is taken of this machine only)";
  if (jwksUri !== undefined && !isSafeUrl(jwksUri)) return "its jwksUri is not an https URL";
  if (audiences.length === 0 || audiences.some((each) => typeof each !== "string" || each === "")) {
    return "its audience is empty";
  }
  const odd = algorithms?.find((name) => !oidcAlgorithms.some((known) => known === name));
  if (odd !== undefined)
    return `"${odd}" is no algorithm for a provider's keys; there are ${oidcAlgorithms.join(", ")}`;
  if (algorithms?.length === 0) return "its list of algorithms is empty";
  return undefined;
}

/** Keys and metadata come over TLS, or from this machine. */
export function isSafeUrl(text: unknown): text is string {
  if (typeof text !== "string" || !URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === "https:" || (protocol === "http:" && /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname));
}
