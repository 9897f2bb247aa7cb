import type { AgentManifest, ToolEntry } from "../manifest/schema.js";

/** Where an agent tool's script lies in the workspace. */
export function scriptPath({ name }: Pick<ToolEntry, "name">): string {
  return `.bdk/tools/${name}.mjs`;
}

/** The part of the workspace's AGENTS.md that lists its scripts; empty without any. */
export function scriptCatalog({ tools }: AgentManifest): string {
  const scripts = tools.filter(({ execution, script }) => execution === "agent" && script !== undefined);
  if (scripts.length === 0) return "";
  const entries = scripts.map((tool) => {
    const description = typeof tool.description === "string" ? tool.description.trim() : "";
    const schema = JSON.stringify(tool.inputSchema);
    return `## ${tool.name}\n\n${description}\n\n    node ${scriptPath(tool)} '{…}'\n\nInput: \`${schema}\`\n`;
  });
  return `# Tools in this workspace

Each is a script that takes its input as a JSON object, in its one argument or on standard input, and prints JSON. Exit code
0: the result. Any other: it failed, and \`message\` says why.

${entries.join("\n")}`;
}
