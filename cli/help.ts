import { type CommandSpec, type Option, takesValue } from "./command.js";
import { type CommandName, commandNames, commandSpec } from "./command-table.js";
import { usageLine } from "./parse.js";
import { columns, wrap } from "./ui/columns.js";
import type { Colors } from "./ui/sink.js";

const groups = ["Make", "Run", "Inspect", "Help"] as const;

/** What `bdk` and `bdk help` print. */
export function renderOverview(colors: Colors): string {
  const lines = [
    `${colors.bold("bdk")} turns a folder of Markdown and TypeScript into a running agent server.`,
    "",
    "usage: bdk <command> [options]",
  ];
  const width = Math.max(...commandNames.map((name) => name.length));
  for (const group of groups) {
    lines.push("", colors.bold(group));
    for (const name of commandNames) {
      const spec = commandSpec(name);
      if (spec.group === group) lines.push(`  ${colors.cyan(name.padEnd(width))}  ${spec.summary}`);
    }
  }
  lines.push(
    "",
    `${colors.dim("bdk <command> --help shows options and examples; bdk help --all shows everything.")}`,
    "",
  );
  return lines.join("\n");
}

/** What `bdk <command> --help` prints. */
export function renderCommandHelp(name: CommandName, colors: Colors, width = 100): string {
  const spec = commandSpec(name);
  const lines = [`${colors.bold(`bdk ${name}`)}: ${spec.summary}`, "", usageLine(name, spec)];
  if (spec.arguments.length > 0) {
    lines.push("", colors.bold("Arguments"));
    lines.push(
      ...columns(
        spec.arguments.map((each) => [colors.cyan(each.name), each.summary]),
        { indent: "  " },
      ),
    );
  }
  const options = Object.entries(spec.options).map(([key, option]) => [
    colors.cyan(flag(key, option)),
    describe(option),
  ]);
  lines.push(
    "",
    colors.bold("Options"),
    ...columns([...options, [colors.cyan("-h, --help"), "Show this help"]], { indent: "  " }),
  );
  lines.push("", colors.bold("Examples"));
  for (const example of spec.examples) lines.push(`  ${example.command}`, `      ${colors.dim(example.summary)}`);
  for (const note of spec.notes ?? []) lines.push("", ...wrap(note, width));
  return `${lines.join("\n")}\n`;
}

function flag(key: string, option: Option): string {
  const long = option.kind === "off" ? `--no-${key}` : `--${key}`;
  const short = "short" in option && option.short !== undefined ? `-${option.short}, ` : "";
  if (!takesValue(option)) return short + long;
  return `${short}${long} <${option.kind === "choice" ? option.values.join("|") : "value" in option ? option.value : "value"}>`;
}

function describe(option: Option): string {
  const fallback = "default" in option && option.default !== undefined ? ` (default ${option.default})` : "";
  return option.summary + fallback;
}

/** What `bdk help <command> --json` prints: the command as data. */
export function describeCommand(name: CommandName): Record<string, unknown> {
  const spec: CommandSpec = commandSpec(name);
  return {
    name,
    group: spec.group,
    summary: spec.summary,
    usage: usageLine(name, spec).replace(/^usage: /, ""),
    arguments: spec.arguments,
    options: Object.entries(spec.options).map(([key, option]) => ({
      name: key,
      flag: option.kind === "off" ? `--no-${key}` : `--${key}`,
      ...("short" in option && option.short !== undefined ? { short: `-${option.short}` } : {}),
      type:
        option.kind === "off" || option.kind === "flag" ? "boolean" : option.kind === "integer" ? "integer" : "string",
      ...("value" in option ? { value: option.value } : {}),
      ...(option.kind === "choice" ? { values: option.values } : {}),
      ...(option.kind === "texts" ? { repeatable: true } : {}),
      ...("default" in option && option.default !== undefined ? { default: option.default } : {}),
      summary: option.summary,
    })),
    examples: spec.examples,
    notes: spec.notes ?? [],
  };
}
