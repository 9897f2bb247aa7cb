/** The two tools by which a model reaches connections that don't list theirs: look up, then call. */
import type { JsonObject, JsonValue } from "../session/event.js";
import type { ToolSpec } from "../session/model.js";
import type { CallableTool } from "../session/ports.js";
import { refuseInput } from "../tools/issues.js";
import type { ConnectionScope } from "./contract.js";
import type { Link } from "./link.js";
import { callToolName, listToolsName } from "./names.js";
import type { ConnectionSpec } from "./spec.js";
import { type CallServer, effectOf, failedServer, objectOf, prepareCall, unavailableTool } from "./tool.js";
import { unlessAborted } from "./waiting.js";

/** Most tools that one look-up tells in full. */
const mostListed = 50;

export interface GatewaySources {
  readonly linkOf: (spec: ConnectionSpec, scope: ConnectionScope) => Link;
  readonly callServer: CallServer;
}

/** What the model is told; nothing when every connection advertises its tools. */
export function gatewaySpecs(specs: readonly ConnectionSpec[]): readonly ToolSpec[] {
  if (specs.length === 0) return [];
  const names = specs.map(({ name }) => name);
  const lines = specs.map(({ name, description }) => {
    const told = description?.replaceAll(/\s+/g, " ").trim() ?? "";
    return told === "" ? `- ${name}` : `- ${name}: ${told}`;
  });
  const connection = { type: "string", enum: names, description: "Which server." };
  return [
    {
      name: listToolsName,
      description: `Lists the tools of a connected MCP server, with their input schemas. There are:\n${lines.join("\n")}`,
      inputSchema: {
        type: "object",
        properties: {
          connection,
          query: { type: "string", description: "Only tools whose name or description contains this." },
        },
        required: ["connection"],
        additionalProperties: false,
      },
    },
    {
      name: callToolName,
      description: `Calls a tool of a connected MCP server. Look it up with ${listToolsName} first.`,
      inputSchema: {
        type: "object",
        properties: {
          connection,
          tool: { type: "string", description: "Name of the tool, as the server lists it." },
          arguments: { type: "object", description: "What its input schema asks for." },
        },
        required: ["connection", "tool"],
        additionalProperties: false,
      },
    },
  ];
}

/** One of the two, over the connections that don't advertise. */
export function gatewayTool(
  name: string,
  specs: readonly ConnectionSpec[],
  sources: GatewaySources,
): CallableTool | undefined {
  if (specs.length === 0) return undefined;
  if (name === listToolsName) return listing(specs, sources);
  return name === callToolName ? calling(specs, sources) : undefined;
}

function listing(specs: readonly ConnectionSpec[], { linkOf }: GatewaySources): CallableTool {
  return {
    name: listToolsName,
    execution: "server",
    modelOnly: true,
    prepare(input) {
      const given = objectOf(listToolsName, input);
      if ("refused" in given) return given;
      const { connection, query } = given.value;
      const spec = specs.find((each) => each.name === connection);
      if (spec === undefined) return noSuch(listToolsName, specs);
      return {
        effect: "read",
        needsApproval: () => false,
        async run(scope) {
          try {
            const all = await unlessAborted(linkOf(spec, scope).tools(), scope.signal);
            const wanted = typeof query === "string" ? query.toLowerCase() : "";
            const found = all.filter(({ name, title = "", description = "" }) =>
              `${name}\n${title}\n${description}`.toLowerCase().includes(wanted),
            );
            const tools = found.slice(0, mostListed).map((tool) => ({
              name: tool.name,
              ...(tool.description !== undefined && { description: tool.description }),
              effect: effectOf(spec, tool.name),
              inputSchema: tool.inputSchema as JsonValue,
            }));
            const more = found.length - tools.length;
            const note =
              more > 0 ? { more, names: found.slice(mostListed, mostListed * 10).map(({ name }) => name) } : {};
            return { output: { tools, ...note } as JsonObject, isError: false };
          } catch (error) {
            return failedServer(spec, error, "read");
          }
        },
      };
    },
  };
}

function calling(specs: readonly ConnectionSpec[], { linkOf, callServer }: GatewaySources): CallableTool {
  return {
    name: callToolName,
    execution: "server",
    modelOnly: true,
    async prepare(input) {
      const given = objectOf(callToolName, input);
      if ("refused" in given) return given;
      const { connection, tool: name, arguments: args = {} } = given.value;
      const spec = specs.find((each) => each.name === connection);
      if (spec === undefined) return noSuch(callToolName, specs);
      if (typeof name !== "string") return refuseInput(callToolName, [{ path: "tool", message: "must be a text" }]);
      const checked = objectOf(callToolName, args);
      if ("refused" in checked) return refuseInput(callToolName, [{ path: "arguments", message: "must be an object" }]);
      try {
        const tools = await linkOf(spec, {}).tools();
        const tool = tools.find((each) => each.name === name);
        if (tool === undefined) {
          const message = `"${connection}" has no tool "${name}"; look them up with ${listToolsName}`;
          return refuseInput(callToolName, [{ path: "tool", message }]);
        }
        return prepareCall(spec, tool, `${spec.name}/${name}`, checked.value, callServer);
      } catch (error) {
        return unavailableTool(spec, callToolName, error).prepare({});
      }
    },
  };
}

function noSuch(tool: string, specs: readonly ConnectionSpec[]) {
  const names = specs.map(({ name }) => name).join(", ");
  return refuseInput(tool, [{ path: "connection", message: `must be one of ${names}` }]);
}
