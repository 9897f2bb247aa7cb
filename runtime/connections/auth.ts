/**
 * The seam of OAuth: who has the tokens of a connection, and how they are renewed. The connections know none of it; they
 * ask once for each open and hand what they get to the MCP client's transport.
 */
import type { AuthProvider, OAuthClientProvider } from "@modelcontextprotocol/client";

/** A connection that was defined with `oauth: true`. */
export interface OAuthConnection {
  /** File name, with the namespace of its extension: what `bdk mcp oauth <name>` takes. */
  readonly name: string;
  readonly kind: "mcp-connection" | "host-connection";
  /** The server's URL, `${NAME}` filled in. */
  readonly url: string;
  /** What a plugin's `auth` says, filled in: a client id, scopes. Never logged. */
  readonly settings: Readonly<Record<string, string>>;
}

const sentWith = new WeakMap<Response, string>();

/** Notes which token an answer is to: when many requests are refused at once, some of them were sent with an older one. */
export function noteToken(response: Response, headers: Headers): void {
  const token = /^Bearer (.+)$/.exec(headers.get("authorization") ?? "")?.[1];
  if (token !== undefined) sentWith.set(response, token);
}

/** The token that the request of this answer was sent with. */
export function tokenOf(response: Response): string | undefined {
  return sentWith.get(response);
}

/**
 * Gives what a transport of the MCP client takes as `authProvider`; `undefined` when nobody has logged in. Must not
 * start a login: nobody stands before the server. It throws where stored tokens can't be read.
 */
export type ConnectionAuth = (
  connection: OAuthConnection,
) => AuthProvider | OAuthClientProvider | undefined | Promise<AuthProvider | OAuthClientProvider | undefined>;
