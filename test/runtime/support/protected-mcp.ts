/** An MCP server that wants tokens of an authorization server (RFC 9728), and a person who logs in there by plain HTTP. */
import { createRemoteJWKSet, jwtVerify } from "jose";
import type { Configuration } from "oidc-provider";
import { type AuthorizationServer, jwtTokens, makeKey, startAuthorizationServer } from "./authorization-server.js";
import { echoing, type Listening, listen, serveNew, textTool } from "./mcp-servers.js";

export interface ProtectedServer extends Listening {
  /** Turns every token away from now on, or until it is called with `false`. */
  distrust(isDistrusted: boolean): void;
}

export interface Office {
  readonly authorization: AuthorizationServer;
  readonly mcp: ProtectedServer;
}

/** Settings of an authorization server where people log in and clients register themselves. */
export async function peopleLogIn(lifetimeS = 600): Promise<Configuration> {
  return {
    jwks: { keys: [await makeKey("one")] as never },
    scopes: ["openid", "offline_access", "mcp"],
    features: {
      ...jwtTokens("ES256", lifetimeS),
      clientCredentials: { enabled: false },
      devInteractions: { enabled: true },
      registration: { enabled: true },
      revocation: { enabled: true },
    },
    pkce: { required: () => true },
    issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed("refresh_token"),
    rotateRefreshToken: true,
  };
}

export interface Served {
  readonly configuration?: Configuration;
  /** What the resource's metadata names as its authorization server. Default: the one that is there. */
  readonly named?: (issuer: string) => string;
  /** What the metadata says that tokens are for. Default: the server itself. */
  readonly claimed?: string;
  /** Default: the 401 names the metadata; otherwise it has to be found at its well-known place. */
  readonly isSilent?: boolean;
}

/** An MCP server behind a login, with one tool, `say`. */
export async function openOffice({ configuration, named, claimed, isSilent = false }: Served = {}): Promise<Office> {
  const authorization = await startAuthorizationServer(configuration ?? (await peopleLogIn()));
  const inner = await serveNew(echoing([textTool("say")]));
  const keys = createRemoteJWKSet(new URL(`${authorization.issuer}/jwks`));
  let isDistrusted = false;
  const metadataPath = "/.well-known/oauth-protected-resource";
  const mcp = await listen(async (request, response, body) => {
    const { origin, pathname } = new URL(`http://${request.headers.host}${request.url}`);
    const resource = `${origin}/mcp`;
    if (pathname.startsWith(metadataPath)) {
      const authorizationServer = named?.(authorization.issuer) ?? authorization.issuer;
      response.writeHead(200, { "content-type": "application/json" });
      response.end(
        JSON.stringify({
          resource: claimed ?? resource,
          authorization_servers: [authorizationServer],
          scopes_supported: ["mcp"],
        }),
      );
      return;
    }
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1];
    const isGood =
      token !== undefined &&
      !isDistrusted &&
      (await jwtVerify(token, keys, { issuer: authorization.issuer, audience: resource }).then(
        () => true,
        () => false,
      ));
    if (!isGood) {
      const challenge = isSilent ? "Bearer" : `Bearer resource_metadata="${origin}${metadataPath}/mcp"`;
      response.writeHead(401, { "www-authenticate": challenge }).end();
      return;
    }
    const headers = new Headers();
    for (const [name, value] of Object.entries(request.headers)) {
      const isOwn = ["host", "connection", "content-length", "authorization"].includes(name);
      if (typeof value === "string" && !isOwn) headers.set(name, value);
    }
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const gone = new AbortController();
    response.on("close", () => gone.abort());
    const init = { method: request.method ?? "GET", headers, signal: gone.signal, ...sent };
    const answer = await fetch(inner.url, init);
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "text/plain" });
    // Some of these answers are streams that never end.
    if (answer.body !== null) for await (const chunk of answer.body) response.write(chunk);
    response.end();
  });
  return {
    authorization,
    mcp: Object.assign(mcp, {
      url: `${new URL(mcp.url).origin}/mcp`,
      distrust: (next: boolean) => {
        isDistrusted = next;
      },
    }),
  };
}

/** Follows a login page to its end as a browser does: signs in, agrees, and gives the last redirect, not followed. */
export async function signIn(page: string, decision: "agree" | "abort" = "agree"): Promise<string> {
  const cookies = new Map<string, string>();
  const origin = new URL(page).origin;
  const visit = async (url: string, form?: Record<string, string>): Promise<Response> => {
    const response = await fetch(url, {
      redirect: "manual",
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") },
      ...(form !== undefined && { method: "POST", body: new URLSearchParams(form) }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [pair = ""] = line.split(";");
      cookies.set(pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1));
    }
    return response;
  };
  let next = page;
  for (let steps = 0; steps < 20; steps += 1) {
    if (new URL(next).origin !== origin) return next;
    let response = await visit(next);
    if (response.status === 200) {
      const html = await response.text();
      if (decision === "abort") {
        response = await visit(`${next}/abort`);
      } else {
        const prompt = /name="prompt" value="(\w+)"/.exec(html)?.[1];
        if (prompt === undefined) throw new Error(`no form at ${next}: ${html.slice(0, 500)}`);
        response = await visit(next, { prompt, ...(prompt === "login" && { login: "ann", password: "secret" }) });
      }
    }
    const location = response.headers.get("location");
    if (location === null) throw new Error(`${next} answered ${response.status}: ${await response.text()}`);
    next = new URL(location, origin).href;
  }
  throw new Error(`the login at ${page} goes round in circles`);
}
