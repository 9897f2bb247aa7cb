import { randomBytes } from "node:crypto";
import {
  auth,
  discoverOAuthServerInfo,
  extractWWWAuthenticateParams,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  resourceUrlFromServerUrl,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
  validateAuthorizationResponseIssuer,
} from "@modelcontextprotocol/client";
import { expiryOf, type Login } from "../../runtime/connections/logins.js";
import type { CallbackServer } from "./callback.js";
import { cannotRegister, LoginError, reasonOf } from "./reason.js";

/** How long a server may take to answer, in milliseconds. */
const requestTimeoutMs = 15_000;

export interface LoginOptions {
  /** The MCP server. */
  readonly url: string;
  /** Shown by the authorization server to whoever logs in. */
  readonly clientName: string;
  /** A client that was registered by hand, instead of dynamic registration. */
  readonly client?: StoredOAuthClientInformation;
  /** A client metadata document, for servers that take one as the client's id. */
  readonly clientMetadataUrl?: string;
  /** Default: what the server asks for. */
  readonly scope?: string;
  readonly callback: CallbackServer;
  /** Aborts when whoever is to log in takes too long, or gives up. */
  readonly signal: AbortSignal;
  /** Shows the page to log in at. */
  readonly show: (url: URL) => Promise<void>;
}

/**
 * The authorization-code flow with PKCE (OAuth 2.1, MCP authorization): finds the authorization server (RFC 9728,
 * RFC 8414), registers (RFC 7591, unless a client is given), lets somebody log in, checks `state` and `iss` (RFC 9207),
 * and exchanges the code for tokens for this resource only (RFC 8707).
 *
 * @throws LoginError in words for people; it holds no token and nothing that a redirect claims without proof.
 */
export async function login(options: LoginOptions): Promise<Login> {
  const { url, callback, signal } = options;
  const fetchFn = (input: string | URL, init: RequestInit = {}) =>
    fetch(input, {
      // Metadata may have moved. What is posted holds codes and secrets: it goes where the metadata says, and no further.
      redirect: init.method === "POST" ? "error" : "follow",
      ...init,
      signal: AbortSignal.any([signal, AbortSignal.timeout(requestTimeoutMs)]),
    });
  try {
    const discovery = await discover(options, fetchFn);
    const flow = createFlow(options, discovery.state);
    const request = { serverUrl: url, fetchFn, ...(discovery.scope !== undefined && { scope: discovery.scope }) };
    // Listens before anybody is shown the page: some are logged in already, and come back at once.
    const received = callback.received(flow.state);
    await auth(flow.provider, {
      ...request,
      ...(options.scope !== undefined && { scope: options.scope }),
      forceReauthorization: true,
    });
    const { params, answer } = await orAborted(received, signal);
    try {
      await redeem(flow, params, request);
    } catch (error) {
      await answer(false, "Logging in did not work. The terminal says why; you may close this window.");
      throw error;
    }
    await answer(true, "You are logged in. You may close this window.");
    return flow.finished();
  } catch (error) {
    throw error instanceof LoginError ? error : new LoginError(reasonOf(error, signal));
  }
}

interface Discovery {
  readonly state: OAuthDiscoveryState & { readonly resourceMetadata: { readonly resource: string } };
  readonly scope: string | undefined;
}

type Fetch = (input: string | URL, init?: RequestInit) => Promise<Response>;

/** The server says itself who logs people in: in its 401, else at a well-known place. */
async function discover(options: LoginOptions, fetchFn: Fetch): Promise<Discovery> {
  const { url } = options;
  const asked = await fetchFn(url, {
    method: "POST",
    redirect: "follow",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 0, method: "ping" }),
  });
  await asked.body?.cancel();
  const { resourceMetadataUrl, scope } = asked.status === 401 ? extractWWWAuthenticateParams(asked) : {};
  const found = await discoverOAuthServerInfo(url, { fetchFn, ...(resourceMetadataUrl && { resourceMetadataUrl }) });
  const { authorizationServerMetadata: metadata } = found;
  if (metadata !== undefined && metadata.code_challenge_methods_supported?.includes("S256") !== true) {
    throw new LoginError("the authorization server does not say that it takes PKCE (S256), so no code would be safe");
  }
  const takesUrls = metadata?.client_id_metadata_document_supported === true && options.clientMetadataUrl !== undefined;
  if (metadata !== undefined && metadata.registration_endpoint === undefined && !takesUrls && !options.client) {
    throw new LoginError(cannotRegister);
  }
  return {
    state: {
      ...found,
      // A server without metadata of its own gets tokens for its own URL: they are to be for nobody else.
      resourceMetadata: found.resourceMetadata ?? { resource: resourceUrlFromServerUrl(url).href },
      ...(resourceMetadataUrl && { resourceMetadataUrl: resourceMetadataUrl.href }),
    },
    scope,
  };
}

