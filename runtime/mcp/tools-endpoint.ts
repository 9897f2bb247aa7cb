/** `/v1/mcp/tools`: the agent's own tools, nothing else. Source: `http-api.md` (MCP endpoint). */

import { RuntimeError } from "../errors.js";
import type { AgentMount } from "../http/context.js";
import type { DirectToolCall, ToolCallOutcome } from "../session/service.js";
import type { Soon } from "../session/soon.js";
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
    hasLogging: true,
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

function callAgentTool(agent: AgentMount, tool: ListedTool | undefined, call: McpCall): Soon<ResultFields> {
  const { era } = call;
  const tell = ({ result, isError }: ToolCallOutcome) =>
    resultFields({ value: result, isError, isStructured: tool?.structured[era] === true }, era);
  const called = agent.sessions.callTool(call.caller, new DirectCall(call));
  return called instanceof Promise ? called.then(tell).catch(toFailedCall) : tell(called);
}

/** A call as the session service takes it; a tool that does not last never asks for the signal. */
class DirectCall implements DirectToolCall {
  readonly toolName: string;
  readonly input: unknown;
  readonly notices: McpCall;
  readonly #call: McpCall;

  constructor(call: McpCall) {
    this.toolName = call.name;
    this.input = call.args;
    this.notices = call;
    this.#call = call;
  }

  get signal(): AbortSignal {
    return this.#call.signal;
  }
}

/** A model can mend its arguments: it gets them back as a failed call, not as a fault of the protocol. */
function toFailedCall(error: unknown): ResultFields {
  if (error instanceof RuntimeError && error.code === "invalid_input") return textFields(error.message, true);
  throw error;
}

/** Made at the first request, so that startup does not pay for it. */
export function once(make: () => string): () => string {
  let text: string | undefined;
  return () => {
    text ??= make();
    return text;
  };
}
