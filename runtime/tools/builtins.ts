/** The built-in tools as the turn loop calls them; what they do is in the `workspace` section. Decision 5. */
import type { Sections } from "../host/sections.js";
import type { AgentManifest } from "../manifest/schema.js";
import type { ToolSpec } from "../session/model.js";
import type { CallableTool, CallOutcome, CallScope, PreparedCall, Refusal, SessionRecord } from "../session/ports.js";
import type { WorkspaceSection, WorkspaceTool } from "../workspace/tools/index.js";
import { refuseInput } from "./issues.js";
import { failed, messageOf } from "./result.js";
import { scriptSession } from "./script-session.js";

/** Names of the tools that act on the working directory. */
export const workspaceToolNames: readonly string[] = ["read", "write", "edit", "ls", "glob", "grep", "shell"];

export interface BuiltinSources {
  readonly sections: Sections;
  /** The session's working directory; made if it is missing. Throws `workspace_unavailable`. */
  readonly workspaceDir: (record: SessionRecord | undefined, callId: string) => string;
}

/** The built-in tools of one agent, whichever an actor may use. */
export interface Builtins {
  /** What the model is told of them, in the order of `names`. */
  specs(names: readonly string[]): Promise<readonly ToolSpec[]>;
  tool(name: string): CallableTool;
}

/**
 * Which built-in tools an allowlist allows. Left out: all but `shell`, which has to be listed, or sandboxed.
 *
 * @example allowedBuiltins(undefined, false) // all but shell
 */
export function allowedBuiltins(list: readonly string[] | undefined, sandbox: boolean): readonly string[] {
  if (list !== undefined) return [...workspaceToolNames, "task"].filter((name) => list.includes(name));
  return [...workspaceToolNames, "task"].filter((name) => name !== "shell" || sandbox);
}

/** Nothing when the section was not linked: then an agent has no built-in tools. */
export function createBuiltins(agent: AgentManifest, sources: BuiltinSources): Builtins | undefined {
  const link = sources.sections.workspace;
  if (link === undefined) return undefined;
  const sandbox = agent.local?.sandbox === true;
  let loading: Promise<WorkspaceSection> | undefined;
  const load = () => {
    loading ??= Promise.resolve(link() as WorkspaceSection);
    return loading;
  };
  return {
    async specs(names) {
      const { tools } = await load();
      return tools.filter(({ name }) => names.includes(name)).map(toSpec);
    },
    tool: (name) => ({
      name,
      execution: "server",
      modelOnly: true,
      async prepare(input) {
        const section = await load();
        const tool = section.tools.find((each) => each.name === name);
        if (tool === undefined) throw new Error(`the section has no tool "${name}"`);
        return prepare(section, tool, input, { sandbox, agentName: agent.name, workspaceDir: sources.workspaceDir });
      },
    }),
  };
}

function toSpec({ name, description, inputSchema }: WorkspaceTool): ToolSpec {
  return { name, description, inputSchema };
}

function prepare(
  section: WorkspaceSection,
  tool: WorkspaceTool,
  input: unknown,
  place: Pick<BuiltinSources, "workspaceDir"> & { readonly sandbox: boolean; readonly agentName: string },
): PreparedCall | Refusal {
  const prepared = tool.prepare(input);
  if ("issues" in prepared) return refuseInput(tool.name, prepared.issues);

  async function run({ record, callId, signal }: CallScope): Promise<CallOutcome> {
    if (tool.effect === "write" && record?.dryRun === true) {
      const output = { dryRun: true, message: `This is a dry run: "${tool.name}" was not carried out.` };
      return { output, isError: false, stubbed: true };
    }
    const root = place.workspaceDir(record, callId);
    if ("issues" in prepared) throw new Error("unreachable: refused above");
    const session = scriptSession(record, callId, place.agentName);
    try {
      return { output: await prepared.run({ root, signal, session, sandbox: place.sandbox }), isError: false };
    } catch (error) {
      return failed(section.isFailure(error) ? messageOf(error) : `${tool.name} failed: ${reasonOf(error)}`);
    }
  }
  return { effect: tool.effect, needsApproval: () => false, run };
}

/** The system's own messages tell paths that are none of the model's business. */
export function reasonOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : messageOf(error);
}
