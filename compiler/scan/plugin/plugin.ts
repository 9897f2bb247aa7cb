import type { Span } from "../../diagnostics/diagnostic.js";

/** Which host's layout the folder has. */
export type PluginFormat = "cursor" | "claude" | "agent-plugins";

/** An entry's contents as the plugin's reader gives them. */
export type PluginPart =
  | {
      readonly form: "prose";
      readonly description: string;
      readonly markdown: string;
      /** Subagents: an id of a model that is known here. */
      readonly model?: string;
      /** Subagents: the built-in tools that it may use. */
      readonly tools?: readonly string[];
    }
  | { readonly form: "server"; readonly server: PluginServer; readonly plugin: Plugin };

/** What a plugin brings, read and named, with its placeholders still in place. */
export interface Plugin {
  readonly format: PluginFormat;
  /** From the manifest, else the folder's name. */
  readonly name: string;
  readonly version?: string;
  readonly description?: string;
  /** The plugin's folder, POSIX, relative to the source's root. */
  readonly path: string;
  /** Sorted by name, as all lists here. */
  readonly skills: readonly PluginSkill[];
  readonly commands: readonly PluginCommand[];
  readonly agents: readonly PluginAgent[];
  readonly mcpServers: readonly PluginServer[];
  /** What stands in the folder and is not mounted. */
  readonly ignored: readonly PluginIgnored[];
  /** Names that placeholders and the manifest ask for. */
  readonly variables: readonly PluginVariable[];
}

interface Part {
  /** Short name, fit for a namespace in front: `[A-Za-z0-9_-]+` without `__`. */
  readonly name: string;
  readonly description: string;
  /** Markdown without front matter. */
  readonly markdown: string;
  /** The defining file, relative to the source's root. */
  readonly file: string;
}

export interface PluginSkill extends Part {
  /** Siblings of SKILL.md: path below the skill → path in the source. */
  readonly files: readonly { readonly path: string; readonly file: string }[];
}

/** A prompt that a person invokes by name; becomes a skill. */
export type PluginCommand = Part;

/** Becomes a subagent. */
export interface PluginAgent extends Part {
  /** As written: a host's alias (`sonnet`, `inherit`) or an id. */
  readonly model?: string;
  /** Names of the host's tools that it may use, as written. */
  readonly tools?: readonly string[];
  readonly readonly?: boolean;
}

interface ServerBase {
  readonly name: string;
  /** Where it is declared. */
  readonly span: Span;
}

export interface PluginHttpServer extends ServerBase {
  readonly transport: "http" | "sse";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Cursor's static OAuth client: `CLIENT_ID`, `CLIENT_SECRET`, `scopes`. */
  readonly auth?: Readonly<Record<string, string>>;
}

export interface PluginStdioServer extends ServerBase {
  readonly transport: "stdio";
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** An MCP server; becomes a connection. Its strings may hold placeholders, see `fillServers`. */
export type PluginServer = PluginHttpServer | PluginStdioServer;

export interface PluginIgnored {
  readonly what: string;
  /** Relative to the source's root. */
  readonly path: string;
}

export interface PluginVariable {
  readonly name: string;
  /** No placeholder and no declaration gives it a default. */
  readonly required: boolean;
  readonly default?: string;
  readonly description?: string;
}
