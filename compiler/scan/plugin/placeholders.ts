import type { Result } from "../../diagnostics/diagnostic.js";
import { type Diagnostic, diagnostic } from "../../diagnostics/diagnostic.js";
import { suggest } from "../../diagnostics/suggest.js";
import type { Plugin, PluginServer } from "./plugin.js";

/** One `${…}` in a text. */
export interface Placeholder {
  /** As written: `${TOKEN:-none}`. */
  readonly text: string;
  /** What it asks for: a variable, the plugin's folder, its data folder, or something no one here can give. */
  readonly asks: "variable" | "root" | "data" | "unknown";
  readonly name: string;
  readonly default?: string;
}

/** What placeholders are filled from. */
export interface PluginValues {
  /** From `cursorPlugin({ variables })`; an undefined one counts as not given. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Absolute path of the plugin's folder where the server will run. */
  readonly root: string;
  /** Absolute path of a folder that the plugin may write to. */
  readonly data: string;
}

const placeholder = /\$\{([^{}]*)\}/g;
const roots: ReadonlySet<string> = new Set(["PLUGIN_ROOT", "CLAUDE_PLUGIN_ROOT", "CURSOR_PLUGIN_ROOT"]);
const datas: ReadonlySet<string> = new Set(["PLUGIN_DATA", "CLAUDE_PLUGIN_DATA", "CURSOR_PLUGIN_DATA"]);

export function placeholdersOf(text: string): readonly Placeholder[] {
  return [...text.matchAll(placeholder)].map(([whole, inner = ""]) => parse(whole, inner));
}

function parse(text: string, inner: string): Placeholder {
  const match = /^(?:env:|user_config\.)?([A-Za-z_]\w*)(?::-([\s\S]*))?$/.exec(inner);
  const [, name, fallback] = match ?? [];
  if (name === undefined) return { text, asks: "unknown", name: inner };
  const asks = roots.has(name) ? "root" : datas.has(name) ? "data" : "variable";
  return { text, asks, name, ...(fallback === undefined ? {} : { default: fallback }) };
}

/** Fills a text once: what a value contains is never expanded again. A variable that is set but empty is set. */
export function fillText(text: string, give: (each: Placeholder) => string | undefined): string {
  return text.replace(placeholder, (whole, inner: string) => give(parse(whole, inner)) ?? whole);
}

/**
 * The plugin's servers with every placeholder filled. One that has no value is an error, and then no server comes back:
 * a plugin is mounted whole or not at all.
 */
export function fillServers(plugin: Plugin, values: PluginValues): Result<readonly PluginServer[]> {
  const diagnostics: Diagnostic[] = [];
  const defaults = new Map(plugin.variables.map((each) => [each.name, each.default]));
  const servers = plugin.mcpServers.map((server) =>
    mapStrings(server, (text, field) =>
      fillText(text, (each) => {
        const value = valueFor(each, values, defaults);
        if (value === undefined) diagnostics.push(unfilled(server, field, each, values));
        return value;
      }),
    ),
  );
  for (const variable of plugin.variables) {
    const asked = plugin.mcpServers.some((server) => asksFor(server, variable.name));
    if (asked || !variable.required || values.variables[variable.name] !== undefined) continue;
    diagnostics.push(
      diagnostic("pluginPlaceholder", {
        message: `the plugin ${plugin.name} requires the variable ${variable.name}`,
        help: `pass it: cursorPlugin({ path, variables: { ${variable.name}: process.env.${variable.name} } })`,
      }),
    );
  }
  return { value: diagnostics.length === 0 ? servers : [], diagnostics };
}

function valueFor(
  { asks, name, default: own }: Placeholder,
  { variables, root, data }: PluginValues,
  defaults: ReadonlyMap<string, string | undefined>,
): string | undefined {
  if (asks === "root") return root;
  if (asks === "data") return data;
  const given = Object.hasOwn(variables, name) ? variables[name] : undefined;
  return asks === "unknown" ? undefined : (given ?? own ?? defaults.get(name));
}

function unfilled(
  server: PluginServer,
  field: string,
  { text, name, asks }: Placeholder,
  values: PluginValues,
): Diagnostic {
  const given = Object.keys(values.variables);
  const close = given.includes(name) ? undefined : suggest(name, given);
  const pass = `pass it: cursorPlugin({ path, variables: { ${name}: process.env.${name} } })`;
  return diagnostic("pluginPlaceholder", {
    message: `${text} in ${field} of the MCP server "${server.name}" has no value`,
    at: server.span,
    help:
      asks === "unknown"
        ? "only the host it was written for can fill this one; overlay the server with one of your own"
        : close === undefined
          ? pass
          : `did you mean ${close} to be ${name}? ${pass}`,
  });
}

/** All placeholders of a server. */
export function serverPlaceholders(server: PluginServer): readonly Placeholder[] {
  const found: Placeholder[] = [];
  mapStrings(server, (text) => {
    found.push(...placeholdersOf(text));
    return text;
  });
  return found;
}

function asksFor(server: PluginServer, name: string): boolean {
  return serverPlaceholders(server).some((each) => each.asks === "variable" && each.name === name);
}

/** The server with every string that may hold placeholders passed through `map`, which also hears the field's name. */
function mapStrings(server: PluginServer, map: (text: string, field: string) => string): PluginServer {
  const record = (values: Readonly<Record<string, string>>, field: string) =>
    Object.fromEntries(Object.entries(values).map(([key, value]) => [key, map(value, `${field}.${key}`)]));
  if (server.transport === "stdio") {
    const { command, args, env, cwd } = server;
    return {
      ...server,
      command: map(command, "command"),
      args: args.map((value, index) => map(value, `args[${index}]`)),
      env: record(env, "env"),
      ...(cwd === undefined ? {} : { cwd: map(cwd, "cwd") }),
    };
  }
  const { url, headers, auth } = server;
  return {
    ...server,
    url: map(url, "url"),
    headers: record(headers, "headers"),
    ...(auth === undefined ? {} : { auth: record(auth, "auth") }),
  };
}
