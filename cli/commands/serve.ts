import { exit } from "../exit.js";
import type { Run } from "../index.js";
import { projectFolder } from "../project.js";
import { serveProject } from "../serve-project.js";
import { serverOptions } from "../server-options.js";
import { listeningEvent, writeListening } from "../ui/listening.js";
import { untilInterrupted } from "../ui/signals.js";

export const run: Run<"serve"> = async ({ options }, terminal) => {
  const root = projectFolder(options.dir);
  const interrupted = untilInterrupted();
  const timeout = options["shutdown-timeout"];
  const server = await serveProject(
    root,
    {
      ...serverOptions(root, options),
      dev: options.dev,
      ...(timeout === undefined ? {} : { shutdownTimeoutMs: timeout * 1000 }),
    },
    terminal,
    options.json,
  );
  if (options.json) await terminal.out.line(JSON.stringify(listeningEvent(server)));
  else await writeListening(terminal.out, server);
  await interrupted;
  await server.close();
  return exit.ok;
};
