/** Connects to an MCP server of a plugin: fills the placeholders of its configuration when the bot starts. */
import type { PluginMount } from "./extensions.js";

/** A text with what has to be filled in: literals, and what stands between them. */
export type PluginText = readonly (string | PluginBlank)[];

/** A placeholder; `text` is how the plugin wrote it. */
export interface PluginBlank {
  readonly text: string;
  readonly asks: "variable" | "root" | "data" | "unknown";
  readonly name: string;
  readonly default?: string;
}

/** A server as the plugin declares it. */
export interface PluginServerTemplate {
  readonly name: string;
  readonly description?: string;
  readonly transport: "http" | "sse" | "stdio";
  readonly url?: PluginText;
  readonly headers?: Readonly<Record<string, PluginText>>;
  readonly auth?: Readonly<Record<string, PluginText>>;
  readonly command?: PluginText;
  readonly args?: readonly PluginText[];
  readonly env?: Readonly<Record<string, PluginText>>;
  readonly cwd?: PluginText;
}

/** Folders that placeholders may ask for. */
export interface PluginPlaces {
  /** Absolute. */
  readonly root: string;
  /** A mark that the host replaces: only it knows the state root. */
  readonly data: string;
}

/** The definition of a connection; values from `variables` stand in it and nowhere else. */
export interface PluginConnection {
  readonly __agentServe: "connection";
  readonly [field: string]: unknown;
}

/**
 * Throws, naming each of them, when placeholders have no value: a plugin's server is connected to whole or not at all.
 */
export function connectPluginServer(
  template: PluginServerTemplate,
  mount: PluginMount,
  places: PluginPlaces,
): PluginConnection {
  const issues: { readonly path: string; readonly message: string }[] = [];
  const { variables } = mount.plugin;
  let usesData = false;
  const give = ({ asks, name, default: fallback }: PluginBlank): string | undefined => {
    if (asks === "data") usesData = true;
    if (asks === "root" || asks === "data") return places[asks];
    if (asks === "unknown") return undefined;
    return (Object.hasOwn(variables, name) ? variables[name] : undefined) ?? fallback;
  };
  const fill = (text: PluginText, field: string): string =>
    text
      .map((part) => {
        if (typeof part === "string") return part;
        const value = give(part);
        if (value !== undefined) return value;
        issues.push({
          path: field,
          message: `${part.text} in ${field} has no value: variables.${part.name} is not set`,
        });
        return part.text;
      })
      .join("");
  const fillAll = (texts: Readonly<Record<string, PluginText>>, field: string) =>
    Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, fill(text, `${field}.${key}`)]));

  const { description, transport, url, headers, auth, command, args, env, cwd } = template;
  const connection: PluginConnection = {
    __agentServe: "connection",
    ...(description === undefined ? {} : { description }),
    ...(transport === "sse" ? { transport } : {}),
    ...(url === undefined ? {} : { url: fill(url, "url") }),
    ...(headers === undefined ? {} : { headers: fillAll(headers, "headers") }),
    ...(auth === undefined ? {} : { oauth: true, auth: fillAll(auth, "auth") }),
    ...(command === undefined ? {} : { command: fill(command, "command") }),
    ...(args === undefined ? {} : { args: args.map((text, index) => fill(text, `args[${index}]`)) }),
    ...(env === undefined ? {} : { env: fillAll(env, "env") }),
    ...(cwd === undefined ? {} : { cwd: fill(cwd, "cwd") }),
  };
  const whole = usesData ? { ...connection, dataDir: places.data } : connection;
  if (issues.length === 0) return whole;
  const reasons = issues.map(({ message }) => message).join("; ");
  throw Object.assign(new Error(`the MCP server "${template.name}" can't be connected to: ${reasons}`), {
    __agentServe: "placeholders" as const,
    issues,
  });
}
