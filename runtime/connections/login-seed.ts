/** Logins that a deployment brings in its environment: `MCP_OAUTH_<NAME>_REFRESH_TOKEN` and its like. */
import { checkResourceAllowed, discoverOAuthServerInfo, resourceUrlFromServerUrl } from "@modelcontextprotocol/client";
import { ConnectionError } from "./error.js";
import type { Login } from "./logins.js";

/** How long an authorization server may take, in milliseconds. */
const timeoutMs = 15_000;

export type Environment = Readonly<Record<string, string | undefined>>;

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
export function readSeed(name: string, environment: Environment): LoginSeed | undefined {
  const read = (what: string) => readVariable(name, what, environment);
  const [refreshToken, clientId] = [read("REFRESH_TOKEN"), read("CLIENT_ID")];
  if (refreshToken === undefined || clientId === undefined) return undefined;
  return { refreshToken, clientId, clientSecret: read("CLIENT_SECRET"), issuer: read("ISSUER") };
}

/** A token that can't be renewed: `MCP_OAUTH_<NAME>_ACCESS_TOKEN`, for servers that give no refresh tokens. */
export function readAccessToken(name: string, environment: Environment): string | undefined {
  return readVariable(name, "ACCESS_TOKEN", environment);
}

function readVariable(name: string, what: string, environment: Environment): string | undefined {
  return environment[`MCP_OAUTH_${name.toUpperCase().replace(/[^A-Z0-9]/g, "_")}_${what}`] || undefined;
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
  const own = resourceUrlFromServerUrl(url);
  const resource = resourceMetadata?.resource ?? own.href;
  // A token for another server, asked for by this one, would be this one's to use.
  if (!checkResourceAllowed({ requestedResource: own, configuredResource: resource })) {
    throw new ConnectionError("connection_unauthorized", "the server asks for tokens that are for another server");
  }
  return {
    formatVersion: 1,
    url,
    authorizationServer: { url: authorizationServerUrl, metadata },
    resource,
    client: { client_id: clientId, issuer, ...(clientSecret !== undefined && { client_secret: clientSecret }) },
    tokens: { access_token: "", token_type: "Bearer", refresh_token: refreshToken, issuer },
    expiresAt: new Date(0).toISOString(),
  };
}

/** No redirects: what is sent here is secret. */
export function fetchPlainly(input: string | URL, init?: RequestInit): Promise<Response> {
  return fetch(input, { ...init, redirect: "error", signal: AbortSignal.timeout(timeoutMs) });
}
