import { parentOf } from "../../source.js";
import { isObject, type JsonDocument, type JsonObject, readJsonObject, textOf } from "./document.js";
import type { PluginFormat } from "./plugin.js";
import type { PluginReader } from "./reader.js";

/** The manifest of a plugin, as far as it was needed to know what it is. */
export interface PluginManifest {
  readonly format: PluginFormat;
  /** Absent for a Claude plugin without one. */
  readonly document?: JsonDocument;
  readonly name: string;
  readonly version?: string;
  readonly description?: string;
}

const agentPluginsSchema = "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json";

/** Keys of the published schemas. Cursor's and Agent Plugins' are closed; what Claude's host adds is let through. */
const knownKeys: Readonly<Record<Exclude<PluginFormat, "claude">, ReadonlySet<string>>> = {
  cursor: new Set(
    (
      "name displayName description version minClientVersions author publisher homepage repository license logo " +
      "keywords category tags commands agents skills rules hooks variables mcpServers"
    ).split(" "),
  ),
  "agent-plugins": new Set(
    "$schema name version description author homepage repository license keywords extensions".split(" "),
  ),
};

/**
 * Finds out which of the three formats the folder has, in the order in which their hosts would claim it.
 *
 * @returns undefined, and an error, when it is none or its manifest can't be read
 */
export function readPluginManifest(reader: PluginReader): PluginManifest | undefined {
  for (const [format, file] of [
    ["cursor", ".cursor-plugin/plugin.json"],
    ["claude", ".claude-plugin/plugin.json"],
    ["agent-plugins", "plugin.json"],
  ] as const) {
    if (reader.typeOf(file) !== "file") continue;
    const document = readJsonObject(file, reader);
    if (document === undefined) return undefined;
    if (format === "agent-plugins" && !checkVersion(document, reader)) return undefined;
    if (format !== "claude") checkKeys(document, knownKeys[format], reader);
    return describe(format, document, reader);
  }
  const parts = ["skills", "commands", "agents", ".mcp.json"].filter((name) => reader.typeOf(name) !== undefined);
  if (parts.length > 0) return { format: "claude", name: folderName(reader) };
  reader.report("pluginMissing", {
    message: `${reader.path === "" ? "the project's folder" : reader.path} holds no plugin`,
    ...(reader.path === "" ? {} : { at: reader.start("") }),
    help:
      marketplaceHelp(reader) ?? "expected .cursor-plugin/plugin.json, .claude-plugin/plugin.json or plugin.json there",
  });
  return undefined;
}

function describe(format: PluginFormat, document: JsonDocument, reader: PluginReader): PluginManifest {
  const { name, version, description } = document.value;
  const named = textOf(name);
  if (named === undefined) {
    reader.report("pluginManifestOdd", {
      message: `the manifest has no name; the folder's is used: ${folderName(reader)}`,
      at: document.spanOf("name"),
    });
  } else if (!/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(named)) {
    reader.report("pluginManifestOdd", {
      message: `"${named}" is not a plugin's name: lower-case letters, digits, hyphens and dots`,
      at: document.spanOf("name"),
    });
  }
  return {
    format,
    document,
    name: named ?? folderName(reader),
    ...(typeof version === "string" ? { version } : {}),
    ...(typeof description === "string" ? { description } : {}),
  };
}

function checkVersion({ value, spanOf, file }: JsonDocument, reader: PluginReader): boolean {
  const { $schema: schema } = value;
  if (schema === agentPluginsSchema) return true;
  if (schema === undefined) {
    reader.report("pluginManifestOdd", {
      message: `${file} names no $schema; it is read as Agent Plugins 1.0`,
      at: reader.start(file),
      help: `add "$schema": "${agentPluginsSchema}"`,
    });
    return true;
  }
  reader.report("pluginManifest", {
    message: `${file} follows ${JSON.stringify(schema)}, which is not read here`,
    at: spanOf("$schema"),
    help: `Agent Plugins 1.0 is read: ${agentPluginsSchema}`,
  });
  return false;
}

function checkKeys(document: JsonDocument, known: ReadonlySet<string>, reader: PluginReader): void {
  for (const key of Object.keys(document.value)) {
    if (known.has(key)) continue;
    reader.report("pluginManifestOdd", {
      message: `the manifest's key "${key}" is not in its schema and is ignored`,
      at: document.spanOf(key),
    });
  }
}

function folderName(reader: PluginReader): string {
  return reader.path.slice(parentOf(reader.path).length).replace(/^\//, "") || "plugin";
}

/** A folder of plugins is not a plugin: say which there are. */
function marketplaceHelp(reader: PluginReader): string | undefined {
  const file = [".cursor-plugin", ".claude-plugin"]
    .map((folder) => `${folder}/marketplace.json`)
    .find((each) => reader.typeOf(each) === "file");
  if (file === undefined) return undefined;
  const plugins = readJsonObject(file, reader)?.value.plugins;
  const sources = (Array.isArray(plugins) ? plugins : []).flatMap((each: unknown) =>
    isObject(each) && typeof each.source === "string" ? [each.source.replace(/^\.\//, "")] : [],
  );
  const listed = sources.slice(0, 8).join(", ");
  return `this is a marketplace; mount one of its plugins${listed === "" ? "" : `: ${listed}`}`;
}

/** Values of a field that takes a string or a list of strings; undefined when it is absent. */
export function stringsOf(value: JsonObject, key: string): readonly string[] | undefined {
  const field = value[key];
  if (field === undefined) return undefined;
  return Array.isArray(field)
    ? field.filter((each) => typeof each === "string")
    : typeof field === "string"
      ? [field]
      : [];
}
