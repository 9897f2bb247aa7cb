/** `bot/mcp-connections/<name>.ts` and `bot/host-connections/<name>.ts`: MCP servers the agent may use. */

interface SharedConnectionConfig {
  readonly description?: string | undefined;
  /** Lists each of the server's tools to the model under its own name. Default false. */
  readonly advertiseTools?: boolean | undefined;
  /** Which of the server's tools may be used. Default: all. */
  readonly tools?: { readonly allow?: readonly string[]; readonly block?: readonly string[] } | undefined;
  /** Tools that only read, and so may run in dry runs. Others count as writes. */
  readonly readTools?: readonly string[] | undefined;
  /** Tools that a human approves before the model's call runs; `true`: all of them. Default: none. */
  readonly needsApproval?: boolean | readonly string[] | undefined;
  /** How long a call may take, in milliseconds. Default 60 000; 600 000 for a peer. */
  readonly timeoutMs?: number | undefined;
}

/**
 * A server reached over HTTP. `${NAME}` in the url or a header stays as written and is filled in from the environment each
 * time a client opens.
 */
export interface HttpConnection extends SharedConnectionConfig {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined;
  /** Uses the tokens that `bdk mcp oauth <name>` stored. */
  readonly oauth?: boolean | undefined;
  /** For servers that speak only the event stream of the protocol's first revision. */
  readonly transport?: "sse" | undefined;
  readonly command?: never;
  readonly agent?: never;
  readonly cursorAccount?: never;
}

/**
 * A server started as a child process, without the host's environment. `${NAME}` in `env` is filled in at start.
 */
export interface StdioConnection extends SharedConnectionConfig {
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Working directory, relative to the project (of a bundle: to where it is started). Default: that folder. */
  readonly cwd?: string | undefined;
  readonly url?: never;
  readonly agent?: never;
  readonly cursorAccount?: never;
}

/** Another agent of the same host, by its slug. */
export interface PeerConnection extends SharedConnectionConfig {
  readonly agent: string;
  readonly url?: never;
  readonly command?: never;
  readonly cursorAccount?: never;
}

/** @deprecated Servers of a Cursor account; a private service, refused when used. */
export interface CursorAccountConnection extends SharedConnectionConfig {
  readonly cursorAccount: true;
  readonly servers?: readonly string[] | undefined;
  readonly url?: never;
  readonly command?: never;
  readonly agent?: never;
}

export type ConnectionConfig = HttpConnection | StdioConnection | PeerConnection | CursorAccountConnection;

/** What `defineConnection` returns. */
export type ConnectionDefinition = ConnectionConfig & { readonly __agentServe: "connection" };

/**
 * Connects to an MCP server.
 *
 * @example
 * export default defineConnection({
 *   url: "https://mcp.linear.app/mcp",
 *   headers: { Authorization: "Bearer ${LINEAR_TOKEN}" },
 * });
 */
export function defineConnection(config: ConnectionConfig): ConnectionDefinition {
  return { ...config, __agentServe: "connection" };
}
