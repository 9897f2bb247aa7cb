import { isSafeUrl } from "./contract.js";

/** How long a provider may take to answer, in milliseconds. */
export const providerTimeoutMs = 5_000;

/**
 * Where a provider's keys are: `jwks_uri` of its discovery document (OpenID Connect Discovery 1.0 §4, else RFC 8414),
 * which has to name the very issuer that was asked for.
 *
 * @throws Error with a message for the log.
 */
export async function discoverKeySet(issuer: string): Promise<URL> {
  for (const url of metadataUrls(issuer)) {
    const response = await fetch(url, {
      headers: { accept: "application/json" },
      redirect: "error",
      signal: AbortSignal.timeout(providerTimeoutMs),
    });
    if (response.status === 404) {
      await response.body?.cancel();
      continue;
    }
    if (!response.ok) throw new Error(`${url} answered ${response.status}`);
    const metadata: unknown = await response.json();
    if (typeof metadata !== "object" || metadata === null) throw new Error(`${url} is no JSON object`);
    const { issuer: named, jwks_uri: keys } = metadata as { issuer?: unknown; jwks_uri?: unknown };
    if (named !== issuer) throw new Error(`${url} is of the issuer ${JSON.stringify(named)}, not of "${issuer}"`);
    if (!isSafeUrl(keys)) throw new Error(`${url} names no jwks_uri that is safe to read`);
    return new URL(keys);
  }
  throw new Error(`"${issuer}" has no discovery document`);
}

function metadataUrls(issuer: string): readonly string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/+$/, "");
  return [
    `${origin}${path}/.well-known/openid-configuration`,
    `${origin}/.well-known/oauth-authorization-server${path}`,
  ];
}
