/** The official MCP clients, of both generations, behind one face. */
import { Client as NewClient, StreamableHTTPClientTransport as NewTransport } from "@modelcontextprotocol/client";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";

export interface Progress {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

export interface CallOptions {
  readonly onprogress?: (progress: Progress) => void;
  readonly signal?: AbortSignal;
}

export interface ToolResult {
  readonly content: readonly { readonly type: string; readonly text?: string }[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
}

export interface ConnectedClient {
  readonly version: string | undefined;
  readonly server: { readonly name: string; readonly version: string } | undefined;
  list(): Promise<readonly { readonly name: string; readonly inputSchema: unknown; readonly outputSchema?: unknown }[]>;
  call(name: string, args?: Record<string, unknown>, options?: CallOptions): Promise<ToolResult>;
  close(): Promise<void>;
}

const info = { name: "bdk-tests", version: "1.0.0" };

export const generations = {
  "@modelcontextprotocol/sdk": connectOld,
  "@modelcontextprotocol/client, initialize": (url: string, headers?: Record<string, string>) =>
    connectNew(url, "legacy", headers),
  "@modelcontextprotocol/client, stateless": (url: string, headers?: Record<string, string>) =>
    connectNew(url, "auto", headers),
} as const;

async function connectOld(url: string, headers: Record<string, string> = {}): Promise<ConnectedClient> {
  const client = new OldClient(info);
  const transport = new OldTransport(new URL(url), { requestInit: { headers } });
  // The package's own types differ by `undefined` in an optional field.
  await client.connect(transport as Transport);
  return {
    version: transport.protocolVersion,
    server: client.getServerVersion(),
    list: async () => (await client.listTools()).tools,
    call: async (name, args = {}, options = {}) =>
      (await client.callTool({ name, arguments: args }, undefined, options)) as ToolResult,
    close: () => client.close(),
  };
}

async function connectNew(
  url: string,
  mode: "auto" | "legacy",
  headers: Record<string, string> = {},
): Promise<ConnectedClient> {
  const client = new NewClient(info, { versionNegotiation: { mode } });
  await client.connect(new NewTransport(new URL(url), { requestInit: { headers } }));
  return {
    version: client.getNegotiatedProtocolVersion(),
    server: client.getServerVersion(),
    list: async () => (await client.listTools()).tools,
    call: async (name, args = {}, options = {}) =>
      (await client.callTool({ name, arguments: args }, options)) as ToolResult,
    close: () => client.close(),
  };
}
