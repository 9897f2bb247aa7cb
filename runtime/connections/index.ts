/** Connections to MCP servers and peers: the optional part of the runtime that opens them. */
import type { AgentGeneration } from "../manifest/bundle.js";
import type { ToolSpec } from "../session/model.js";
import type { CallScope } from "../session/ports.js";
import type { Caller } from "../session/service.js";
import type { CatalogTool, ConnectionFailure, ConnectionScope, ConnectionSources, Connections } from "./contract.js";
import { ConnectionError } from "./error.js";
import { explain } from "./explain.js";
import { gatewaySpecs, gatewayTool } from "./gateway.js";
import { Link } from "./link.js";
import { prefixOf } from "./names.js";
import { createConnectionAuth } from "./oauth.js";
import { toHostResult } from "./result.js";
import { type ConnectionSpec, isAllowed, readSpecs } from "./spec.js";
import { advertisedTool, describeTool, effectOf, onBehalfOf, unavailableTool } from "./tool.js";
import { unlessAborted, within } from "./waiting.js";

/** How long a model step, or a listing, waits for a server that has not listed its tools yet. Milliseconds. */
const patienceMs = 5_000;

/** More tools than most providers take. */
const manyTools = 128;

const host: Caller["auth"] = { kind: "app", id: "host" };

