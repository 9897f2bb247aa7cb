import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { readPlugin } from "../../compiler/scan/plugin/read.js";
import { memorySource } from "../../compiler/source.js";

export const fixtures = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), "fixtures/plugins");

export type Files = Readonly<Record<string, string>>;

/** Reads a plugin from memory, standing in `plugins/p`. */
export function read(files: Files) {
  const below = Object.fromEntries(Object.entries(files).map(([file, text]) => [`plugins/p/${file}`, text]));
  const { value, diagnostics } = readPlugin(memorySource(below), "plugins/p");
  return { plugin: value, codes: diagnostics.map((each) => each.code), diagnostics };
}

export const cursor = (manifest: object = {}, more: Files = {}): Files => ({
  ".cursor-plugin/plugin.json": JSON.stringify({ name: "p", ...manifest }),
  ...more,
});
export const claude = (manifest: object = {}, more: Files = {}): Files => ({
  ".claude-plugin/plugin.json": JSON.stringify({ name: "p", ...manifest }),
  ...more,
});
export const agentPlugins = (manifest: object = {}, more: Files = {}): Files => ({
  "plugin.json": JSON.stringify({
    $schema: "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json",
    name: "p",
    ...manifest,
  }),
  ...more,
});
export const skill = (more = "") => `---\nname: s\ndescription: Does s\n${more}---\n\nDo s.\n`;
