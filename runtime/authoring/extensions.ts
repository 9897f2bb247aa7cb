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

/** A mount may leave out its settings where each of them has a default. */
type MountArguments<C> = C extends StandardSchema
  ? Record<never, never> extends Settings<C>
    ? [settings?: Settings<C>]
    : [settings: Settings<C>]
  : [];

/** What `defineExtension` returns: call it with settings to mount it, or export it as it is. */
export interface ExtensionDefinition<C = OptionalSchema> {
  (...settings: MountArguments<C>): ExtensionMount<C>;
  readonly __agentServe: "extension";
  readonly root: string;
  readonly description: string;
  readonly schema: C | undefined;
  /**
   * The settings of this mount, validated, with defaults: readable in every module of the package, also while it loads.
   * An extension that is exported as it is has its defaults. Throws where there is no mount to take settings from.
   */
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
  if (schema !== undefined && typeof schema?.["~standard"]?.validate !== "function") {
    throw new Error(
      "config of defineExtension is no Standard Schema: pass a schema such as z.object({ … }), or leave it out",
    );
  }
  let parsed: { readonly value: unknown } | { readonly refused: unknown } | undefined;
  let fallback: { readonly value: unknown } | undefined;

  function mount(settings?: Settings<C>): ExtensionMount<C> {
    if (Reflect.get(globalThis, pardon) === true) parsed = { value: settings ?? {} };
    parsed = take(schema, settings ?? {});
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
        const known = parsed ?? fallback ?? { value: defaults(schema) };
        if ("refused" in known) throw known.refused;
        if (parsed === undefined) fallback = known;
        return known.value;
      },
    },
  });
  return mount as unknown as ExtensionDefinition<C>;
}

/** One thing wrong with the settings of a mount; `path` is dotted, `""` for the settings as a whole. */
interface SettingsIssue {
  readonly path: string;
  readonly message: string;
}

/** The error of a mount. The mark lets the compiler tell it from the errors of project code. */
function settingsError(mark: "settings" | "unmounted", issues: readonly SettingsIssue[], message: string): Error {
  return Object.assign(new Error(message), { __agentServe: mark, issues });
}

/** A server that starts keeps a list here, to refuse the settings of all mounts at once rather than those of the first. */
const refusals = Symbol.for("@cursor/bdk/refused-settings");

/**
 * Set while a build reads what an extension brings with made-up settings: refused they are all the same, but its modules
 * load with them, so that what does not depend on settings is known.
 */
const pardon = Symbol.for("@cursor/bdk/pardoned-settings");

function take(schema: OptionalSchema, settings: unknown): { readonly value: unknown } | { readonly refused: unknown } {
  try {
    return { value: validate(schema, settings) };
  } catch (error) {
    const list: unknown = Reflect.get(globalThis, refusals);
    if (!Array.isArray(list) || !(error instanceof Error) || !("issues" in error)) throw error;
    list.push(error);
    return { refused: error };
  }
}

function validate(schema: OptionalSchema, settings: unknown): unknown {
  if (schema === undefined) return undefined;
  const issues = issuesOf(schema["~standard"].validate(settings));
  if ("value" in issues) return issues.value;
  const told = issues.list.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`));
  throw settingsError("settings", issues.list, `wrong settings: ${told.join("; ")}`);
}

/** The settings of an extension that nobody gave any. */
function defaults(schema: OptionalSchema): unknown {
  if (schema === undefined) return undefined;
  const issues = issuesOf(schema["~standard"].validate({}));
  if ("value" in issues) return issues.value;
  const fields = issues.list.map(({ path }) => path).filter((path) => path !== "");
  const needs = fields.length === 0 ? "" : `: it needs ${fields.join(", ")}`;
  throw settingsError("unmounted", issues.list, `the extension has no settings yet${needs}`);
}

function issuesOf(
  result: ReturnType<StandardSchema["~standard"]["validate"]>,
): { readonly value: unknown } | { readonly list: readonly SettingsIssue[] } {
  if (result instanceof Promise) {
    result.catch(() => undefined);
    // zod tries again asynchronously when a refinement or a transformation throws.
    const message = "settings can't be validated asynchronously, and the schema answers with a promise or throws";
    return { list: [{ path: "", message }] };
  }
  if (result.issues === undefined) return { value: result.value };
  return {
    list: result.issues.map(({ message, path = [] }) => ({
      message,
      path: path.map((part) => String(typeof part === "object" ? part.key : part)).join("."),
    })),
  };
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
  | "instructions"
  | "tool"
  | "skill"
  | "hook"
  | "channel"
  | "schedule"
  | "subagent"
  | "artifacts"
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
/** Removes the instructions. */
export function disableInstructions(): DisableDefinition {
  return { __agentServe: "disable", kind: "instructions" };
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
/** Removes all artifact kinds of the extension. */
export function disableArtifacts(): DisableDefinition {
  return { __agentServe: "disable", kind: "artifacts" };
}
/** Removes an MCP connection. */
export function disableConnection(): DisableDefinition {
  return { __agentServe: "disable", kind: "mcp-connection" };
}
/** The same, under the name of the slot. */
export const disableMcpConnection = disableConnection;
/** Removes a host connection. */
export function disableHostConnection(): DisableDefinition {
  return { __agentServe: "disable", kind: "host-connection" };
}