interface Flow {
  readonly provider: OAuthClientProvider;
  readonly state: string;
  readonly discovery: OAuthDiscoveryState;
  finished(): Login;
}

/** What the SDK's flow keeps between its steps, in memory: only the finished login is stored. */
function createFlow(options: LoginOptions, discovery: Discovery["state"]): Flow {
  const { url, callback } = options;
  const state = randomBytes(32).toString("base64url");
  let client = options.client;
  let tokens: StoredOAuthTokens | undefined;
  let verifier = "";
  const provider: OAuthClientProvider = {
    redirectUrl: callback.redirectUrl,
    clientMetadata: {
      client_name: options.clientName,
      redirect_uris: [callback.redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
      application_type: "native",
    },
    ...(options.clientMetadataUrl !== undefined && { clientMetadataUrl: options.clientMetadataUrl }),
    state: () => state,
    clientInformation: () => client,
    saveClientInformation: (next) => {
      client = next;
    },
    tokens: () => tokens,
    saveTokens: (next) => {
      tokens = next;
    },
    redirectToAuthorization: (page) => options.show(checkedPage(page)),
    saveCodeVerifier: (next) => {
      verifier = next;
    },
    codeVerifier: () => verifier,
    discoveryState: () => discovery,
    saveDiscoveryState: () => undefined,
  };
  return {
    provider,
    state,
    discovery,
    finished() {
      if (client === undefined || tokens === undefined) throw new LoginError("the authorization server gave no token");
      const { authorizationServerUrl, authorizationServerMetadata, resourceMetadata } = discovery;
      return {
        formatVersion: 1,
        url,
        authorizationServer: { url: authorizationServerUrl, metadata: authorizationServerMetadata },
        resource: resourceMetadata.resource,
        client,
        tokens,
        expiresAt: expiryOf(tokens, Date.now()),
      };
    },
  };
}

/** Exchanges the code, once it is sure that the right server sent it. */
async function redeem(
  { provider, discovery }: Flow,
  params: URLSearchParams,
  request: { readonly serverUrl: string; readonly fetchFn: Fetch },
): Promise<void> {
  const iss = params.get("iss") ?? undefined;
  const { authorizationServerMetadata: metadata } = discovery;
  // Before anything else of the redirect is believed, its error included.
  validateAuthorizationResponseIssuer({
    iss,
    expectedIssuer: metadata?.issuer,
    issParameterSupported: metadata?.authorization_response_iss_parameter_supported === true,
  });
  const error = params.get("error");
  if (error !== null) {
    const named = /^[a-z_]{1,64}$/.test(error) ? error : "an error";
    throw new LoginError(
      error === "access_denied" ? "the login was declined" : `the authorization server answered ${named}`,
    );
  }
  const code = params.get("code");
  if (code === null || code === "") throw new LoginError("the authorization server sent no code");
  await auth(provider, { ...request, authorizationCode: code, ...(iss !== undefined && { iss }) });
}

/** A browser is opened with it: nothing but a page, over TLS or of this machine. */
function checkedPage(page: URL): URL {
  const isLoopback = ["localhost", "127.0.0.1", "[::1]"].includes(page.hostname);
  if (page.protocol === "https:" || (page.protocol === "http:" && isLoopback)) return page;
  throw new LoginError("the authorization server's login page is not an https URL");
}

function orAborted<T>(waiting: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((done, fail) => {
    if (signal.aborted) return fail(signal.reason);
    signal.addEventListener("abort", () => fail(signal.reason), { once: true });
    waiting.then(done, fail);
  });
}
