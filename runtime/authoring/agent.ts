/** `bot/agent.ts` and `bot/subagents/<id>/agent.ts`. */

/** One setting of a model. Values are strings: `"high"`, `"true"`, `"256k"`. */
export interface ModelParam {
  readonly id: string;
  readonly value: string;
}

/**
 * A model, by id alone or with parameters: `"grok-4.5"`, `"openai/gpt-5"`, `"anthropic/claude-opus-5"`, `"offline"`.
 * Effort and speed are parameters, never part of the id.
 */
export type ModelSetting = string | { readonly id: string; readonly params?: readonly ModelParam[] };

/** Tools that come with the harness. */
export type BuiltinToolName = "read" | "write" | "edit" | "ls" | "glob" | "grep" | "shell" | "task";

/** Where the turns of a session work on files. */
export interface LocalConfig {
  /** Working directory of turns, relative to the project root; a clean parent keeps ambient AGENTS.md files out. */
  readonly cwd?: string | undefined;
  /** Folder in which session workspaces are made. Default: the user's cache folder. */
  readonly workspaceDir?: string | undefined;
  /** Runs `shell` without network, in the workspace only. Default false. */
  readonly sandbox?: boolean | undefined;
}

/** Read by a deployment only; ignored when serving locally. */
export interface HostingConfig {
  /** Hosts the deployment may reach: `api.acme.com`, `*.acme.com`, `acme.com:8443`. */
  readonly egressDomains?: readonly string[] | undefined;
  readonly secretNames?: readonly string[] | undefined;
  readonly image?: unknown;
}

/** All fields are optional: without `agent.ts` at all, the defaults below hold. */
export interface AgentConfig {
  /** Default `grok-4.5` with `effort=high` and `fast=true`; a subagent inherits the root's. */
  readonly model?: ModelSetting | undefined;
  /** Tried in order when the model can't be reached. */
  readonly modelFallbacks?: readonly ModelSetting[] | undefined;
  /** Display name. Default: `name` of package.json, else the folder's name. */
  readonly name?: string | undefined;
  /** What the agent is for. Required on a subagent: it is how the model chooses whom to ask. */
  readonly description?: string | undefined;
  /** System prompt, as an alternative to `instructions.md`. */
  readonly instructions?: string | undefined;
  /** Which built-in tools the model gets. Default: all but `shell`; `[]` for none. Authored tools are never filtered. */
  readonly tools?: readonly (BuiltinToolName | (string & {}))[] | undefined;
  /** Extra tools of the framework. */
  readonly builtinTools?: { readonly reminders?: boolean | undefined } | undefined;
  readonly local?: LocalConfig | undefined;
  /** Keeps one long-lived hosted runtime. Default false; ignored locally. */
  readonly persistent?: boolean | undefined;
  readonly hosting?: HostingConfig | undefined;
  readonly concurrency?:
    | {
        /** Turns that may run at once; those beyond wait as `turn.queued`. Default: no limit. */
        readonly maxRunningTurns?: number | undefined;
      }
    | undefined;
  /** @deprecated From an earlier version; accepted with a warning. */
  readonly runtime?: "local" | "cloud" | "grokbot" | undefined;
  /** @deprecated From an earlier version; accepted with a warning. */
  readonly cloud?: Readonly<Record<string, unknown>> | undefined;
  /** @deprecated From an earlier version; accepted with a warning. */
  readonly architecture?: string | undefined;
}

/** What `defineAgent` returns. */
export type AgentDefinition = AgentConfig & { readonly __agentServe: "agent" };

/**
 * Configures an agent.
 *
 * @example export default defineAgent({ model: "grok-4.5", tools: ["read", "grep"] });
 */
export function defineAgent(config: AgentConfig): AgentDefinition {
  return { ...config, __agentServe: "agent" };
}
