import { createJsonReporter, createTerminalReporter } from "../dev/reporter.js";
import { ServerRefusal } from "../dev/server-process.js";
import { createSupervisor } from "../dev/supervisor.js";
import { exit, failure } from "../exit.js";
import type { Run } from "../index.js";
import { projectFolder } from "../project.js";
import { serverOptions } from "../server-options.js";
import { untilInterrupted } from "../ui/signals.js";

export const run: Run<"dev"> = async ({ options }, terminal) => {
  const root = projectFolder(options.dir);
  const server = { ...serverOptions(root, options), dev: true };
  const interrupted = untilInterrupted();
  const supervisor = createSupervisor({
    root,
    server,
    ignored: [server.stateRoot],
    report: options.json ? createJsonReporter(terminal) : createTerminalReporter(terminal, root),
  });
  try {
    await Promise.race([supervisor.started, interrupted]);
    await interrupted;
    return exit.ok;
  } catch (error) {
    if (!(error instanceof ServerRefusal)) throw error;
    throw failure("cannotListen", {
      message: error.message,
      help: "stop the other server, or pass --port 0 for any free port",
    });
  } finally {
    await supervisor.close();
  }
};
