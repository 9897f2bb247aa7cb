/** Logins of connections with `oauth: true`: what `bdk mcp oauth` stores and the runtime renews. */
import type {
  AuthorizationServerMetadata,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";

/** One login. Secret from beginning to end: it goes into a private file and nowhere else. */
export interface Login {
  readonly formatVersion: 1;
  /** The server's URL, `${NAME}` filled in: the tokens are for it alone. */
  readonly url: string;
  /** Who gave the tokens, and where they are renewed. Its metadata is that of the login: tokens go nowhere else. */
  readonly authorizationServer: { readonly url: string; readonly metadata?: AuthorizationServerMetadata | undefined };
  /** RFC 8707: what the tokens are for. */
  readonly resource: string;
  readonly client: StoredOAuthClientInformation;
  readonly tokens: StoredOAuthTokens;
  /** ISO-8601; absent when the server did not say. */
  readonly expiresAt?: string | undefined;
}

/** Logins by the connection's name, with the namespace of its extension. */
export interface Logins {
  /** `undefined`: nobody has logged in. Throws when the file is there and can't be read. */
  read(name: string): Login | undefined;
  /** On disk, as a whole, when it returns. */
  write(name: string, login: Login): void;
  /** Whether there was one. */
  remove(name: string): boolean;
  /** Runs alone among all that would renew this login, other processes included: a refresh token is good once. */
  alone<T>(name: string, work: () => Promise<T>): Promise<T>;
}

/** A server may claim what no date can say. Ten years. */
const longestLifeS = 315_360_000;

/** When tokens that were given at `now` (milliseconds since 1970) run out. */
export function expiryOf(tokens: StoredOAuthTokens, now: number): string | undefined {
  const { expires_in: seconds } = tokens;
  if (seconds === undefined || Number.isNaN(seconds)) return undefined;
  return new Date(now + Math.min(Math.max(seconds, 0), longestLifeS) * 1000).toISOString();
}
