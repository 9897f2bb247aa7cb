/** The module that stands for an MCP server of a plugin: data only, what it means is `connectPluginServer`'s business. */
import type { PluginServerTemplate, PluginText } from "../../../runtime/authoring/plugin-server.js";
import { placeholdersOf } from "../../scan/plugin/placeholders.js";
import type { Plugin, PluginServer } from "../../scan/plugin/plugin.js";
import type { GeneratedModule } from "../entry.js";

/** @param mount The mount whose variables fill the placeholders. */
export function pluginServerModule(
  { server, plugin }: { readonly server: PluginServer; readonly plugin: Plugin },
  mount: { readonly namespace: string; readonly file: string },
): GeneratedModule {
  const template = JSON.stringify(templateOf(server, plugin));
  const needsRoot = /"asks":"root"/.test(template);
  const root = needsRoot ? `__bdk.meta(${JSON.stringify(`${plugin.path}/plugin`)}).dirname` : '""';
  return {
    text: `import { connectPluginServer } from "@cursor/bdk/plugin-server";
import * as mount from ${JSON.stringify(`./${mount.file}`)};
export default connectPluginServer(${template}, mount.default, {
  root: ${root},
  data: ${JSON.stringify(`bdk-plugin-data:${mount.namespace}`)},
});
`,
    ...(needsRoot ? { keeps: plugin.path } : {}),
  };
}

function templateOf(server: PluginServer, plugin: Plugin): PluginServerTemplate {
  const defaults = new Map(plugin.variables.map((each) => [each.name, each.default]));
  const text = (written: string): PluginText => partsOf(written, defaults);
  const texts = (written: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(written).map(([key, value]) => [key, text(value)]));
  const base = {
    name: server.name,
    ...(plugin.description === undefined ? {} : { description: plugin.description }),
  };
  if (server.transport === "stdio") {
    const { transport, command, args, env, cwd } = server;
    return {
      ...base,
      transport,
      command: text(command),
      args: args.map(text),
      env: texts(env),
      ...(cwd === undefined ? {} : { cwd: text(cwd) }),
    };
  }
  const { transport, url, headers, auth } = server;
  return {
    ...base,
    transport,
    url: text(url),
    headers: texts(headers),
    ...(auth === undefined ? {} : { auth: texts(auth) }),
  };
}

/** The literals of a text and the placeholders between them, in order. */
function partsOf(written: string, defaults: ReadonlyMap<string, string | undefined>): PluginText {
  const parts: PluginText[number][] = [];
  let rest = written;
  for (const { text, asks, name, default: own } of placeholdersOf(written)) {
    const index = rest.indexOf(text);
    if (index > 0) parts.push(rest.slice(0, index));
    rest = rest.slice(index + text.length);
    const fallback = own ?? defaults.get(name);
    parts.push({ text, asks, name, ...(fallback === undefined ? {} : { default: fallback }) });
  }
  return rest === "" ? parts : [...parts, rest];
}
