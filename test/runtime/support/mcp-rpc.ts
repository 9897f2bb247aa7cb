/** MCP by hand: what the official clients would never send. */
import { expect } from "vitest";

export const modern = "2026-07-28";
export const meta = {
  "io.modelcontextprotocol/protocolVersion": modern,
  "io.modelcontextprotocol/clientCapabilities": {},
};

export interface Sent {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: {
    readonly id?: unknown;
    readonly result?: Record<string, unknown>;
    readonly error?: { readonly code: number; readonly message: string; readonly data?: Record<string, unknown> };
  };
}

export async function send(url: string, body: string, headers: Record<string, string> = {}): Promise<Sent> {
  const response = await fetch(url, {
    method: "POST",
    body,
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: text.startsWith("{") ? JSON.parse(text) : {},
  };
}

export const rpc = (
  url: string,
  method: string,
  params: unknown = {},
  headers: Record<string, string> = {},
): Promise<Sent> => send(url, JSON.stringify({ jsonrpc: "2.0", id: 7, method, params }), headers);

export const stateless = (
  url: string,
  method: string,
  params: Record<string, unknown> = {},
  headers = {},
): Promise<Sent> =>
  rpc(
    url,
    method,
    { _meta: meta, ...params },
    {
      "mcp-protocol-version": modern,
      "mcp-method": method,
      ...(typeof params.name === "string" && { "mcp-name": params.name }),
      ...headers,
    },
  );

export async function expectAlive(url: string): Promise<void> {
  const { status, body } = await rpc(url, "ping");
  expect([status, body]).toEqual([200, { jsonrpc: "2.0", id: 7, result: {} }]);
}
