/** An agent's connections as the rest of the runtime holds them: the optional part is loaded when something needs it. */
import type { HostMcpApi } from "../authoring/host.js";
import type { Sections } from "../host/sections.js";
import type { AgentGeneration } from "../manifest/bundle.js";
import type { ToolSpec } from "../session/model.js";
import type { CallableTool } from "../session/ports.js";
import type {
  Catalog,
  ConnectionFailure,
  ConnectionScope,
  ConnectionSources,
  Connections,
  ConnectionsSection,
} from "./contract.js";
import { callToolName, listToolsName, prefixOf } from "./names.js";

/** What connections lend to the model and to direct calls; made once for each generation. */
export interface ConnectionTools {
  specs(): Promise<readonly ToolSpec[]>;
  tool(name: string): Promise<CallableTool | undefined>;
  /** Whether a name may be one of theirs; others need not be asked for. */
  mayHave(name: string): boolean;
  /** Names of advertised tools that are known without asking. */
  knownNames(): readonly string[];
}

/** Connections that cost nothing while there are none. */
export interface ConnectionMount {
  /** `undefined` for code that has no connection for the model. */
  tools(of: AgentGeneration): ConnectionTools | undefined;
  host(of: AgentGeneration, scope: ConnectionScope): HostMcpApi;
  /** Everything advertised, as the servers tell it now. */
  catalog(of: AgentGeneration): Promise<Catalog>;
  /** What failed at the last attempts, without a new one. */
  failures(of: AgentGeneration): readonly ConnectionFailure[];
  /** The running code is new. */
  swapped(): void;
  close(): Promise<void>;
}

const nothing: Catalog = { tools: [], connectionErrors: [] };

export function mountConnections(
  sections: Sections,
  generation: () => AgentGeneration,
  sources: () => ConnectionSources,
): ConnectionMount {
  let loading: Promise<Connections> | undefined;
  let loaded: Connections | undefined;

  function load(): Promise<Connections> {
    loading ??= open();
    return loading;
  }

  async function open(): Promise<Connections> {
    const section = (await sections.connections?.()) as ConnectionsSection | undefined;
    if (section === undefined) {
      throw new Error("this server was built without connections; build it with `bdk build --include connections`");
    }
    loaded = section.createConnections(sources());
    return loaded;
  }

  return {
    tools(of) {
      const { mcpConnections } = of.agent;
      if (mcpConnections.length === 0 || sections.connections === undefined) return undefined;
      const prefixes = mcpConnections.map(({ name }) => prefixOf(name));
      return {
        specs: async () => (await load()).specs(of),
        tool: async (name) => (await load()).tool(of, name),
        mayHave: (name) =>
          name === listToolsName || name === callToolName || prefixes.some((prefix) => name.startsWith(prefix)),
        knownNames: () => loaded?.knownNames(of) ?? [],
      };
    },
    host(of, scope) {
      const names = [...of.agent.mcpConnections, ...of.agent.hostConnections].map(({ name }) => name).sort();
      return {
        names: () => names,
        listTools: async (server, options) => (await load()).host(of, scope).listTools(server, options),
        callTool: async (server, tool, args, options) =>
          (await load()).host(of, scope).callTool(server, tool, args, options),
      };
    },
    async catalog(of) {
      return of.agent.mcpConnections.some(({ advertiseTools }) => advertiseTools === true)
        ? (await load()).catalog(of)
        : nothing;
    },
    failures: (of) => loaded?.failures(of) ?? [],
    swapped: () => loaded?.retain(generation()),
    async close() {
      if (loading !== undefined) await (await loading).close();
    },
  };
}
