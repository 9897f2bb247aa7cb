/** What can be invoked besides a message: routes of custom channels, and tools. Pure, from what `GET /v1/info` tells. */
import type { AgentInfo, ChannelInfo, RouteInfo } from "./api.js";

export interface Endpoint {
  /** One name for one endpoint; remembered bodies hang on it. */
  readonly key: string;
  readonly method: string;
  /** Below the agent's own URL; `:name` stands for what the caller fills in. */
  readonly path: string;
  readonly description?: string;
  /** JSON Schema of the body, or of the query of a GET. */
  readonly schema?: unknown;
  /** What is typed becomes this property of the body; without it, all of the body. */
  readonly wrap?: string;
}

/** A channel route as a word of the composer. */
export interface SlashCommand {
  /** Without the slash. */
  readonly name: string;
  /** Property that the words behind the name fill: `prUrl` for `/drive <pr-url>`. */
  readonly argument?: string;
  readonly endpoint: Endpoint;
}

/** Packs are the ingress of a platform: what they take is signed by it and typed by nobody. */
const isCustom = ({ pack }: ChannelInfo) => pack === undefined;

export function routesOf(channel: ChannelInfo): readonly Endpoint[] {
  return isCustom(channel) ? channel.routes.map((route) => toEndpoint(channel, route)) : [];
}

export function toolEndpoint({ name, description, inputSchema }: AgentInfo["tools"][number]): Endpoint {
  return {
    key: `tool ${name}`,
    method: "POST",
    path: `/v1/tools/${encodeURIComponent(name)}`,
    ...(typeof description === "string" ? { description } : {}),
    schema: inputSchema,
    wrap: "input",
  };
}

/** Routes without path parameters. A channel's only one, and the one at its root, have the channel's name. */
export function commandsOf({ channels }: Pick<AgentInfo, "channels">): readonly SlashCommand[] {
  return channels.flatMap((channel) => {
    const routes = routesOf(channel).filter(({ path }) => !/[:*]/.test(path));
    const root = `/v1/channels/${channel.name}`;
    return routes.map((endpoint): SlashCommand => {
      const rest = endpoint.path.slice(root.length).replace(/^\/|\/$/g, "");
      const taken = routes.filter(({ path }) => path === endpoint.path).length > 1 && endpoint.method !== "POST";
      const words = [
        channel.name,
        ...(routes.length === 1 || rest === "" ? [] : rest.split("/")),
        ...(taken ? [endpoint.method.toLowerCase()] : []),
      ];
      const argument = soleProperty(endpoint.schema);
      return { name: words.join("-"), endpoint, ...(argument === undefined ? {} : { argument }) };
    });
  });
}

/** `/drive <pr-url>`. */
export function usageOf({ name, argument, endpoint }: SlashCommand): string {
  if (argument !== undefined) return `/${name} <${argument.replace(/[A-Z]/g, (each) => `-${each.toLowerCase()}`)}>`;
  return propertiesOf(endpoint.schema).length === 0 ? `/${name}` : `/${name} {json}`;
}

/** What a text asks for: `undefined` for a message to the model, which may begin with a slash as well. */
export function readCommand(
  text: string,
  commands: readonly SlashCommand[],
): { readonly command: SlashCommand; readonly body: unknown } | "help" | undefined {
  const [, name, rest = ""] = /^\/(\S+)(?:\s+([\s\S]*))?$/.exec(text.trim()) ?? [];
  if (name === undefined) return undefined;
  const command = commands.find((each) => each.name === name);
  if (command === undefined) return name === "help" ? "help" : undefined;
  if (/^[{[]/.test(rest)) return { command, body: JSON.parse(rest) };
  if (command.argument !== undefined) return { command, body: rest === "" ? {} : { [command.argument]: rest } };
  if (rest !== "") throw new Error(`/${name} takes JSON: ${usageOf(command)}`);
  return { command, body: {} };
}

/** A body to begin with: the required properties of the schema, empty. */
export function exampleBody(schema: unknown): unknown {
  const required = fieldOf(schema, "required");
  const names = Array.isArray(required) ? required.filter((each) => typeof each === "string") : [];
  return Object.fromEntries(names.map((name) => [name, emptyOf(fieldOf(fieldOf(schema, "properties"), name))]));
}

function emptyOf(schema: unknown): unknown {
  const options = fieldOf(schema, "enum");
  if (Array.isArray(options)) return options[0];
  switch (fieldOf(schema, "type")) {
    case "number":
    case "integer":
      return 0;
    case "boolean":
      return false;
    case "array":
      return [];
    case "object":
      return exampleBody(schema);
    default:
      return "";
  }
}

function toEndpoint(
  { name }: ChannelInfo,
  { method, path, description, bodySchema, querySchema }: RouteInfo,
): Endpoint {
  const schema = method === "GET" ? querySchema : bodySchema;
  const below = path === "/" ? "" : path;
  return {
    key: `${method} ${name} ${path}`,
    method,
    path: `/v1/channels/${name}${below}`,
    ...(description === undefined ? {} : { description }),
    ...(schema === undefined ? {} : { schema }),
  };
}

/** The one text that the words behind a command can be: the only required one, or the only one there is. */
function soleProperty(schema: unknown): string | undefined {
  const properties = propertiesOf(schema);
  const required = fieldOf(schema, "required");
  const needed = properties.filter((name) => Array.isArray(required) && required.includes(name));
  const [name, ...more] = needed.length > 0 ? needed : properties;
  if (name === undefined || more.length > 0) return undefined;
  return fieldOf(fieldOf(fieldOf(schema, "properties"), name), "type") === "string" ? name : undefined;
}

function propertiesOf(schema: unknown): readonly string[] {
  const properties = fieldOf(schema, "properties");
  return typeof properties === "object" && properties !== null ? Object.keys(properties) : [];
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}
