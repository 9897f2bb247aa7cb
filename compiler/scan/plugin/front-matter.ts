import { parseDocument } from "yaml";
import type { PluginReader } from "./reader.js";

export interface PluginProse {
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly markdown: string;
  /** The file had front matter at all. */
  readonly hasFrontMatter: boolean;
}

/**
 * Reads a Markdown file of a plugin as leniently as its hosts do. Of 891 files in public plugins a dozen are not YAML,
 * mostly for an unquoted colon: those are read again with each value quoted, and a warning.
 *
 * @returns undefined when the file can't be read, or its front matter not even then; both are reported
 */
export function readPluginProse(file: string, reader: PluginReader): PluginProse | undefined {
  const text = reader.read(file);
  if (text === undefined) return undefined;
  const match = /^---[ \t]*\r?\n([\s\S]*?)^---[ \t]*(?:\r?\n|$)/m.exec(text);
  if (match === null || match.index !== 0) return { attributes: {}, markdown: text, hasFrontMatter: false };
  const [whole, yaml = ""] = match;
  const markdown = text.slice(whole.length).replace(/^\r?\n/, "");
  const strict = parseYaml(yaml);
  if (strict.attributes !== undefined) return { attributes: strict.attributes, markdown, hasFrontMatter: true };
  for (const attempt of [quoteValues(yaml), quoteValues(joinStrayLines(yaml))]) {
    const { attributes } = parseYaml(attempt);
    if (attributes === undefined) continue;
    reader.report("pluginFrontMatter", {
      message: `the front matter is not YAML (${strict.problem}); it was read with its values quoted`,
      at: reader.start(file),
      help: "put values that contain a colon, a # or a line break in double quotes",
    });
    return { attributes, markdown, hasFrontMatter: true };
  }
  reader.report("pluginPartSkipped", {
    message: `left out: the front matter is not YAML (${strict.problem})`,
    at: reader.start(file),
    help: "write it as lines of `key: value` between two lines of three hyphens",
  });
  return undefined;
}

interface Parsed {
  readonly attributes?: Readonly<Record<string, unknown>>;
  readonly problem: string;
}

function parseYaml(yaml: string): Parsed {
  const document = parseDocument(yaml, { prettyErrors: false, logLevel: "silent" });
  const [error] = document.errors;
  if (error !== undefined) return { problem: error.message };
  if (document.contents === null) return { attributes: {}, problem: "" };
  try {
    const value: unknown = document.toJS({ maxAliasCount: 50 });
    if (typeof value !== "object" || value === null || Array.isArray(value)) return { problem: "no keys and values" };
    return { attributes: Object.fromEntries(Object.entries(value)), problem: "" };
  } catch (cause) {
    if (!(cause instanceof ReferenceError)) throw cause; // an alias bomb, or an alias of nothing
    return { problem: cause.message };
  }
}

const keyLine = /^([\w-]+):[ \t]+(.*)$/;

/** `key: value` with the value in double quotes, unless it is quoted, a block, a list or a map already. */
function quoteValues(yaml: string): string {
  return yaml
    .split(/\r?\n/)
    .map((line) => {
      const [, key, value] = keyLine.exec(line) ?? [];
      if (key === undefined || value === undefined || value.trim() === "" || /^["'|>[{&*!]/.test(value)) return line;
      return `${key}: ${JSON.stringify(value.trim())}`;
    })
    .join("\n");
}

/** Keys that hosts know; in a text that runs over several lines, only these begin something new. */
const knownKeys: ReadonlySet<string> = new Set([
  "allowed-tools",
  "argument-hint",
  "color",
  "compatibility",
  "description",
  "disable-model-invocation",
  "disallowedTools",
  "license",
  "metadata",
  "model",
  "name",
  "readonly",
  "skills",
  "tools",
  "user-invocable",
  "version",
]);

/** Takes lines that are neither indented nor begin with a known key for the rest of the value before them. */
function joinStrayLines(yaml: string): string {
  const joined: string[] = [];
  for (const line of yaml.split(/\r?\n/)) {
    const key = /^([\w-]+):(?:\s|$)/.exec(line)?.[1];
    const last = joined.at(-1);
    const begins = (key !== undefined && knownKeys.has(key)) || last === undefined;
    if (begins) joined.push(line);
    else if (line.trim() !== "") joined[joined.length - 1] = `${last} ${line.trim()}`;
  }
  return joined.join("\n");
}
