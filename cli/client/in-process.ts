import { createStderrWriter } from "../../runtime/host/log.js";
import type { LogLine, ServeHandle } from "../api/serve.js";
import { serveProject } from "../serve-project.js";
import type { Terminal } from "../ui/terminal.js";

export interface InProcessOptions {
  readonly stateRoot: string;
  readonly model: string | undefined;
  /** False where no model is asked, or what asks it tells of a failure itself. Default true. */
  readonly modelWarnings?: boolean;
  readonly json: boolean;
  readonly quiet: boolean;
  /** The caller sees the sessions of every principal. */
  readonly dev?: boolean;
}

/** Serves the project from this process for one request: loopback, any free port, nothing that fires by itself. */
export function startInProcess(root: string, options: InProcessOptions, terminal: Terminal): Promise<ServeHandle> {
  return serveProject(
    root,
    {
      port: 0,
      host: "127.0.0.1",
      stateRoot: options.stateRoot,
      playground: false,
      docs: false,
      schedules: false,
      ...(options.modelWarnings === false && { modelWarnings: false }),
      ...(options.dev === true && { dev: true }),
      log: options.quiet ? onlyProblems(createStderrWriter()) : createStderrWriter(),
      ...(options.model === undefined ? {} : { model: options.model }),
    },
    terminal,
    options.json || options.quiet,
  );
}

function onlyProblems(write: (line: LogLine) => void): (line: LogLine) => void {
  return (line) => {
    if (line.level === "warn" || line.level === "error") write(line);
  };
}
