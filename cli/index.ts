import type { Invocation, Values } from "./command.js";
import type { CommandName, CommandTable } from "./command-table.js";
import { CommandFailure, exit } from "./exit.js";
import { parseCommandLine } from "./parse.js";
import { createTerminal, type Terminal } from "./ui/terminal.js";

/** What each file of `commands/` exports: it does the work and gives the exit code. */
export type Run<Name extends CommandName> = (
  invocation: Invocation<CommandTable[Name]>,
  terminal: Terminal,
) => Promise<number>;

/** Code by command. Only the one that runs is loaded: help costs no compiler and no server. */
const loaders: { readonly [Name in CommandName]: () => Promise<{ readonly run: Run<Name> }> } = {
  init: () => import("./commands/init.js"),
  build: () => import("./commands/build.js"),
  validate: () => import("./commands/validate.js"),
  info: () => import("./commands/info.js"),
  manifest: () => import("./commands/manifest.js"),
  explain: () => import("./commands/explain.js"),
  diff: () => import("./commands/diff.js"),
  dev: () => import("./commands/dev.js"),
  serve: () => import("./commands/serve.js"),
  run: () => import("./commands/run.js"),
  call: () => import("./commands/call.js"),
  sessions: () => import("./commands/sessions.js"),
  trajectory: () => import("./commands/trajectory.js"),
  cost: () => import("./commands/cost.js"),
  logs: () => import("./commands/logs.js"),
  mcp: () => import("./commands/mcp.js"),
  github: () => import("./commands/github.js"),
  slack: () => import("./commands/slack.js"),
  help: () => import("./commands/help.js"),
  version: () => import("./commands/version.js"),
};

/**
 * Runs one command line. Never throws and never ends the process: the caller exits with the code it returns.
 *
 * @param argv The arguments after `bdk`.
 * @example process.exitCode = await main(["validate", "--dir", "my-agent"])
 */
export async function main(argv: readonly string[], terminal: Terminal = createTerminal()): Promise<number> {
  try {
    const parsed = parseCommandLine(argv);
    switch (parsed.kind) {
      case "overview":
        return await start("help", [], { all: false, json: parsed.json }, terminal);
      case "version":
        return await start("version", [], { json: parsed.json }, terminal);
      case "help":
        return await start("help", [parsed.command], { all: false, json: parsed.json }, terminal);
      case "run":
        return await start(parsed.command, parsed.args, parsed.options, terminal);
    }
  } catch (error) {
    const { reportBug, reportFailure } = await import("./report.js");
    const json = argv.includes("--json");
    if (error instanceof CommandFailure) {
      await reportFailure(error, terminal, json);
      return error.exitCode;
    }
    await reportBug(error, argv, terminal, json);
    return exit.bug;
  }
}

async function start<Name extends CommandName>(
  name: Name,
  args: readonly string[],
  options: Readonly<Record<string, unknown>>,
  terminal: Terminal,
): Promise<number> {
  const { run } = await loaders[name]();
  // The parser builds exactly the values that the command's row of the table describes.
  const values = options as Values<CommandTable[Name]["options"]>;
  return run({ args, options: values }, terminal);
}
