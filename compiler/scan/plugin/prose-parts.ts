import { joinPath, parentOf } from "../../source.js";
import { textOf } from "./document.js";
import { type PluginProse, readPluginProse } from "./front-matter.js";
import { mountName } from "./names.js";
import type { PluginAgent, PluginCommand, PluginSkill } from "./plugin.js";
import { type PluginReader, stemOf } from "./reader.js";

/** Where a skill is: its folder, or a lone Markdown file that a manifest names. */
export interface SkillPlace {
  readonly file: string;
  /** Folder whose other files belong to it. */
  readonly folder?: string;
}

/** Skills at the given paths: a skill's folder or its SKILL.md, a folder of skills, or a lone Markdown file. */
export function skillPlaces(paths: readonly string[], reader: PluginReader): readonly SkillPlace[] {
  const places = paths.flatMap((path): SkillPlace[] => {
    if (reader.typeOf(path) === "file") {
      const folder = parentOf(path);
      if (/(^|\/)SKILL\.md$/.test(path)) return [{ file: path, folder }];
      return path.endsWith(".md") ? [{ file: path }] : [];
    }
    if (reader.typeOf(joinPath(path, "SKILL.md")) === "file")
      return [{ file: joinPath(path, "SKILL.md"), folder: path }];
    return reader.list(path).flatMap((node): SkillPlace[] => {
      const file = joinPath(node.path, "SKILL.md");
      return node.type === "folder" && reader.typeOf(file) === "file" ? [{ file, folder: node.path }] : [];
    });
  });
  return [...new Map(places.map((place) => [place.file, place])).values()];
}

export function readSkill({ file, folder }: SkillPlace, reader: PluginReader): PluginSkill | undefined {
  const prose = readPluginProse(file, reader);
  if (prose === undefined) return undefined;
  const description = textOf(prose.attributes.description);
  if (description === undefined) return skip(`a skill needs a description`, file, reader);
  checkAttributes(prose, file, reader);
  // Identity comes from the path, as everywhere; at the plugin's top the folder says nothing about the skill.
  const own = folder === undefined ? stemOf(file) : lastName(folder);
  const written = textOf(prose.attributes.name);
  if (written !== undefined && own !== "" && written !== own) {
    reader.report("skillName", {
      message: `the skill calls itself "${written}"; it is mounted under its folder's name, ${own}`,
      at: reader.start(file),
    });
  }
  const name = mountName(own === "" ? (written ?? lastName(reader.path)) : own, "skill", file, reader);
  if (name === undefined) return undefined;
  warnOfOwnFolder(prose.markdown, file, reader);
  const files = (folder === undefined ? [] : reader.filesBelow(folder)).filter((each) => each !== file);
  const below = folder === undefined || folder === "" ? 0 : folder.length + 1;
  return {
    name,
    description,
    markdown: prose.markdown,
    file: reader.inSource(file),
    files: files.map((each) => ({ path: each.slice(below), file: reader.inSource(each) })),
  };
}

/** Ways in which skills depart from the convention and are taken all the same. */
function checkAttributes({ attributes }: PluginProse, file: string, reader: PluginReader): void {
  const { description, metadata } = attributes;
  const odd = [
    typeof description === "string" && description.length > 1024
      ? "its description is longer than 1024 characters"
      : "",
    Array.isArray(attributes["allowed-tools"]) ? "allowed-tools is a list; the convention has words with spaces" : "",
    isTextMap(metadata) ? "" : "metadata has values that are not strings",
  ].filter((each) => each !== "");
  for (const message of odd) reader.report("skillAttribute", { message, at: reader.start(file) });
}

function isTextMap(metadata: unknown): boolean {
  if (metadata === undefined) return true;
  if (typeof metadata !== "object" || metadata === null) return false;
  return Object.values(metadata).every((value) => typeof value === "string");
}

/** Files with one of the endings in a folder, or the file itself. */
export function filesAt(
  path: string,
  endings: readonly string[],
  deep: boolean,
  reader: PluginReader,
): readonly string[] {
  const fits = (file: string) => endings.some((ending) => file.endsWith(ending));
  if (reader.typeOf(path) === "file") return [path];
  if (deep) return reader.filesBelow(path).filter(fits);
  return reader.list(path).flatMap((node) => (node.type === "file" && fits(node.name) ? [node.path] : []));
}

export function readCommand(file: string, root: string, reader: PluginReader): PluginCommand | undefined {
  const prose = readPluginProse(file, reader);
  if (prose === undefined) return undefined;
  const description = textOf(prose.attributes.description) ?? firstLine(prose.markdown);
  if (description === undefined) return skip("the command is empty", file, reader);
  const below = file.startsWith(`${root}/`) ? parentOf(file.slice(root.length + 1)) : "";
  const path = below === "" ? stemOf(file) : `${below.replaceAll("/", "-")}-${stemOf(file)}`;
  const name = mountName(path, "command", file, reader);
  if (name === undefined) return undefined;
  warnOfOwnFolder(prose.markdown, file, reader);
  return { name, description, markdown: prose.markdown, file: reader.inSource(file) };
}

export function readAgent(file: string, reader: PluginReader): PluginAgent | undefined {
  const prose = readPluginProse(file, reader);
  if (prose === undefined) return undefined;
  const { attributes, markdown } = prose;
  const description = textOf(attributes.description);
  if (description === undefined) return skip("an agent needs a description", file, reader);
  const name = mountName(textOf(attributes.name) ?? stemOf(file), "agent", file, reader);
  if (name === undefined) return undefined;
  warnOfOwnFolder(markdown, file, reader);
  const model = textOf(attributes.model);
  const tools = toolNames(attributes.tools);
  return {
    name,
    description,
    markdown,
    file: reader.inSource(file),
    ...(model === undefined ? {} : { model }),
    ...(tools === undefined ? {} : { tools }),
    ...(typeof attributes.readonly === "boolean" ? { readonly: attributes.readonly } : {}),
  };
}

/** A list, or words with commas: hosts take both. */
function toolNames(tools: unknown): readonly string[] | undefined {
  if (Array.isArray(tools)) return tools.filter((each) => typeof each === "string");
  const text = textOf(tools);
  return text
    ?.split(",")
    .map((each) => each.trim())
    .filter((each) => each !== "");
}

function skip(reason: string, file: string, reader: PluginReader): undefined {
  reader.report("pluginPartSkipped", { message: `left out: ${reason}`, at: reader.start(file) });
}

/** In a session only the skill's own files are there, not the plugin's folder. */
function warnOfOwnFolder(markdown: string, file: string, reader: PluginReader): void {
  const found = /\$\{?(?:CLAUDE_|CURSOR_)?PLUGIN_(?:ROOT|DATA)\b\}?/.exec(markdown);
  if (found === null) return;
  const line = markdownLine(found[0], file, reader);
  reader.report("pluginText", {
    message: `the text refers to ${found[0]}, which stands for nothing in a session`,
    at: { ...reader.start(file), line },
    help: "put the file beside SKILL.md and refer to it by its relative path",
  });
}

function markdownLine(text: string, file: string, reader: PluginReader): number {
  const whole = reader.read(file) ?? "";
  return whole.slice(0, Math.max(0, whole.indexOf(text))).split("\n").length;
}

/** The first line with words, without Markdown's marks. */
function firstLine(markdown: string): string | undefined {
  const line = markdown
    .split("\n")
    .map((each) => each.replace(/^[#>*\-\s]+/, "").trim())
    .find((each) => each !== "");
  return line?.slice(0, 200);
}

function lastName(path: string): string {
  return path.slice(parentOf(path).length).replace(/^\//, "");
}
