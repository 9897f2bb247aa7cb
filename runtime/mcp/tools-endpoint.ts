/** `/v1/mcp/tools`: the agent's own tools, nothing else. Source: `http-api.md` (MCP endpoint). */

import { RuntimeError } from "../errors.js";
import type { AgentMount } from "../http/context.js";
import { resultFields, textFields } from "./call-result.js";
import { callableTools, describeTools, type ListedTool, listTools } from "./catalog.js";
import type { McpCall, McpEndpoint, ResultFields } from "./endpoint.js";

/** What an endpoint is told of its server. */
export interface ServerFacts {
  /** Version of the runtime. */
  readonly version: string;
  /** The code may change while the server runs: lists are not to be kept. */
  readonly isDev: boolean;
}

/** How long clients may keep what only a new deployment changes, in milliseconds. */
const ttlMs = 300_000;

export function createToolsEndpoint(agent: AgentMount, facts: ServerFacts): McpEndpoint {
  const tools = listTools(callableTools(agent.generation.agent));
  const lists = {
    modern: once(() => describeTools(tools.values(), "modern")),
    legacy: once(() => describeTools(tools.values(), "legacy")),
  };
  return {
    ...identity(agent, facts),
    capabilities: '{"tools":{},"logging":{}}',
    tools: (era) => lists[era](),
    paramHeaders: (name) => tools.get(name)?.paramHeaders,
    call: (call) => callAgentTool(agent, tools.get(call.name), call),
  };
}

/** Name, version and description as both endpoints say them. */
export function identity({ generation: { agent } }: AgentMount, { version, isDev }: ServerFacts) {
  const { description } = agent;
  return {
    serverInfo: JSON.stringify({ name: agent.slug, title: agent.name, version }),
    ...(typeof description === "string" && { instructions: JSON.stringify(description) }),
    ttlMs: isDev ? 0 : ttlMs,
  };
}

async function callAgentTool(agent: AgentMount, tool: ListedTool | undefined, call: McpCall): Promise<ResultFields> {
  const { era, name, args, caller, signal, progress, log } = call;
  try {
    const { result, isError } = await agent.sessions.callTool(caller, {
      toolName: name,
      input: args,
      get signal() {
        return signal();
      },
      notices: { ...(progress && { progress }), ...(log && { log }) },
    });
    return resultFields({ value: result, isError, isStructured: tool?.structured[era] === true }, era);
  } catch (error) {
    // A model can mend its arguments: it gets them back as a failed call, not as a fault of the protocol.
    if (error instanceof RuntimeError && error.code === "invalid_input") return textFields(error.message, true);
    throw error;
  }
}

/** Made at the first request, so that startup does not pay for it. */
export function once(make: () => string): () => string {
  let text: string | undefined;
  return () => {
    text ??= make();
    return text;
  };
}
