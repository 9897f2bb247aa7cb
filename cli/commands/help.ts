import { suggest } from "../../compiler/diagnostics/suggest.js";
import { commandNames, commandSpec, isCommandName } from "../command-table.js";
import { exit, usageFailure } from "../exit.js";
import { describeCommand, renderCommandHelp, renderOverview } from "../help.js";
import type { Run } from "../index.js";
import { writeJson } from "../ui/terminal.js";

export const run: Run<"help"> = async ({ args, options }, { out }) => {
  const [asked, action] = args;
  if (asked !== undefined) {
    if (!isCommandName(asked)) {
      const close = suggest(asked, commandNames);
      throw usageFailure("unknownCommand", {
        message: `unknown command "${asked}"`,
        help: close === undefined ? "bdk help lists the commands" : `did you mean bdk ${close}?`,
      });
    }
    // An action has no page of its own: `bdk help mcp oauth` is `bdk mcp oauth --help`.
    if (action !== undefined && !commandSpec(asked).arguments.some(({ name }) => name === "action")) {
      throw usageFailure("badArgument", {
        message: `bdk ${asked} has no actions, such as "${action}"`,
        help: `bdk help ${asked}`,
      });
    }
    if (options.json) await writeJson(out, describeCommand(asked));
    else await out.write(renderCommandHelp(asked, out.colors, Math.min(out.columns, 100)));
  } else if (options.json) {
    await writeJson(out, { commands: commandNames.map(describeCommand) });
  } else {
    await out.write(renderOverview(out.colors));
    if (options.all) {
      for (const name of commandNames)
        await out.write(`\n${renderCommandHelp(name, out.colors, Math.min(out.columns, 100))}`);
    }
  }
  return exit.ok;
};
