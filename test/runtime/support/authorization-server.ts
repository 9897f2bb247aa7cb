/** An authorization server of its own, the package `oidc-provider`, on a loopback port. Nothing of ours inside. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, type JWK } from "jose";
import Provider, { type Configuration } from "oidc-provider";
import { afterEach } from "vitest";

export interface AuthorizationServer {
  readonly issuer: string;
  /** What it was asked, such as `POST /token`. */
  readonly requests: string[];
  readonly provider: () => Provider;
  /** Runs on with other keys or settings, under the same issuer. */
  restart(configuration: Configuration): void;
  /** Answers everything with 503 until it is called with `false`. */
  away(isAway: boolean): void;
  /** A token of the client-credentials grant, for `resource`. */
  token(options?: { scope?: string; resource?: string; clientId?: string }): Promise<string>;
}

const open: (() => Promise<void>)[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((close) => close()));
});

/** A private signing key. */
export async function makeKey(kid: string, alg = "ES256"): Promise<JWK> {
  const { privateKey } = await generateKeyPair(alg, { extractable: true });
  return { ...(await exportJWK(privateKey)), kid, alg, use: "sig" };
}

/** A client that gets tokens for itself. */
export const machine = {
  client_id: "machine",
  client_secret: "a-secret-of-the-machine-client",
  grant_types: ["client_credentials"],
  redirect_uris: [],
  response_types: [],
} satisfies NonNullable<Configuration["clients"]>[number];

/** Tokens for a resource are JWTs whose audience is the resource. */
export function jwtTokens(alg: "ES256" | "RS256" = "ES256", lifetimeS = 600): NonNullable<Configuration["features"]> {
  return {
    clientCredentials: { enabled: true },
    devInteractions: { enabled: false },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: (_ctx, resource) => ({
        scope: "tickets:read tickets:write mcp",
        audience: resource,
        accessTokenTTL: lifetimeS,
        accessTokenFormat: "jwt",
        jwt: { sign: { alg } },
      }),
      useGrantedResource: () => true,
    },
  };
}

export async function startAuthorizationServer(configuration: Configuration): Promise<AuthorizationServer> {
  let handle: (request: IncomingMessage, response: ServerResponse) => unknown = () => undefined;
  let isAway = false;
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url?.split("?", 1)[0]}`);
    if (isAway) response.writeHead(503).end();
    else handle(request, response);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  open.push(
    () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  );
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  let provider: Provider;
  const restart = (next: Configuration): void => {
    provider = new Provider(issuer, {
      cookies: { keys: ["a-cookie-key"] },
      clientDefaults: { id_token_signed_response_alg: "ES256" },
      ...next,
    });
    handle = provider.callback();
  };
  restart(configuration);
  return {
    issuer,
    requests,
    provider: () => provider,
    restart,
    away: (next) => {
      isAway = next;
    },
    async token({ scope = "tickets:read", resource = "https://bots.example/desk", clientId = machine.client_id } = {}) {
      const response = await fetch(`${issuer}/token`, {
        method: "POST",
        headers: { authorization: `Basic ${Buffer.from(`${clientId}:${machine.client_secret}`).toString("base64")}` },
        body: new URLSearchParams({ grant_type: "client_credentials", scope, resource }),
      });
      const text = await response.text();
      const { access_token: token } = JSON.parse(text) as { access_token?: string };
      if (token === undefined) throw new Error(`the provider gave no token: ${response.status} ${text}`);
      return token;
    },
  };
}
