/** The tokens of connections that somebody has logged in to: renewed when they are used, one renewal at a time. */
import { type AuthProvider, OAuthError, refreshAuthorization } from "@modelcontextprotocol/client";
import type { Clock, Log } from "../session/ports.js";
import { type ConnectionAuth, type OAuthConnection, tokenOf } from "./auth.js";
import { ConnectionError, loginCommand } from "./error.js";
import { type Environment, fetchPlainly, readAccessToken, readSeed, toLogin } from "./login-seed.js";
import { expiryOf, type Login, type Logins } from "./logins.js";

/** A token is renewed when less of its life is left than this, in milliseconds, or than half of a life that is short. */
const longestEarlyMs = 30_000;

/** Answers that mean that the login itself has ended: asking again helps nobody. */
const endings: ReadonlySet<string> = new Set(["invalid_grant", "invalid_client", "unauthorized_client"]);

/**
 * Gives the MCP client the tokens of logins. Never starts a login: nobody stands before a server.
 *
 * @param environment where logins of deployments without a state root of their own come from; see `readSeed`
 * @example const authProvider = createConnectionAuth(openLogins("/srv/.bdk", "bot"), clock, log, process.env);
 */
export function createConnectionAuth(
  logins: Logins,
  clock: Clock,
  log: Log,
  environment: Environment = {},
): ConnectionAuth {
  /** Renewals under way, by name: a refresh token that is used twice at once may end the whole login. */
  const renewals = new Map<string, Promise<Login>>();
  const kept = keepLogins(logins, log);

  function read(of: OAuthConnection): Login {
    const login = kept.read(of.name);
    if (login === undefined) throw ended(of, "nobody is logged in any more");
    // Another server's tokens: the definition was changed since.
    if (login.url !== of.url) throw ended(of, "its url is not the one that somebody logged in to");
    return login;
  }

  function renew(of: OAuthConnection, used: string): Promise<Login> {
    let renewal = renewals.get(of.name);
    if (renewal === undefined) {
      renewal = logins
        .alone(of.name, () => renewNow(of, used))
        .finally(() => {
          renewals.delete(of.name);
        });
      renewals.set(of.name, renewal);
    }
    return renewal;
  }

  async function renewNow(of: OAuthConnection, used: string): Promise<Login> {
    const { name } = of;
    const login = read(of);
    // Somebody has logged in again, or another call or process has renewed it.
    if (login.tokens.access_token !== used) return login;
    const { refresh_token: refreshToken } = login.tokens;
    if (refreshToken === undefined) throw ended(of, "its token is no longer accepted, and can't be renewed");
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
      kept.write(name, next);
      return next;
    } catch (error) {
      if (!(error instanceof OAuthError) || !endings.has(error.code)) throw unreachable(error);
      const now = kept.read(name);
      if (now?.tokens.refresh_token !== refreshToken) return read(of);
      kept.remove(name);
      throw ended(of, "its login has ended or was revoked");
    }
  }

  /** The stored login; the first time, what the environment brings. Renewals make the stored one the newer. */
  async function open({ name, url }: OAuthConnection): Promise<Login | undefined> {
    const login = kept.read(name);
    if (login !== undefined) return login.url === url ? login : undefined;
    const seed = readSeed(name, environment);
    if (seed === undefined) return undefined;
    const made = await toLogin(seed, url).catch((error: unknown) => {
      throw unreachable(error);
    });
    kept.write(name, made);
    return made;
  }

  return async (of) => {
    const login = await open(of);
    if (login === undefined) {
      const token = readAccessToken(of.name, environment);
      return token === undefined ? undefined : { token: async () => token };
    }
    let given = login.tokens.access_token;
    const provider: AuthProvider = {
      async token() {
        let current = read(of);
        const left = leftOf(current, clock.now());
        if (left < earlyOf(current) && current.tokens.refresh_token !== undefined) {
          try {
            current = await renew(of, current.tokens.access_token);
          } catch (error) {
            // It is good for a moment yet, and the next request tries again.
            if (left <= 0 || !(error instanceof ConnectionError) || error.code !== "connection_unreachable")
              throw error;
          }
        }
        given = current.tokens.access_token;
        return given;
      },
      async onUnauthorized({ response }) {
        await renew(of, tokenOf(response) ?? given);
      },
    };
    return provider;
  };
}

/** What is left of a token's life, in milliseconds; of one that runs out at an unknown time, for ever. */
function leftOf({ expiresAt }: Login, now: number): number {
  return expiresAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(expiresAt) - now;
}

function earlyOf({ tokens: { expires_in: seconds = Number.POSITIVE_INFINITY } }: Login): number {
  return Math.min(longestEarlyMs, Math.max(1, seconds * 500));
}

/** Logins that count even where they can't be written: a refresh token that was spent does not come back. */
function keepLogins(logins: Logins, log: Log): Pick<Logins, "read" | "write" | "remove"> {
  /** What could not be written, and the token of what is on disk in its place. */
  const unwritten = new Map<string, { readonly login: Login; readonly insteadOf: string | undefined }>();
  return {
    read(name) {
      const stored = logins.read(name);
      const own = unwritten.get(name);
      // Somebody has logged in since: that counts.
      return own !== undefined && own.insteadOf === stored?.tokens.access_token ? own.login : stored;
    },
    write(name, login) {
      try {
        logins.write(name, login);
        unwritten.delete(name);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        if (!unwritten.has(name))
          log("warn", `the renewed login of a connection is lost with this process, as it can't be stored: ${reason}`);
        unwritten.set(name, { login, insteadOf: logins.read(name)?.tokens.access_token });
      }
    },
    remove(name) {
      unwritten.delete(name);
      return logins.remove(name);
    },
  };
}

function ended(of: OAuthConnection, reason: string): ConnectionError {
  return new ConnectionError("connection_unauthorized", `${reason}: ${loginCommand(of)}`);
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
