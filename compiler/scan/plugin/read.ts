/** Plugins of other hosts: reads a folder in one of three formats into what a bot can mount. */
import { diagnostic, hasErrors, type Result } from "../../diagnostics/diagnostic.js";
import { type ProjectSource, SourceError } from "../../source.js";
import { declaredPaths, insidePath } from "./declared.js";
import { isObject, type JsonObject } from "./document.js";
import { readIgnored } from "./ignored.js";
import { type PluginManifest, readPluginManifest, stringsOf } from "./manifest.js";
import { distinct } from "./names.js";
import type { Plugin } from "./plugin.js";
import { filesAt, readAgent, readCommand, readSkill, skillPlaces } from "./prose-parts.js";
import { createPluginReader, type PluginReader } from "./reader.js";
import { readServers } from "./servers.js";
import { readVariables } from "./variables.js";

/**
 * Reads a plugin: Cursor's (`.cursor-plugin/plugin.json`), Claude's (`.claude-plugin/plugin.json`, optional) or Agent
 * Plugins 1.0 (`plugin.json`). Lenient where the hosts are, with a warning each time; any error and nothing is mounted.
 * Loads a YAML parser: import it only where a project mounts a plugin.
 *
 * @param path The plugin's folder, POSIX, relative to the source's root.
 * @example readPlugin(diskSource("/srv/bot"), "plugins/notion-workspace")
 */
export function readPlugin(source: ProjectSource, path: string): Result<Plugin | undefined> {
  const folder = insidePath(path);
  if (folder === undefined || source.typeOf(folder) !== "folder")
    return { value: undefined, diagnostics: [missing(source, path)] };
  const reader = createPluginReader(source, folder);
  const plugin = read(reader);
  return { value: hasErrors(reader.diagnostics) ? undefined : plugin, diagnostics: reader.diagnostics };
}

function missing(source: ProjectSource, path: string) {
  const outside = insidePath(path) === undefined || isOutside(source, path);
  return diagnostic("pluginMissing", {
    message: outside ? `the plugin's path "${path}" leads out of the project` : `there is no folder ${path}`,
    help: "path is relative to the project's root, such as plugins/notion-workspace",
  });
}

/** There is something, and it may not be read. */
function isOutside(source: ProjectSource, path: string): boolean {
  try {
    source.realpath(path);
    return false;
  } catch (error) {
    if (error instanceof SourceError) return /outside/.test(error.message);
    throw error;
  }
}

function read(reader: PluginReader): Plugin | undefined {
  const manifest = readPluginManifest(reader);
  if (manifest === undefined) return undefined;
  const { format, document, name, version, description } = manifest;
  const skills = distinct(skillsOf(manifest, reader), "skill", reader);
  const commands = distinct(commandsOf(manifest, reader), "command", reader).filter((command) => {
    const skill = skills.find((each) => each.name === command.name);
    if (skill !== undefined) {
      reader.report("pluginPartSkipped", {
        message: `left out: the skill ${skill.file} has the same name`,
        at: { file: command.file, line: 1, column: 1 },
      });
    }
    return skill === undefined;
  });
  const agents = distinct(agentsOf(manifest, reader), "agent", reader);
  const mcpServers = readServers(format, document, reader);
  return {
    format,
    name,
    ...(version === undefined ? {} : { version }),
    ...(description === undefined ? {} : { description }),
    path: reader.path,
    skills,
    commands,
    agents,
    mcpServers,
    ignored: readIgnored(format, document, reader),
    variables: readVariables(format, document, mcpServers),
  };
}

function skillsOf(manifest: PluginManifest, reader: PluginReader) {
  const named = declared(manifest, "skills", reader);
  // Claude's list adds to the usual folder, Cursor's stands in for it.
  const paths = manifest.format === "claude" ? ["skills", ...(named ?? [])] : (named ?? ["skills"]);
  return skillPlaces(paths, reader).flatMap((place) => readSkill(place, reader) ?? []);
}

const commandEndings: Readonly<Record<"cursor" | "claude", readonly string[]>> = {
  cursor: [".md", ".mdc", ".markdown", ".txt"],
  claude: [".md"],
};

function commandsOf(manifest: PluginManifest, reader: PluginReader) {
  const { format } = manifest;
  if (format === "agent-plugins") return [];
  const paths = declared(manifest, "commands", reader) ?? ["commands"];
  return paths.flatMap((path) =>
    filesAt(path, commandEndings[format], format === "claude", reader).flatMap(
      (file) => readCommand(file, path, reader) ?? [],
    ),
  );
}

function agentsOf(manifest: PluginManifest, reader: PluginReader) {
  if (manifest.format === "agent-plugins") return [];
  const paths = declared(manifest, "agents", reader) ?? ["agents"];
  return paths.flatMap((path) =>
    filesAt(path, [".md"], manifest.format === "claude", reader).flatMap((file) => readAgent(file, reader) ?? []),
  );
}

/** Paths that the manifest gives for a kind; undefined when it leaves them to discovery. */
function declared(
  { format, document }: PluginManifest,
  key: string,
  reader: PluginReader,
): readonly string[] | undefined {
  if (document === undefined || format === "agent-plugins") return undefined;
  const values = commandSources(document.value[key]) ?? stringsOf(document.value, key);
  if (values === undefined) return undefined;
  if (!takesPaths(document.value, key)) {
    const message = `${key} takes a path or a list of paths`;
    reader.report("pluginManifest", { message, at: document.spanOf(key) });
    return [];
  }
  return declaredPaths(values, document.file, reader);
}

/** Claude's third form of `commands`: an object of `{ source }` by name. */
function commandSources(value: unknown): readonly string[] | undefined {
  if (!isObject(value)) return undefined;
  return Object.values(value).flatMap((each) =>
    isObject(each) && typeof each.source === "string" ? [each.source] : [],
  );
}

function takesPaths(manifest: JsonObject, key: string): boolean {
  const value = manifest[key];
  if (Array.isArray(value)) return value.every((each) => typeof each === "string");
  return typeof value === "string" || (key === "commands" && isObject(value));
}
