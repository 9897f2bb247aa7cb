import { exit } from "../exit.js";
import type { Run } from "../index.js";
import { projectFolder } from "../project.js";
import { serveProject } from "../serve-project.js";
import { serverOptions } from "../server-options.js";
import { listeningEvent, writeListening, writeStandby } from "../ui/listening.js";
import { untilInterrupted } from "../ui/signals.js";

export const run: Run<"serve"> = async ({ options }, terminal) => {
  const root = projectFolder(options.dir);
  const interrupted = untilInterrupted();
  const waiting = new AbortController();
  void interrupted.then(() => waiting.abort());
  const timeout = options["shutdown-timeout"];
  const standby = {
    standby: options.standby,
    signal: waiting.signal,
    onStandby: (standing: { readonly pid: number; readonly url?: string }) =>
      void writeStandby(terminal.out, standing, options.json),
  };
  try {
    const server = await serveProject(
      root,
      {
        ...serverOptions(root, options),
        dev: options.dev,
        ...(timeout === undefined ? {} : { shutdownTimeoutMs: timeout * 1000 }),
        ...standby,
      },
      terminal,
      options.json,
    );
    if (options.json) await terminal.out.line(JSON.stringify(listeningEvent(server)));
    else await writeListening(terminal.out, server);
    await interrupted;
    await server.close();
    return exit.ok;
  } catch (error) {
    if (error instanceof Error && error.name === "StandbyStopped") return exit.ok;
    throw error;
  }
};