/** The connections of one agent. */
export function createConnections(given: ConnectionSources): Connections {
  const { clock, log, logins } = given;
  const sources =
    logins === undefined
      ? given
      : { authProvider: createConnectionAuth(logins, clock, log, given.environment), ...given };
  const links = new Map<string, Link>();
  const known = new WeakMap<AgentGeneration, readonly ConnectionSpec[]>();
  /** What the log has been told once. */
  const told = new Set<string>();

  function specsOf(of: AgentGeneration): readonly ConnectionSpec[] {
    let specs = known.get(of);
    if (specs === undefined) {
      specs = readSpecs(of);
      known.set(of, specs);
    }
    return specs;
  }
  /** Those that a model may know of, with and without a list of their tools. */
  const forModel = (of: AgentGeneration, advertises: boolean) =>
    specsOf(of).filter((spec) => spec.kind === "mcp-connection" && spec.advertises === advertises);

  /** One line a server; to a peer, one for each principal. */
  function linkOf(spec: ConnectionSpec, scope: ConnectionScope): Link {
    const principal = spec.way.is === "peer" ? onBehalfOf(scope) : host;
    // With all that is claimed of a principal, which may change while its name does not.
    const key = `${keyOf(spec)}\n${JSON.stringify(principal)}`;
    let link = links.get(key);
    if (link === undefined) {
      // There may be many principals, each with a line to a peer: those at rest are forgotten.
      link = new Link(spec, principal, sources, () => {
        if (spec.way.is === "peer") links.delete(key);
      });
      links.set(key, link);
    }
    return link;
  }

  function callServer(spec: ConnectionSpec, scope: CallScope, tool: string, args: Readonly<Record<string, unknown>>) {
    return linkOf(spec, scope).call(tool, args, { signal: scope.signal });
  }

  /** The tools of a connection, unless it takes too long or failed a moment ago. */
  async function soon(spec: ConnectionSpec): Promise<readonly CatalogTool[] | ConnectionFailure> {
    const link = linkOf(spec, {});
    try {
      if (link.isResting && link.failure !== undefined) throw link.failure;
      const tools = await within(link.tools(), link.hasWaited ? 0 : patienceMs, clock);
      if (tools === undefined) {
        link.hasWaited = true;
        throw new ConnectionError("connection_timeout", "it has not listed its tools yet");
      }
      link.hasWaited = false;
      return tools.map((tool) => describeTool(spec, tool));
    } catch (error) {
      const { code, message } = explain(error, (text) => text);
      return { connection: spec.name, code, message };
    }
  }

  async function catalog(of: AgentGeneration) {
    const found = await Promise.all(forModel(of, true).map(soon));
    const tools: CatalogTool[] = [];
    const connectionErrors: ConnectionFailure[] = [];
    for (const each of found) {
      if ("connection" in each) connectionErrors.push(each);
      else tools.push(...each.filter((tool) => isReachable(of, tool)));
    }
    return { tools, connectionErrors };
  }

  /** Of `a` with a tool `b__x` and `a__b` with a tool `x`, the longer name has it: providers take no name twice. */
  function isReachable(of: AgentGeneration, { name, tool, connection }: CatalogTool): boolean {
    const owner = ownerOf(name, forModel(of, true))?.name;
    if (owner === connection) return true;
    sayOnce(`the tool ${tool} of connection "${connection}" is left out: "${name}" is a tool of "${owner}"`);
    return false;
  }

  function sayOnce(message: string): void {
    if (told.has(message)) return;
    told.add(message);
    log("warn", message);
  }

  function named(of: AgentGeneration, server: string): ConnectionSpec {
    const specs = specsOf(of);
    const spec = specs.find(({ name }) => name === server);
    if (spec !== undefined) return spec;
    // Errors of tools reach models and callers: what is for code alone is not among the names.
    const names = specs.flatMap(({ name, kind }) => (kind === "mcp-connection" ? [name] : [])).sort();
    throw new ConnectionError(
      "unknown_connection",
      `there is no MCP connection "${server}"; there are: ${names.join(", ") || "none"}`,
    );
  }

  return {
    async specs(of) {
      const { tools, connectionErrors } = await catalog(of);
      for (const { connection, message } of connectionErrors) {
        sayOnce(`connection "${connection}" lends no tools to the model: ${message}`);
      }
      if (tools.length > manyTools) {
        sayOnce(`connections advertise ${tools.length} tools; leave out advertiseTools, or choose with tools.allow`);
      }
      const advertised = tools.map(
        ({ name, description, inputSchema }): ToolSpec => ({
          name,
          description,
          inputSchema: inputSchema as ToolSpec["inputSchema"],
        }),
      );
      return [...advertised, ...gatewaySpecs(forModel(of, false))];
    },

    async tool(of, name) {
      const gateway = gatewayTool(name, forModel(of, false), { linkOf, callServer });
      if (gateway !== undefined) return gateway;
      const spec = ownerOf(name, forModel(of, true));
      if (spec === undefined) return undefined;
      try {
        const tools = await linkOf(spec, {}).tools();
        const tool = tools.find((each) => describeTool(spec, each).name === name);
        return tool === undefined ? undefined : advertisedTool(spec, tool, callServer);
      } catch (error) {
        return unavailableTool(spec, name, error);
      }
    },

    catalog,

    host: (of, scope: ConnectionScope) => ({
      async listTools(server, options) {
        const tools = await unlessAborted(linkOf(named(of, server), scope).tools(), options?.signal);
        return tools.map(({ name, title, description, inputSchema }) => ({
          name,
          ...(title !== undefined && { title }),
          ...(description !== undefined && { description }),
          inputSchema,
        }));
      },
      async callTool(server, tool, args = {}, options = {}) {
        const spec = named(of, server);
        if (!isAllowed(spec, tool)) {
          const which = spec.kind === "mcp-connection" ? `connection "${server}"` : "the connection";
          throw new ConnectionError("unknown_tool", `${which} does not allow the tool "${tool}"`);
        }
        if (scope.record?.dryRun === true && effectOf(spec, tool) === "write") {
          const text = `This is a dry run: "${server}/${tool}" was not carried out.`;
          return { content: [{ type: "text", text }], structuredContent: { dryRun: true, message: text } };
        }
        return toHostResult(await linkOf(spec, scope).call(tool, args, options));
      },
    }),

    failures(of) {
      return forModelOrNot(of).flatMap((spec) => {
        const failure = [...links.values()].find((link) => keyOf(link.spec) === keyOf(spec) && link.failure)?.failure;
        return failure === undefined ? [] : [{ connection: spec.name, code: failure.code, message: failure.message }];
      });
    },

    knownNames: (of) =>
      forModel(of, true).flatMap((spec) => linkOf(spec, {}).known.map((each) => describeTool(spec, each).name)),

    retain(of) {
      const wanted = new Set(specsOf(of).map(keyOf));
      for (const [key, link] of links) {
        if (wanted.has(keyOf(link.spec))) link.restore();
        else {
          links.delete(key);
          link.retire();
        }
      }
    },

    async close() {
      await Promise.all(
        [...links.values()].map((link) => {
          // What still uses one opens it no more for long.
          link.retire();
          return link.close();
        }),
      );
    },
  };

  function forModelOrNot(of: AgentGeneration): readonly ConnectionSpec[] {
    return specsOf(of).filter(({ kind }) => kind === "mcp-connection");
  }
}

/** Two definitions that say the same are one connection, also over an edit of something else. */
function keyOf(spec: ConnectionSpec): string {
  return JSON.stringify(spec);
}

/** The connection whose prefix a name has; of several, the longest. */
function ownerOf(name: string, specs: readonly ConnectionSpec[]): ConnectionSpec | undefined {
  return specs
    .filter((spec) => name.startsWith(prefixOf(spec.name)))
    .sort((left, right) => right.name.length - left.name.length)[0];
}
