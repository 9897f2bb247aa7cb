import type { Span } from "../../diagnostics/diagnostic.js";
import { insidePath } from "./declared.js";
import { isObject, type JsonDocument, type JsonObject, readJsonObject, textOf } from "./document.js";
import { mountName } from "./names.js";
import type { PluginFormat, PluginServer } from "./plugin.js";
import type { PluginReader } from "./reader.js";

/** A server as some file declares it. */
interface Declared {
  readonly name: string;
  readonly value: unknown;
  readonly span: Span;
  /** File it stands in, relative to the plugin. */
  readonly file: string;
}

const agentPluginsSchema = "https://agent-plugins.org/schemas/1.0.0/mcp.schema.json";

/** Where each host looks when the manifest names no file; the first that is there counts. */
const defaultFiles: Readonly<Record<PluginFormat, readonly string[]>> = {
  cursor: ["mcp.json", ".mcp.json"],
  claude: [".mcp.json"],
  "agent-plugins": ["mcp.json"],
};

/** The plugin's MCP servers: from the manifest, where its format allows that, or from the usual file. */
export function readServers(
  format: PluginFormat,
  manifest: JsonDocument | undefined,
  reader: PluginReader,
): readonly PluginServer[] {
  const inManifest = format === "agent-plugins" ? undefined : manifest?.value.mcpServers;
  const named = manifest === undefined || inManifest === undefined ? [] : fromManifest(inManifest, manifest, reader);
  // Cursor's explicit field replaces discovery; Claude's adds to it.
  const usual = inManifest !== undefined && format === "cursor" ? [] : fromDefaultFile(format, reader);
  const byName = new Map<string, PluginServer>();
  for (const declared of [...named, ...usual]) {
    const server = readServer(declared, format, reader);
    if (server === undefined) continue;
    if (!byName.has(server.name)) byName.set(server.name, server);
    else {
      const message = `left out: the MCP server "${server.name}" is declared already`;
      reader.report("pluginPartSkipped", { message, at: declared.span });
    }
  }
  return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** A path, an object of servers, or a list of either. */
function fromManifest(value: unknown, manifest: JsonDocument, reader: PluginReader): Declared[] {
  return (Array.isArray(value) ? value : [value]).flatMap((each: unknown) => {
    if (isObject(each)) return declarations(each, manifest, reader);
    if (typeof each === "string") return fromNamedFile(each, manifest, reader);
    const message = "mcpServers takes a path, an object of servers, or a list of these";
    reader.report("pluginManifest", { message, at: manifest.spanOf("mcpServers") });
    return [];
  });
}

function fromNamedFile(path: string, manifest: JsonDocument, reader: PluginReader): Declared[] {
  const file = insidePath(path);
  if (file === undefined) {
    const message = `"${path}" leads out of the plugin's folder`;
    reader.report("pluginPathOutside", { message, at: manifest.spanOf(path) });
    return [];
  }
  if (reader.typeOf(file) !== "file") {
    const message = `the manifest names "${path}", and there is no such file`;
    reader.report("pluginPathMissing", { message, at: manifest.spanOf(path) });
    return [];
  }
  const document = readJsonObject(file, reader);
  return document === undefined ? [] : declarations(document.value, document, reader);
}

function fromDefaultFile(format: PluginFormat, reader: PluginReader): Declared[] {
  const file = defaultFiles[format].find((each) => reader.typeOf(each) === "file");
  const document = file === undefined ? undefined : readJsonObject(file, reader);
  if (document === undefined) return [];
  if (format === "agent-plugins" && document.value.$schema !== agentPluginsSchema) {
    reader.report("pluginManifestOdd", {
      message: `${document.file} does not name the schema ${agentPluginsSchema}`,
      at: document.spanOf("$schema"),
    });
  }
  return declarations(document.value, document, reader);
}

/** Servers stand under `mcpServers`, or are the whole of the file. */
function declarations(value: JsonObject, document: JsonDocument, reader: PluginReader): Declared[] {
  const { mcpServers: wrapped } = value;
  if (wrapped !== undefined && !isObject(wrapped)) {
    const message = "mcpServers is not an object of servers";
    reader.report("pluginServer", { message, at: document.spanOf("mcpServers") });
    return [];
  }
  return Object.entries(wrapped ?? value)
    .filter(([name]) => wrapped !== undefined || !name.startsWith("$"))
    .map(([name, each]) => ({ name, value: each, span: document.spanOf(name), file: document.file }));
}

const stdioTypes: ReadonlySet<string> = new Set(["stdio"]);
const httpTypes: ReadonlySet<string> = new Set(["http", "streamable-http", "streamableHttp", "streamable_http"]);

function readServer(declared: Declared, format: PluginFormat, reader: PluginReader): PluginServer | undefined {
  const { value, span } = declared;
  const refuse = (problem: string, help?: string) => {
    const message = `the MCP server "${declared.name}" ${problem}`;
    reader.report("pluginServer", { message, at: span, ...(help === undefined ? {} : { help }) });
    return undefined;
  };
  if (!isObject(value)) return refuse("is not an object");
  if (value.disabled === true) {
    const message = `left out: the MCP server "${declared.name}" is disabled`;
    reader.report("pluginPartSkipped", { message, at: span });
    return undefined;
  }
  const [command, url] = [textOf(value.command), textOf(value.url)];
  const type = value.type ?? value.transport ?? (command === undefined ? "http" : "stdio");
  if (command !== undefined && url !== undefined) return refuse("has both a command and a url", "keep one of them");
  const name = mountName(declared.name, "MCP server", declared.file, reader);
  if (name === undefined) return undefined;
  if (typeof type === "string" && stdioTypes.has(type)) {
    if (command === undefined) return refuse("has no command");
    return stdioServer(name, command, value, span, format, refuse);
  }
  if (typeof type !== "string" || !(httpTypes.has(type) || type === "sse")) {
    return refuse(`has the type ${JSON.stringify(type)}`, "known are stdio, http, streamable-http and sse");
  }
  if (url === undefined) return refuse("has neither a command nor a url");
  const headers = strings(value.headers);
  const auth = strings(value.auth);
  if (headers === undefined) return refuse("has headers that are not an object of strings");
  if (auth === undefined) return refuse("has an auth that is not an object of strings");
  const hasAuth = value.auth !== undefined;
  return { name, transport: type === "sse" ? "sse" : "http", url, headers, ...(hasAuth ? { auth } : {}), span };
}

function stdioServer(
  name: string,
  command: string,
  { args = [], env: environment, cwd }: JsonObject,
  span: Span,
  format: PluginFormat,
  refuse: (problem: string, help?: string) => undefined,
): PluginServer | undefined {
  if (!Array.isArray(args) || !args.every((each) => typeof each === "string")) {
    return refuse("has args that are not a list of strings");
  }
  const env = strings(environment);
  if (env === undefined) return refuse("has an env that is not an object of strings");
  const reserved = ["PLUGIN_ROOT", "PLUGIN_DATA"].find((each) => Object.hasOwn(env, each));
  if (format === "agent-plugins" && reserved !== undefined) return refuse(`sets ${reserved}, which its host sets`);
  if (cwd !== undefined && typeof cwd !== "string") return refuse("has a cwd that is not a string");
  if (cwd !== undefined && !staysInside(cwd)) {
    return refuse(`has a cwd outside the plugin: ${cwd}`, "start it with ./ or ${PLUGIN_ROOT}/");
  }
  return { name, transport: "stdio", command, args, env, ...(cwd === undefined ? {} : { cwd }), span };
}

/** A working directory below the plugin or its data folder; one that a variable gives is judged by its user. */
function staysInside(cwd: string): boolean {
  const ofHost = /^\$\{(?:CLAUDE_|CURSOR_)?PLUGIN_(?:ROOT|DATA)\}(?=\/|$)/;
  if (cwd.startsWith("${") && !ofHost.test(cwd)) return true;
  return insidePath(cwd.replace(ofHost, ".")) !== undefined;
}

/** An object of strings; numbers and booleans are written out, as hosts do. Absent: empty. */
function strings(value: unknown): Readonly<Record<string, string>> | undefined {
  if (value === undefined) return {};
  if (!isObject(value)) return undefined;
  const entries = Object.entries(value).filter(([, each]) => each !== null);
  if (!entries.every(([, each]) => ["string", "number", "boolean"].includes(typeof each))) return undefined;
  return Object.fromEntries(entries.map(([key, each]) => [key, String(each)]));
}
