import { isObject, type JsonDocument, type JsonObject } from "./document.js";
import { serverPlaceholders } from "./placeholders.js";
import type { PluginFormat, PluginServer, PluginVariable } from "./plugin.js";

/** What the plugin asks its user for: declared in the manifest, or found in a placeholder of a server. */
export function readVariables(
  format: PluginFormat,
  manifest: JsonDocument | undefined,
  servers: readonly PluginServer[],
): readonly PluginVariable[] {
  const variables = new Map(declared(format, manifest?.value ?? {}).map((each) => [each.name, each]));
  for (const each of servers.flatMap(serverPlaceholders)) {
    if (each.asks !== "variable") continue;
    const known = variables.get(each.name);
    const fallback = known?.default;
    // A placeholder without a default needs the value even where another has one.
    const required = (each.default === undefined && fallback === undefined) || (known?.required ?? false);
    variables.set(each.name, { ...known, name: each.name, required });
  }
  return [...variables.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Cursor: `variables`, a JSON Schema. Claude: `userConfig`, by name. */
function declared(format: PluginFormat, manifest: JsonObject): PluginVariable[] {
  const { variables, userConfig } = manifest;
  if (format === "claude") {
    return isObject(userConfig)
      ? Object.entries(userConfig).map(([name, about]) =>
          variable(name, about, isObject(about) && about.required === true),
        )
      : [];
  }
  if (format !== "cursor" || !isObject(variables) || !isObject(variables.properties)) return [];
  const required = Array.isArray(variables.required) ? variables.required : [];
  return Object.entries(variables.properties).map(([name, about]) => variable(name, about, required.includes(name)));
}

function variable(name: string, about: unknown, required: boolean): PluginVariable {
  const { default: fallback, description } = isObject(about) ? about : {};
  const hasDefault = ["string", "number", "boolean"].includes(typeof fallback);
  return {
    name,
    required: required && !hasDefault,
    ...(hasDefault ? { default: String(fallback) } : {}),
    ...(typeof description === "string" ? { description } : {}),
  };
}
