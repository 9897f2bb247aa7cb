/** Mounts of plugins: their parts as entries under the namespace. */
import { type Diagnostic, diagnostic, hasErrors } from "../diagnostics/diagnostic.js";
import type { Plugin, PluginAgent, PluginPart, PluginServer } from "../scan/plugin/plugin.js";
import type { Entry, PackageRef, TreeMount } from "../scan/tree.js";
import type { Kind } from "../slots.js";
import { joinPath } from "../source.js";
import type { Mounted } from "./extension.js";
import type { Ground } from "./ground.js";
import type { PluginTarget } from "./target.js";

/**
 * Reads the plugin and makes entries of it. What is wrong with it is said at the mount, where it has no better place;
 * then nothing of it is mounted.
 *
 * @param replaced Names of servers that an overlay stands for: their placeholders are nobody's concern.
 */
export async function mountPlugin(
  own: Pick<TreeMount, "namespace" | "file">,
  target: PluginTarget,
  projectDir: string,
  replaced: ReadonlySet<string>,
  { source }: Ground,
): Promise<Mounted> {
  const mount: TreeMount = { ...own, form: "unknown" };
  if (typeof target.path !== "string") {
    return { mount, entries: [], diagnostics: [computedPath(target)] };
  }
  // The reader brings a YAML parser along: only projects with a plugin pay for it.
  const { readPlugin } = await import("../scan/plugin/read.js");
  const read = readPlugin(source, joinPath(projectDir, target.path));
  const said = read.diagnostics.map((each) => placed(each, target));
  const plugin = read.value;
  if (plugin === undefined) return { mount, entries: [], diagnostics: said };
  const ref: PackageRef = { name: plugin.name, ...(plugin.version === undefined ? {} : { version: plugin.version }) };
  const unfilled = await checkPlaceholders(plugin, target, replaced);
  if (hasErrors(unfilled))
    return { mount: { ...mount, package: ref }, entries: [], diagnostics: [...said, ...unfilled] };
  return {
    mount: { ...own, form: "plugin", package: ref },
    entries: entriesOf(plugin, { layer: "extension", mount: own.namespace, package: ref }),
    diagnostics: [...said, ...unfilled],
  };
}

function computedPath({ at }: PluginTarget): Diagnostic {
  return diagnostic("pluginPathComputed", {
    message: "the path of a plugin must be written out: what a plugin adds is fixed when the project is built",
    at,
    help: 'write it as a string, such as path: "plugins/notion"',
  });
}

function placed(each: Diagnostic, { at }: PluginTarget): Diagnostic {
  return each.labels.length > 0 ? each : { ...each, labels: [{ span: at, primary: true }] };
}

/** Placeholders that no variable of the mount can fill, whatever the environment holds. */
async function checkPlaceholders(
  plugin: Plugin,
  target: PluginTarget,
  replaced: ReadonlySet<string>,
): Promise<readonly Diagnostic[]> {
  const { fillServers, serverPlaceholders } = await import("../scan/plugin/placeholders.js");
  const given = target.variables.open
    ? [...target.variables.names, ...plugin.variables.map(({ name }) => name)]
    : target.variables.names;
  const left = withoutServers(plugin, replaced, serverPlaceholders);
  const filled = fillServers(left, {
    variables: Object.fromEntries(given.map((name) => [name, name])),
    root: "/plugin",
    data: "/data",
  });
  return filled.diagnostics.map((each) => placed(each, target));
}

/** The plugin without some of its servers, and without the variables that only those ask for. */
function withoutServers(
  plugin: Plugin,
  names: ReadonlySet<string>,
  placeholdersOf: (server: PluginServer) => readonly { readonly name: string }[],
): Plugin {
  const asked = (servers: readonly PluginServer[]) => new Set(servers.flatMap(placeholdersOf).map(({ name }) => name));
  const gone = asked(plugin.mcpServers.filter(({ name }) => names.has(name)));
  const mcpServers = plugin.mcpServers.filter(({ name }) => !names.has(name));
  const kept = asked(mcpServers);
  return { ...plugin, mcpServers, variables: plugin.variables.filter(({ name }) => kept.has(name) || !gone.has(name)) };
}

function entriesOf(plugin: Plugin, origin: Pick<Entry, "layer" | "mount" | "package">): readonly Entry[] {
  const entry = (kind: Kind, name: string, file: string, part: PluginPart, files: readonly string[] = []): Entry => ({
    kind,
    name,
    file,
    files,
    ...origin,
    part,
  });
  const prose = (each: { readonly description: string; readonly markdown: string }) =>
    ({ form: "prose", description: each.description, markdown: each.markdown }) as const;
  return [
    ...plugin.skills.map((skill) =>
      entry(
        "skill",
        skill.name,
        skill.file,
        prose(skill),
        skill.files.map(({ file }) => file),
      ),
    ),
    ...plugin.commands.map((command) => entry("skill", command.name, command.file, prose(command))),
    ...plugin.agents.map((agent) => entry("subagent", agent.name, agent.file, { ...prose(agent), ...settings(agent) })),
    ...plugin.mcpServers.map((server) =>
      entry("mcp-connection", server.name, server.span.file, { form: "server", server, plugin }),
    ),
  ];
}

/** Tools of the hosts that plugins are written for, and the built-in ones that do the same. */
const builtinFor: Readonly<Record<string, string>> = {
  read: "read",
  write: "write",
  edit: "edit",
  multiedit: "edit",
  ls: "ls",
  glob: "glob",
  grep: "grep",
  bash: "shell",
  shell: "shell",
};

const reading = ["read", "ls", "glob", "grep"] as const;

/** Aliases of a host's own models mean nothing here: such an agent runs on the model of the bot. */
function settings({ model, tools, readonly }: PluginAgent): { readonly model?: string; readonly tools?: string[] } {
  const known = model !== undefined && /^(?:grok-|(?:openai|anthropic|xai)\/)/.test(model) ? { model } : {};
  const named = tools?.flatMap((tool) => builtinFor[tool.toLowerCase()] ?? []);
  const allowed =
    readonly === true ? (named ?? [...reading]).filter((tool) => reading.some((each) => each === tool)) : named;
  return { ...known, ...(allowed === undefined ? {} : { tools: [...new Set(allowed)] }) };
}
