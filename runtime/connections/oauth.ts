/** The tokens of connections that somebody has logged in to: renewed when they are used, one renewal at a time. */
import { type AuthProvider, OAuthError, refreshAuthorization } from "@modelcontextprotocol/client";
import type { Clock } from "../session/ports.js";
import type { ConnectionAuth } from "./auth.js";
import { ConnectionError } from "./error.js";
import { fetchPlainly, readSeed, toLogin } from "./login-seed.js";
import { expiryOf, type Login, type Logins } from "./logins.js";

/** A token is renewed when less of its life is left than this, in milliseconds. */
const earlyMs = 30_000;

/** Answers that mean that the login itself has ended: asking again helps nobody. */
const endings: ReadonlySet<string> = new Set(["invalid_grant", "invalid_client", "unauthorized_client"]);

/**
 * Gives the MCP client the tokens of logins. Never starts a login: nobody stands before a server.
 *
 * @param environment where logins of deployments without a state root of their own come from; see `readSeed`
 * @example const authProvider = createConnectionAuth(openLogins("/srv/.bdk", "bot"), clock, process.env);
 */
export function createConnectionAuth(logins: Logins, clock: Clock, environment: Environment = {}): ConnectionAuth {
  /** Renewals under way, by name: a refresh token that is used twice at once may end the whole login. */
  const renewals = new Map<string, Promise<Login>>();

  function read(name: string, url: string): Login {
    const login = logins.read(name);
    if (login === undefined) throw ended(name, "nobody is logged in any more");
    // Another server's tokens: the definition was changed since.
    if (login.url !== url) throw ended(name, "its url is not the one that somebody logged in to");
    return login;
  }

  function renew(name: string, url: string, used: string): Promise<Login> {
    let renewal = renewals.get(name);
    if (renewal === undefined) {
      renewal = renewNow(name, url, used).finally(() => renewals.delete(name));
      renewals.set(name, renewal);
    }
    return renewal;
  }

  async function renewNow(name: string, url: string, used: string): Promise<Login> {
    const login = read(name, url);
    // Somebody has logged in again, or another call has renewed it.
    if (login.tokens.access_token !== used) return login;
    const { refresh_token: refreshToken } = login.tokens;
    if (refreshToken === undefined) throw ended(name, "its token is no longer accepted, and can't be renewed");
    try {
      const { url: server, metadata } = login.authorizationServer;
      const tokens = await refreshAuthorization(server, {
        ...(metadata && { metadata }),
        clientInformation: login.client,
        refreshToken,
        resource: login.resource,
        fetchFn: fetchPlainly,
      });
      const { issuer } = login.tokens;
      const next: Login = {
        ...login,
        tokens: { ...tokens, ...(issuer !== undefined && { issuer }) },
        expiresAt: expiryOf(tokens, clock.now()),
      };
      logins.write(name, next);
      return next;
    } catch (error) {
      if (!(error instanceof OAuthError) || !endings.has(error.code)) throw unreachable(error);
      if (logins.read(name)?.tokens.refresh_token === refreshToken) logins.remove(name);
      throw ended(name, "its login has ended or was revoked");
    }
  }

  /** The stored login; the first time, what the environment brings. Renewals make the stored one the newer. */
  async function open(name: string, url: string): Promise<Login | undefined> {
    const login = logins.read(name);
    if (login !== undefined) return login.url === url ? login : undefined;
    const seed = readSeed(name, environment);
    if (seed === undefined) return undefined;
    const made = await toLogin(seed, url).catch((error: unknown) => {
      throw unreachable(error);
    });
    logins.write(name, made);
    return made;
  }

  return async ({ name, url }) => {
    const login = await open(name, url);
    if (login === undefined) return undefined;
    let given = login.tokens.access_token;
    const provider: AuthProvider = {
      async token() {
        let current = read(name, url);
        const left = current.expiresAt === undefined ? earlyMs : Date.parse(current.expiresAt) - clock.now();
        if (left < earlyMs && current.tokens.refresh_token !== undefined) {
          try {
            current = await renew(name, url, current.tokens.access_token);
          } catch (error) {
            // It is good for a moment yet, and the next request tries again.
            if (left <= 0 || !(error instanceof ConnectionError) || error.code !== "connection_unreachable")
              throw error;
          }
        }
        given = current.tokens.access_token;
        return given;
      },
      async onUnauthorized() {
        await renew(name, url, given);
      },
    };
    return provider;
  };
}

type Environment = Readonly<Record<string, string | undefined>>;

function ended(name: string, reason: string): ConnectionError {
  return new ConnectionError("connection_unauthorized", `${reason}: run bdk mcp oauth ${name}`);
}

/** Nothing has been sent to the MCP server itself. What an authorization server says in its error is not passed on. */
function unreachable(error: unknown): ConnectionError {
  if (error instanceof ConnectionError) return error;
  const reason = error instanceof OAuthError ? `it answered ${error.code}` : "it can't be reached";
  return new ConnectionError(
    "connection_unreachable",
    `its token can't be renewed by the authorization server: ${reason}`,
  );
}
