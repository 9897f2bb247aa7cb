import type { HostFilesApi, HostKvApi, HostMcpApi, HostOtelApi, HostRemindersApi, HostServices } from "../authoring/host.js";
import type { OpenClient } from "../channels/packs.js";
import type { SessionRecord } from "../session/ports.js";

/** Where the services of `ctx.host` come from. */
export interface ServiceSources {
  readonly kv: HostKvApi;
  readonly files: (record: SessionRecord | undefined) => HostFilesApi;
  readonly otel: (sessionId: string | undefined) => HostOtelApi;
  readonly openClient: OpenClient;
  readonly reminders: (record: SessionRecord | undefined) => HostRemindersApi;
  /** Names of the MCP connections, sorted. */
  readonly connections: readonly string[];
}

/** `ctx.host`, for one session or for work outside any. Each service is made when it is first used. */
export function createServices(sources: ServiceSources): (record: SessionRecord | undefined) => HostServices {
  const mcp = mcpOf(sources.connections);
  return (record) => {
    let files: HostFilesApi | undefined;
    let otel: HostOtelApi | undefined;
    let reminders: HostRemindersApi | undefined;
    return {
      kv: sources.kv,
      get files() {
        files ??= sources.files(record);
        return files;
      },
      get otel() {
        otel ??= sources.otel(record?.id);
        return otel;
      },
      mcp,
      github: {
        getOctokit: <C>(at?: { readonly repository?: string }) =>
          sources.openClient("github", record, at) as Promise<C>,
      },
      slack: { getClient: <C>() => sources.openClient("slack", record) as Promise<C> },
      get reminders() {
        reminders ??= sources.reminders(record);
        return reminders;
      },
    };
  };
}

function mcpOf(connections: readonly string[]): HostMcpApi {
  const call = (server: string) =>
    Promise.reject(
      connections.includes(server)
        ? unavailable("ctx.host.mcp", "the MCP client")
        : new Error(`there is no MCP connection "${server}"; there are: ${connections.join(", ") || "none"}`),
    );
  return { names: () => connections, listTools: call, callTool: call };
}

/** Only real use fails: code that merely holds the service runs. */
function unavailable(service: string, part: string): Error {
  return new Error(`${service} can't be used: this version of bdk does not have ${part} yet`);
}
