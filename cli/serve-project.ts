import type { ServeHandle, ServeOptions } from "./api/serve.js";
import { CommandFailure, exit, failure } from "./exit.js";
import { writeDiagnostics } from "./ui/diagnostics.js";
import { createProgress } from "./ui/progress.js";
import type { Terminal } from "./ui/terminal.js";

/**
 * `serve`, with progress and warnings on stderr.
 *
 * @throws CommandFailure with the project's errors, or BDK8013 when the server cannot start.
 */
export async function serveProject(
  root: string,
  options: ServeOptions,
  terminal: Terminal,
  silent: boolean,
): Promise<ServeHandle> {
  const { ProjectError, serve } = await import("./api/serve.js");
  const progress = createProgress(terminal.err, "compile", silent);
  try {
    const handle = await serve(root, {
      ...options,
      ownsProcess: true,
      onPhase: (phase) => progress.step(phase),
      onStandby: (standing) => {
        progress.done();
        options.onStandby?.(standing);
      },
    });
    progress.done();
    if (!silent) await writeDiagnostics(terminal.err, handle.diagnostics, root);
    return handle;
  } catch (error) {
    progress.done();
    if (error instanceof ProjectError) throw new CommandFailure(exit.failed, error.diagnostics, root);
    throw startFailure(error);
  }
}

/** Tells what kept a server from starting as BDK8013; anything else is passed on. */
export function startFailure(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  return error.name === "StartupError" || error.name === "RuntimeError"
    ? failure("cannotListen", { message: error.message })
    : error;
}
