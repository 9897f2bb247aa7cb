/** Bundles of agents with connections, as the compiler would make them. */
import { expect } from "vitest";
import type { ConnectionConfig } from "../../../runtime/authoring/connections.js";
import type { AgentBundle } from "../../../runtime/manifest/bundle.js";
import type { ConnectionEntry } from "../../../runtime/manifest/schema.js";
import { type AgentParts, makeBundle } from "./bundle.js";
import { call } from "./host.js";

type Configs = Readonly<Record<string, ConnectionConfig>>;

export interface ConnectedParts extends AgentParts {
  readonly mcp?: Configs;
  readonly hostOnly?: Configs;
}

/** An agent with connections. */
export function connected(parts: ConnectedParts): AgentParts {
  const { mcp = {}, hostOnly = {}, ...rest } = parts;
  return {
    ...rest,
    manifest: {
      ...rest.manifest,
      mcpConnections: entries("mcp-connection", mcp),
      hostConnections: entries("host-connection", hostOnly),
    },
    definitions: {
      ...rest.definitions,
      ...definitions("mcp-connection", mcp),
      ...definitions("host-connection", hostOnly),
    },
  };
}

/** A bundle of one agent with connections. */
export function connectedBundle(parts: ConnectedParts): AgentBundle {
  return makeBundle([connected(parts)]);
}

function entries(kind: string, configs: Configs): ConnectionEntry[] {
  return Object.entries(configs).map(([name, config]) => ({
    id: `${kind}:${name}`,
    source: `bot/${kind}s/${name}.ts:1`,
    layer: "project",
    name,
    transport: config.url !== undefined ? "http" : config.command !== undefined ? "stdio" : "peer",
    target: config.url ?? config.command ?? config.agent ?? "",
    ...(config.advertiseTools !== undefined && { advertiseTools: config.advertiseTools }),
  }));
}

function definitions(kind: string, configs: Configs): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(configs).map(([name, config]) => [`${kind}:${name}`, { ...config, __agentServe: "connection" }]),
  );
}

/** What is listed once every server that answers has answered: on a busy machine, one may take longer than a listing waits. */
export async function listing(base: string): Promise<Record<string, unknown>> {
  let body: Record<string, unknown> = {};
  await expect
    .poll(async () => {
      ({ body } = await call(`${base}/v1/tools`));
      return body.connectionErrors as { code: string }[];
    })
    .not.toContainEqual(expect.objectContaining({ code: "connection_timeout" }));
  return body;
}
