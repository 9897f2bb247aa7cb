/** `bot/extensions/<ns>.ts`: mounts of packages and plugins, and the overlays that adjust them. */
import type { InferInput, InferOutput, StandardSchema } from "./schema.js";

type OptionalSchema = StandardSchema | undefined;
type Settings<C> = C extends StandardSchema ? InferInput<C> : undefined;
type Config<C> = C extends StandardSchema ? InferOutput<C> : undefined;

/** An extension package, as its `extension.ts` writes it. */
export interface ExtensionConfig<C> {
  /** The package's folder: `import.meta.dirname`. */
  readonly root: string;
  readonly description: string;
  /** Checks the settings of a mount; defaults apply. Left out: the extension takes none. */
  readonly config?: C | undefined;
}

/** A mounted extension: the default export of `bot/extensions/<ns>.ts`. */
export interface ExtensionMount<C = OptionalSchema> {
  readonly __agentServe: "extension";
  readonly root: string;
  readonly description: string;
  readonly settings: Settings<C>;
}

/** What `defineExtension` returns: call it with settings to mount it, or export it as it is. */
export interface ExtensionDefinition<C = OptionalSchema> {
  (...settings: C extends StandardSchema ? [settings: Settings<C>] : []): ExtensionMount<C>;
  readonly __agentServe: "extension";
  readonly root: string;
  readonly description: string;
  readonly schema: C | undefined;
  /** The settings of this mount, validated, with defaults. Throws before it was mounted. */
  readonly config: Config<C>;
}

/**
 * Defines an extension package.
 *
 * @example
 * export default defineExtension({
 *   root: import.meta.dirname,
 *   description: "Investigates failing builds.",
 *   config: z.object({ org: z.string(), logTailLines: z.number().default(200) }),
 * });
 */
export function defineExtension<C extends OptionalSchema = undefined>(
  options: ExtensionConfig<C>,
): ExtensionDefinition<C> {
  const { root, description, config: schema } = options;
  let parsed: { readonly value: unknown } | undefined;

  function mount(settings?: Settings<C>): ExtensionMount<C> {
    const result = schema === undefined ? { value: undefined } : schema["~standard"].validate(settings);
    if (result instanceof Promise) throw new Error("an extension's settings can't be validated asynchronously");
    if (result.issues !== undefined) {
      const problems = result.issues.map((issue) => {
        const path = (issue.path ?? []).map((part) => String(typeof part === "object" ? part.key : part)).join(".");
        return path === "" ? issue.message : `${path}: ${issue.message}`;
      });
      throw new Error(`wrong settings: ${problems.join("; ")}`);
    }
    parsed = { value: result.value };
    return { __agentServe: "extension", root, description, settings: settings as Settings<C> };
  }

  Object.defineProperties(mount, {
    __agentServe: { value: "extension", enumerable: true },
    root: { value: root, enumerable: true },
    description: { value: description, enumerable: true },
    schema: { value: schema, enumerable: true },
    config: {
      enumerable: true,
      get() {
        if (parsed === undefined) throw new Error("the extension isn't mounted: its settings are not known yet");
        return parsed.value;
      },
    },
  });
  return mount as unknown as ExtensionDefinition<C>;
}

/** A vendored Cursor or Claude plugin, mounted under a namespace. */
export interface PluginMount {
  readonly __agentServe: "extension";
  readonly plugin: {
    /** Relative to the project root. */
    readonly path: string;
    /** Fills the placeholders of the plugin's MCP configuration. */
    readonly variables: Readonly<Record<string, string | undefined>>;
  };
}

/**
 * Mounts a plugin folder.
 *
 * @example export default cursorPlugin({ path: "plugins/notion", variables: { TOKEN: process.env.NOTION_TOKEN } });
 */
export function cursorPlugin(options: {
  readonly path: string;
  readonly variables?: Readonly<Record<string, string | undefined>>;
}): PluginMount {
  return { __agentServe: "extension", plugin: { path: options.path, variables: options.variables ?? {} } };
}

/** Kinds of contributions that an overlay can remove. */
export type DisableableKind =
  | "tool"
  | "skill"
  | "hook"
  | "channel"
  | "schedule"
  | "subagent"
  | "mcp-connection"
  | "host-connection";

/** The default export of an overlay file that removes a contribution. */
export interface DisableDefinition {
  readonly __agentServe: "disable";
  /** Left out: the file's place says it. */
  readonly kind?: DisableableKind;
}

/** Removes the contribution that the overlay file stands for. */
export function disable(): DisableDefinition {
  return { __agentServe: "disable" };
}
/** Removes a tool. */
export function disableTool(): DisableDefinition {
  return { __agentServe: "disable", kind: "tool" };
}
/** Removes a skill. */
export function disableSkill(): DisableDefinition {
  return { __agentServe: "disable", kind: "skill" };
}
/** Removes a hook. */
export function disableHook(): DisableDefinition {
  return { __agentServe: "disable", kind: "hook" };
}
/** Removes a channel. */
export function disableChannel(): DisableDefinition {
  return { __agentServe: "disable", kind: "channel" };
}
/** Removes a schedule. */
export function disableSchedule(): DisableDefinition {
  return { __agentServe: "disable", kind: "schedule" };
}
/** Removes a subagent. */
export function disableSubagent(): DisableDefinition {
  return { __agentServe: "disable", kind: "subagent" };
}
/** Removes an MCP connection. */
export function disableConnection(): DisableDefinition {
  return { __agentServe: "disable", kind: "mcp-connection" };
}
/** Removes a host connection. */
export function disableHostConnection(): DisableDefinition {
  return { __agentServe: "disable", kind: "host-connection" };
}
