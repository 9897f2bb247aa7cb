/** The agent's tools as MCP lists them, made once for each generation of its code. */
import type { AgentManifest, ToolEntry } from "../manifest/schema.js";
import type { McpTool } from "./endpoint.js";
import type { Fields } from "./message.js";
import { type ParamHeader, readParamHeaders, withoutOddMarks } from "./param-headers.js";
import type { Era } from "./protocol.js";

/** A tool that MCP clients may call. */
export interface ListedTool {
  readonly entry: ToolEntry;
  readonly paramHeaders: readonly ParamHeader[];
  /** Whether it is listed with an `outputSchema`, by era. */
  readonly structured: Readonly<Record<Era, boolean>>;
}

/**
 * Server tools that a model may call unasked, in the manifest's order: those that need a human's word are left out, for
 * the caller of an MCP endpoint is usually a model. Decision 35.
 */
export function callableTools(agent: AgentManifest): readonly ToolEntry[] {
  return agent.tools.filter(
    ({ execution, needsApproval, inputSchema }) =>
      execution === "server" && !needsApproval && (inputSchema.type === undefined || inputSchema.type === "object"),
  );
}

export function listTools(tools: readonly ToolEntry[]): ReadonlyMap<string, ListedTool> {
  return new Map(
    tools.map((entry) => [
      entry.name,
      {
        entry,
        paramHeaders: readParamHeaders(entry.inputSchema),
        structured: {
          modern: entry.outputSchema !== undefined,
          legacy: entry.outputSchema?.type === "object",
        },
      },
    ]),
  );
}

/** JSON of a list of tools, from the manifest's own schemas. */
export function describeTools(tools: Iterable<ListedTool>, era: Era): string {
  return JSON.stringify([...tools].map((tool) => describe(tool, era)));
}

function describe({ entry, structured }: ListedTool, era: Era): McpTool {
  const { name, title, description, inputSchema, outputSchema, effect } = entry;
  const listed: Fields = era === "modern" ? withoutOddMarks(inputSchema) : inputSchema;
  return {
    name,
    ...(typeof title === "string" && { title }),
    description: typeof description === "string" ? description : "",
    // Arguments are an object in any case; clients refuse a whole list for one schema that does not say so.
    inputSchema: listed.type === undefined ? { type: "object", ...listed } : listed,
    ...(outputSchema !== undefined && structured[era] && { outputSchema }),
    ...(effect === "read" && { annotations: { readOnlyHint: true } }),
  };
}
