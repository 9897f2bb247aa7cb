import type {
  HostFilesApi,
  HostKvApi,
  HostMcpApi,
  HostOtelApi,
  HostRemindersApi,
  HostServices,
} from "../authoring/host.js";
import type { OpenClient } from "../channels/packs.js";
import type { SessionRecord } from "../session/ports.js";
import type { Caller } from "../session/service.js";

/** Where the services of `ctx.host` come from. */
export interface ServiceSources {
  readonly kv: HostKvApi;
  readonly files: (record: SessionRecord | undefined) => HostFilesApi;
  readonly otel: (sessionId: string | undefined) => HostOtelApi;
  readonly reminders: (record: SessionRecord | undefined) => HostRemindersApi;
  readonly openClient: OpenClient;
  /** MCP connections, used on behalf of the session's owner, of the caller, or of the host itself. */
  readonly mcp: (record: SessionRecord | undefined, caller: Caller["auth"] | undefined) => HostMcpApi;
}

/** Makes `ctx.host`. `caller`: who asked for work outside any session. */
export type ServicesOf = (record: SessionRecord | undefined, caller?: Caller["auth"]) => HostServices;

/** `ctx.host`, for one session or for work outside any. Each service is made when it is first used. */
export function createServices(sources: ServiceSources): ServicesOf {
  return (record, caller) => {
    let files: HostFilesApi | undefined;
    let otel: HostOtelApi | undefined;
    let mcp: HostMcpApi | undefined;
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
      get mcp() {
        mcp ??= sources.mcp(record, caller);
        return mcp;
      },
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
