/** Logins that a deployment brings in its environment: `MCP_OAUTH_<NAME>_REFRESH_TOKEN` and its like. */
import { discoverOAuthServerInfo, resourceUrlFromServerUrl } from "@modelcontextprotocol/client";
import { ConnectionError } from "./error.js";
import type { Login } from "./logins.js";

/** How long an authorization server may take, in milliseconds. */
const timeoutMs = 15_000;

/** A refresh token, and the client that it was given to. */
export interface LoginSeed {
  readonly refreshToken: string;
  readonly clientId: string;
  readonly clientSecret: string | undefined;
  /** Who gave the token: then it is sent to nobody else, whatever the MCP server says. */
  readonly issuer: string | undefined;
}

/**
 * What the environment brings for a connection; `undefined` when a part is missing.
 *
 * @example readSeed("ci__linear", { MCP_OAUTH_CI__LINEAR_REFRESH_TOKEN: "…", MCP_OAUTH_CI__LINEAR_CLIENT_ID: "…" })
 */
export function readSeed(
  name: string,
  environment: Readonly<Record<string, string | undefined>>,
): LoginSeed | undefined {
  const read = (what: string) => environment[`MCP_OAUTH_${name.toUpperCase().replace(/[^A-Z0-9]/g, "_")}_${what}`];
  const refreshToken = read("REFRESH_TOKEN");
  const clientId = read("CLIENT_ID");
  if (!refreshToken || !clientId) return undefined;
  const [clientSecret, issuer] = [read("CLIENT_SECRET") || undefined, read("ISSUER") || undefined];
  return { refreshToken, clientId, clientSecret, issuer };
}

/** A login whose first token is yet to be asked for, of the authorization server that the MCP server names now. */
export async function toLogin(seed: LoginSeed, url: string): Promise<Login> {
  const { refreshToken, clientId, clientSecret } = seed;
  const found = await discoverOAuthServerInfo(url, { fetchFn: fetchPlainly });
  const { authorizationServerUrl, authorizationServerMetadata: metadata, resourceMetadata } = found;
  const issuer = metadata?.issuer ?? authorizationServerUrl;
  if (seed.issuer !== undefined && seed.issuer !== issuer) {
    throw new ConnectionError(
      "connection_unauthorized",
      "the server names another authorization server than the token's",
    );
  }
  return {
    formatVersion: 1,
    url,
    authorizationServer: { url: authorizationServerUrl, metadata },
    resource: resourceMetadata?.resource ?? resourceUrlFromServerUrl(url).href,
    client: { client_id: clientId, issuer, ...(clientSecret !== undefined && { client_secret: clientSecret }) },
    tokens: { access_token: "", token_type: "Bearer", refresh_token: refreshToken, issuer },
    expiresAt: new Date(0).toISOString(),
  };
}

/** No redirects: what is sent here is secret. */
export function fetchPlainly(input: string | URL, init?: RequestInit): Promise<Response> {
  return fetch(input, { ...init, redirect: "error", signal: AbortSignal.timeout(timeoutMs) });
}
