/** `/v1/mcp`: the agent as three tools, for other agents and for assistants. Source: `july-0.1.111.md` (MCP endpoint). */
import { RuntimeError } from "../errors.js";
import type { AgentMount } from "../http/context.js";
import type { AgentManifest, ToolEntry } from "../manifest/schema.js";
import { resultFields, textFields } from "./call-result.js";
import { callableTools } from "./catalog.js";
import { ask, check, defaultWaitSeconds, maxWaitSeconds } from "./delegate.js";
import type { McpCall, McpEndpoint, McpTool, ResultFields } from "./endpoint.js";
import type { AskReport } from "./session-watch.js";
import { identity, once, type ServerFacts } from "./tools-endpoint.js";

export function createAgentEndpoint(agent: AgentMount, facts: ServerFacts): McpEndpoint {
  const manifest = agent.generation.agent;
  const callable = callableTools(manifest);
  const list = once(() => JSON.stringify(toolsOf(manifest, callable)));
  const names = ["ask", "check", ...(hasServerTools(manifest) ? ["call_tool"] : [])];
  return {
    ...identity(agent, facts),
    hasLogging: false,
    tools: list,
    paramHeaders: (name) => (names.includes(name) ? [] : undefined),
    call: (call) => answer(agent, callable, call),
  };
}

async function answer(agent: AgentMount, callable: readonly ToolEntry[], call: McpCall): Promise<ResultFields> {
  try {
    switch (call.name) {
      case "ask":
        return reportFields(await ask(agent, call), call);
      case "check":
        return reportFields(await check(agent, call), call);
      default:
        return await callTool(agent, callable, call);
    }
  } catch (error) {
    if (!(error instanceof RuntimeError) || error.status >= 500) throw error;
    // What the caller can mend goes back to it as a failed call; it is a model more often than not.
    const { code, message, details } = error;
    const told =
      call.name === "call_tool" ? { error: code, message } : { status: "error", error: code, errorMessage: message };
    return textFields(JSON.stringify({ ...told, ...details }), true);
  }
}

/** JSON as text, for clients of every age, and as structured content. */
function reportFields(report: AskReport, { era }: McpCall): ResultFields {
  const fields = resultFields({ value: { ...report }, isError: false, isStructured: true }, era);
  return report.status === "error" ? `${fields},"isError":true` : fields;
}

async function callTool(agent: AgentMount, callable: readonly ToolEntry[], call: McpCall): Promise<ResultFields> {
  const { args, caller, era, progress } = call;
  const { toolName, input = {}, sessionId } = args;
  if (typeof toolName !== "string") throw new RuntimeError("invalid_input", '"toolName" must be a string');
  if (sessionId !== undefined && sessionId !== null && typeof sessionId !== "string") {
    throw new RuntimeError("invalid_input", '"sessionId" must be a string');
  }
  if (!callable.some(({ name }) => name === toolName)) throw refusal(agent.generation.agent, callable, toolName);
  const { result, isError } = await agent.sessions.callTool(caller, {
    toolName,
    input,
    signal: call.signal,
    ...(typeof sessionId === "string" && { sessionId }),
    ...(progress && { notices: { progress } }),
  });
  return resultFields({ value: result, isError, isStructured: false }, era);
}

/** Why a tool is not among those that may be called here. */
function refusal({ tools }: AgentManifest, callable: readonly ToolEntry[], toolName: string): RuntimeError {
  const tool = tools.find(({ name, execution }) => name === toolName && execution === "server");
  if (tool?.needsApproval === true) {
    return new RuntimeError("approval_required", `"${toolName}" needs a human's word: ask the agent to use it`);
  }
  const available = callable.map(({ name }) => name);
  return new RuntimeError("unknown_tool", `no tool named "${toolName.slice(0, 80)}"`, { available });
}

function hasServerTools({ tools }: AgentManifest): boolean {
  return tools.some(({ execution }) => execution === "server");
}

const sessionId = { type: "string", description: "Id of a session, as ask answered it." };

const report = {
  type: "object",
  properties: {
    status: { type: "string", enum: ["finished", "error", "cancelled", "running", "awaiting_approval"] },
    sessionId: { type: "string" },
    result: { description: "The reply, once the status is finished." },
    errorMessage: { type: "string" },
    approvals: {
      type: "array",
      description: "Tool calls that a human has to decide on.",
      items: {
        type: "object",
        properties: { callId: { type: "string" }, toolName: { type: "string" } },
        required: ["callId", "toolName"],
      },
    },
  },
  required: ["status", "sessionId"],
};

function toolsOf({ name, description, tools }: AgentManifest, callable: readonly ToolEntry[]): readonly McpTool[] {
  const about = typeof description === "string" ? ` ${description}` : "";
  const waitSeconds = (otherwise: number) => ({
    type: "number",
    minimum: 0,
    maximum: maxWaitSeconds,
    default: otherwise,
    description: "How long to wait for the end, in seconds; 0 answers at once.",
  });
  return [
    {
      name: "ask",
      title: `Ask ${name}`,
      description:
        `Hands a message to the agent ${name} and waits for its reply.${about} ` +
        'When the status is "running", call check with the sessionId. Give the sessionId to go on with that conversation.',
      inputSchema: {
        type: "object",
        properties: {
          message: { type: "string", minLength: 1, description: "What the agent is to do, with all it needs to know." },
          waitSeconds: waitSeconds(defaultWaitSeconds),
          sessionId: { ...sessionId, description: `${sessionId.description} A turn that runs in it is interrupted.` },
        },
        required: ["message"],
      },
      outputSchema: report,
    },
    {
      name: "check",
      title: `Check on ${name}`,
      description: "Tells where a session that ask began stands, and its reply once there is one.",
      inputSchema: {
        type: "object",
        properties: { sessionId, waitSeconds: waitSeconds(0) },
        required: ["sessionId"],
      },
      outputSchema: report,
      annotations: { readOnlyHint: true },
    },
    ...(tools.some(({ execution }) => execution === "server") ? [callToolTool(name, callable)] : []),
  ];
}

/** The tools are named with what they are for; a call that does not fit is told what would. */
function callToolTool(name: string, callable: readonly ToolEntry[]): McpTool {
  const lines = callable.map((tool) => {
    const text = typeof tool.description === "string" ? (tool.description.split("\n", 1)[0] ?? "") : "";
    return `- ${tool.name}: ${text.length > 200 ? `${text.slice(0, 200)}…` : text}`;
  });
  return {
    name: "call_tool",
    title: `Call a tool of ${name}`,
    description: `Runs one tool of the agent ${name} without a model. The tools:\n${lines.join("\n")}`,
    inputSchema: {
      type: "object",
      properties: {
        toolName: {
          type: "string",
          ...(callable.length > 0 && { enum: callable.map((tool) => tool.name) }),
        },
        input: { type: "object", description: "The tool's own input." },
        sessionId: { ...sessionId, description: "Session to run the call in; left out: none." },
      },
      required: ["toolName"],
    },
  };
}
