import { existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { type AgentState, readRows, tracePath } from "./folder.js";

/**
 * Removes a session with everything of it: a running server notices that its folder is gone and lets go of it. Artifacts
 * stay: they belong to the agent.
 */
export function deleteSession(agent: AgentState, sessionId: string): void {
  const folder = join(agent.dir, "sessions", sessionId);
  const workspace = workspaceOf(folder, sessionId);
  // First what makes it a session: whatever is interrupted later leaves nothing that could be taken for one.
  rmSync(join(folder, "session.json"), { force: true });
  for (const path of [folder, tracePath(agent, sessionId), join(agent.dir, "incoming", sessionId), workspace]) {
    if (path !== undefined) rmSync(path, { recursive: true, force: true });
  }
}

/** The session's workspace, as its mark says; only a folder that bears the session's id is ever removed. */
function workspaceOf(folder: string, sessionId: string): string | undefined {
  const mark = join(folder, "workspace.json");
  if (!existsSync(mark)) return undefined;
  const { dir } = JSON.parse(readFileSync(mark, "utf8")) as { readonly dir?: unknown };
  return typeof dir === "string" && basename(dir) === sessionId ? dir : undefined;
}

/** Sessions that nothing has happened in since `before` (epoch milliseconds) and that have nothing left to do. */
export function idleSince(agent: AgentState, before: number): readonly string[] {
  return readRows(agent)
    .filter(({ status }) => status === "waiting" || status === "completed" || status === "failed")
    .filter(({ updatedAt }) => Date.parse(updatedAt) < before)
    .map(({ id }) => id);
}

/** Traces whose session was deleted by hand, untouched since `before`. */
export function strayTraces(agent: AgentState, before: number): readonly string[] {
  const traces = join(agent.dir, "traces");
  return readdirSync(traces)
    .filter((file) => file.endsWith(".ndjson"))
    .filter((file) => !existsSync(join(agent.dir, "sessions", file.slice(0, -".ndjson".length))))
    .map((file) => join(traces, file))
    .filter((file) => statSync(file).mtimeMs < before);
}
