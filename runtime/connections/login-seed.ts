/** Logins that a deployment brings in its environment: `MCP_OAUTH_<NAME>_REFRESH_TOKEN` and its like. */
import { discoverOAuthServerInfo, resourceUrlFromServerUrl } from "@modelcontextprotocol/client";
import type { Login } from "./logins.js";

/** How long an authorization server may take, in milliseconds. */
const timeoutMs = 15_000;

/** A refresh token, and the client that it was given to. */
export interface LoginSeed {
  readonly refreshToken: string;
  readonly clientId: string;
  readonly clientSecret: string | undefined;
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
  return { refreshToken, clientId, clientSecret: read("CLIENT_SECRET") || undefined };
}

/** A login whose first token is yet to be asked for, of the authorization server that the MCP server names now. */
export async function toLogin({ refreshToken, clientId, clientSecret }: LoginSeed, url: string): Promise<Login> {
  const found = await discoverOAuthServerInfo(url, { fetchFn: fetchPlainly });
  const { authorizationServerUrl, authorizationServerMetadata: metadata, resourceMetadata } = found;
  const issuer = metadata?.issuer ?? authorizationServerUrl;
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
