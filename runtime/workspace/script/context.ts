import { basename } from "node:path";
import type { ToolContext } from "../../authoring/tools.js";

/** What a script is told of its session, as JSON in `BDK_SESSION`. */
export interface ScriptSession {
  readonly id?: string;
  readonly mode?: "chat" | "task";
  readonly title?: string;
  readonly dryRun?: boolean;
  /** ISO-8601 instant that the session's time stands still at. */
  readonly asOf?: string;
  readonly agent?: string;
  readonly callId?: string;
}

/** `ctx` of an agent tool: its session and its workspace. The server's own services are not where it runs. */
export function scriptContext(session: ScriptSession): ToolContext {
  const stopping = new AbortController();
  process.once("SIGTERM", () => stopping.abort(new Error("stopped")));
  const { id = basename(process.cwd()), mode = "chat", title, dryRun, asOf, agent = "agent", callId } = session;
  return {
    session: {
      id,
      mode,
      auth: { kind: "app", id: "agent" },
      ...(title === undefined ? {} : { title }),
      ...(dryRun === undefined ? {} : { dryRun }),
    },
    agent: { name: agent },
    signal: stopping.signal,
    workspaceDir: process.cwd(),
    ...(callId === undefined ? {} : { toolCallId: callId }),
    get host(): never {
      throw elsewhere("ctx.host");
    },
    get artifacts(): never {
      throw elsewhere("ctx.artifacts");
    },
    get stateRoot(): never {
      throw elsewhere("ctx.stateRoot");
    },
    now: () => (asOf === undefined ? new Date() : new Date(asOf)),
    // A script is heard through what it prints on stderr; nobody waits for its progress.
    progress: () => undefined,
    log: (level, message) => void process.stderr.write(`${level}: ${message}\n`),
  };
}

function elsewhere(member: string): Error {
  return new Error(
    `${member} is not there in a tool with execution "agent": it runs in the workspace, not in the server`,
  );
}
