import type { CommandSpec, Option } from "../../cli/command.js";

const intro = `# CLI

\`bdk <command> [options]\`, also installed as \`agent-sdk\`. \`bdk <command> --help\` says the same as this page; \`bdk help --all
--json\` says it to programs.

Exit codes: 0 ok; 1 findings, a failed turn or a failed tool; 2 a command line that can't be understood; 3 waiting for an
approval; 70 a bug of ours.
`;

/** docs/reference/cli.md, from the table of commands. */
export function renderCliReference(commands: readonly (readonly [name: string, spec: CommandSpec])[]): string {
  return [intro, ...commands.map(([name, spec]) => renderCommand(name, spec))].join("\n");
}

function renderCommand(name: string, spec: CommandSpec): string {
  const args = spec.arguments.map((each) => (each.required ? `<${each.name}>` : `[${each.name}]`));
  const rows = [
    ...spec.arguments.map((each) => `| \`${each.name}\` | ${cell(each.summary)} |`),
    ...Object.entries(spec.options).map(([key, option]) => `| \`${flag(key, option)}\` | ${cell(summary(option))} |`),
  ];
  const examples = spec.examples.flatMap((each) => [`# ${each.summary}`, each.command]);
  return `## ${name}

${spec.summary}.

\`bdk ${[name, ...args].join(" ")}\`

| Argument or option | |
| --- | --- |
${rows.join("\n")}

\`\`\`sh
${examples.join("\n")}
\`\`\`
${(spec.notes ?? []).map((note) => `\n${note}\n`).join("")}`;
}

function flag(key: string, option: Option): string {
  const short = "short" in option && option.short !== undefined ? `-${option.short}, ` : "";
  switch (option.kind) {
    case "flag":
      return `${short}--${key}`;
    case "off":
      return `--no-${key}`;
    case "choice":
      return `${short}--${key} <${option.values.join("\\|")}>`;
    default:
      return `${short}--${key} <${option.value}>`;
  }
}

function summary(option: Option): string {
  const fallback = "default" in option && option.default !== undefined ? ` (default \`${option.default}\`)` : "";
  return option.summary + fallback;
}

function cell(text: string): string {
  return text.replace(/\|/g, "\\|").replace(/<(\w+)>/g, "`<$1>`");
}
