import type { Sections } from "../host/sections.js";
import type { ToolEntry } from "../manifest/schema.js";
import type { CallOutcome, CallScope, SessionRecord } from "../session/ports.js";
import type { WorkspaceSection } from "../workspace/tools/index.js";
import { reasonOf } from "./builtins.js";
import { failed, messageOf } from "./result.js";
import { scriptSession } from "./script-session.js";

export interface AgentToolSources {
  readonly sections: Sections;
  readonly agentName: string;
  /** The server's own copies of scripts. */
  readonly scriptsDir: string;
  readonly workspaceDir: (record: SessionRecord | undefined, callId: string) => string;
}

/** Carries out a tool with `execution: "agent"`: its script runs in the session's workspace, as a shell command would. */
export async function runAgentTool(
  { name, script: entry }: ToolEntry,
  input: unknown,
  { record, callId, signal }: CallScope,
  running: AgentToolSources & { readonly script: Buffer; readonly sandbox: boolean; readonly timeoutMs: number },
): Promise<CallOutcome> {
  const section = (await running.sections.workspace?.()) as WorkspaceSection | undefined;
  if (section === undefined || entry === undefined) return failed(`"${name}" has no script in this server`);
  const root = running.workspaceDir(record, callId);
  const { script, sandbox, timeoutMs, scriptsDir, agentName } = running;
  const session = scriptSession(record, callId, agentName);
  try {
    return await section.runScript({ name, script, scriptsDir, root, input, session, sandbox, timeoutMs, signal });
  } catch (error) {
    return failed(section.isFailure(error) ? messageOf(error) : `"${name}" could not be run: ${reasonOf(error)}`);
  }
}
