/** What the connections of an agent need of the world, and what they offer to it. */
import type { HostMcpApi } from "../authoring/host.js";
import type { AgentGeneration } from "../manifest/bundle.js";
import type { ToolSpec } from "../session/model.js";
import type { CallableTool, Clock, Log, SessionRecord } from "../session/ports.js";
import type { Caller } from "../session/service.js";
import type { ConnectionAuth } from "./auth.js";
import type { Logins } from "./logins.js";

/** Another agent of this host, as it is reached over HTTP. */
export interface PeerAddress {
  /** Its MCP endpoint. */
  readonly url: string;
  /** A header that lets it in as this principal; made for each request. */
  pass(principal: Caller["auth"]): Readonly<Record<string, string>>;
}

export interface ConnectionSources {
  /** Looked at each time a connection opens. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Absolute folder that servers are started in, and that their `cwd` is relative to. */
  readonly base: string;
  /** Version of the runtime, told to servers. */
  readonly version: string;
  /** Makes a folder, and those above it, unless it is there. */
  readonly makeFolder: (folder: string) => Promise<void>;
  /** `undefined`: no agent of that slug is mounted. */
  readonly peer: (slug: string) => PeerAddress | undefined;
  /** Tokens of connections with `oauth: true`; absent: there are none. */
  readonly authProvider?: ConnectionAuth;
  /** Where the logins are that `bdk mcp oauth` stores: what `authProvider` is made from by default. */
  readonly logins?: Logins;
  readonly clock: Clock;
  readonly log: Log;
}

/** On whose behalf a connection is used. */
export interface ConnectionScope {
  readonly record?: SessionRecord | undefined;
  readonly caller?: Caller["auth"] | undefined;
}

/** A connection that could not be used when it was last tried. */
export interface ConnectionFailure {
  readonly connection: string;
  readonly code: string;
  readonly message: string;
}

/** An advertised tool, as the catalog tells of it. */
export interface CatalogTool {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  /** Name of the connection. */
  readonly connection: string;
  /** What the server calls it. */
  readonly tool: string;
  readonly effect: "read" | "write";
  readonly needsApproval: boolean;
  readonly timeoutMs: number;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly outputSchema?: Readonly<Record<string, unknown>>;
}

export interface Catalog {
  readonly tools: readonly CatalogTool[];
  readonly connectionErrors: readonly ConnectionFailure[];
}

/** The connections of one agent, over all generations of its code. */
export interface Connections {
  /** What a model may be told of. A server that does not answer in time is left out; this never rejects. */
  specs(of: AgentGeneration): Promise<readonly ToolSpec[]>;
  /** A tool by its name for the model; `undefined` when the server says that it has none of that name. */
  tool(of: AgentGeneration, name: string): Promise<CallableTool | undefined>;
  /** Everything advertised, as the servers tell it now. */
  catalog(of: AgentGeneration): Promise<Catalog>;
  readonly host: (of: AgentGeneration, scope: ConnectionScope) => Omit<HostMcpApi, "names">;
  /** Of the last attempts, without a new one; host connections are left out. */
  failures(of: AgentGeneration): readonly ConnectionFailure[];
  /** Names for the model that are known without asking. */
  knownNames(of: AgentGeneration): readonly string[];
  /** The running code is new: connections that it does not have are closed once nothing uses them. */
  retain(of: AgentGeneration): void;
  /** Ends every server and every stream. */
  close(): Promise<void>;
}

/** What the section `connections` exports. */
export interface ConnectionsSection {
  createConnections(sources: ConnectionSources): Connections;
}
