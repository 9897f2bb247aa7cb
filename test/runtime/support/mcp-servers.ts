/** MCP servers to connect to, made with the official SDK in both generations; nothing of ours inside. */
import { createServer, type Server as HttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { Server as OldServer } from "@modelcontextprotocol/sdk/server/index.js";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import {
  CallToolRequestSchema,
  type CallToolResult,
  ListToolsRequestSchema,
  type Tool,
} from "@modelcontextprotocol/sdk/types.js";
import { createMcpHandler, Server as NewServer } from "@modelcontextprotocol/server";
import { afterEach } from "vitest";

type Answer = CallToolResult | Promise<CallToolResult>;

/** What a server offers; `tools` is looked at for each list. */
export interface Offer {
  tools: readonly Tool[];
  call(name: string, args: Record<string, unknown>): Answer;
}

/** A server that listens on a loopback port. */
export interface Listening {
  readonly url: string;
  /** Every HTTP request, with what it carried. */
  readonly requests: { readonly method: string; readonly headers: IncomingMessage["headers"]; readonly body: string }[];
  /** Tells clients that the list of tools has changed. */
  changed(): Promise<void>;
  /** Forgets every session, as a server that was restarted does. */
  forget(): void;
  close(): Promise<void>;
}

const open: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

/** A tool that takes one text. */
export function textTool(name: string, more: Partial<Tool> = {}): Tool {
  return {
    name,
    description: `Does ${name}.`,
    inputSchema: { type: "object", properties: { text: { type: "string" } } },
    ...more,
  };
}

/** Tools whose answer is what they were called with. */
export function echoing(tools: readonly Tool[]): Offer {
  return {
    tools,
    call: (name, args) => ({ content: [{ type: "text", text: `${name}: ${JSON.stringify(args)}` }] }),
  };
}

const info = { name: "referee", version: "1.0.0" };
const capabilities = { tools: { listChanged: true } };

function oldServer(offer: Offer): OldServer {
  const server = new OldServer(info, { capabilities });
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [...offer.tools] }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => offer.call(params.name, params.arguments ?? {}));
  return server;
}

/** `@modelcontextprotocol/sdk`: revisions up to 2025-11-25, with sessions. */
export async function serveOld(offer: Offer): Promise<Listening> {
  const sessions = new Map<string, { readonly server: OldServer; readonly transport: StreamableHTTPServerTransport }>();
  return listen(
    async (request, response, body) => {
      const id = request.headers["mcp-session-id"];
      const known = typeof id === "string" ? sessions.get(id) : undefined;
      if (known !== undefined) return known.transport.handleRequest(request, response, body);
      if (id !== undefined) {
        response.writeHead(404).end();
        return;
      }
      const server = oldServer(offer);
      const transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: () => crypto.randomUUID(),
        onsessioninitialized: (made) => void sessions.set(made, { server, transport }),
      });
      // The SDK's own types disagree under exactOptionalPropertyTypes.
      await server.connect(transport as Parameters<OldServer["connect"]>[0]);
      await transport.handleRequest(request, response, body);
    },
    async () => {
      for (const { server } of sessions.values()) await server.sendToolListChanged();
    },
    () => sessions.clear(),
  );
}

/** The transport of the protocol's first revision: a stream of events, and messages posted beside it. */
export async function serveSse(offer: Offer): Promise<Listening> {
  const streams = new Map<string, { readonly server: OldServer; readonly transport: SSEServerTransport }>();
  return listen(
    async (request, response, body) => {
      if (request.method === "GET") {
        const transport = new SSEServerTransport("/messages", response);
        const server = oldServer(offer);
        streams.set(transport.sessionId, { server, transport });
        return server.connect(transport);
      }
      const id = new URL(request.url ?? "", "http://localhost").searchParams.get("sessionId");
      await streams.get(id ?? "")?.transport.handlePostMessage(request, response, body);
    },
    async () => {
      for (const { server } of streams.values()) await server.sendToolListChanged();
    },
  );
}

/** `@modelcontextprotocol/server`: 2026-07-28, stateless; earlier revisions too, unless `only`. */
export async function serveNew(offer: Offer, only = false): Promise<Listening> {
  const handler = createMcpHandler(
    () => {
      const server = new NewServer(info, { capabilities });
      server.setRequestHandler("tools/list", () => ({ tools: [...offer.tools] }) as never);
      server.setRequestHandler(
        "tools/call",
        async ({ params }) => (await offer.call(params.name, params.arguments ?? {})) as never,
      );
      return server;
    },
    { legacy: only ? "reject" : "stateless" },
  );
  const answer = toNodeHandler(handler);
  return listen(
    (request, response, body) => answer(request as Parameters<typeof answer>[0], response, body),
    async () => handler.notify.toolsChanged(),
  );
}

/** What stands before a server: `take` may answer instead of it. */
export async function serveBefore(
  url: string,
  take: (request: IncomingMessage, response: ServerResponse<IncomingMessage>, body: unknown) => boolean,
): Promise<Listening> {
  return listen(async (request, response, body) => {
    if (take(request, response, body)) return;
    const headers = new Headers();
    for (const [name, value] of Object.entries(request.headers)) {
      if (typeof value === "string" && !["host", "connection", "content-length"].includes(name))
        headers.set(name, value);
    }
    const gone = new AbortController();
    response.on("close", () => gone.abort());
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await fetch(url, { method: request.method ?? "GET", headers, signal: gone.signal, ...sent });
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "text/plain" });
    if (answer.body !== null) for await (const chunk of answer.body) response.write(chunk);
    response.end();
  });
}

/** Any HTTP server, with its requests recorded. */
export async function listen(
  answer: (request: IncomingMessage, response: ServerResponse<IncomingMessage>, body: unknown) => unknown,
  changed: () => Promise<void> = async () => undefined,
  forget: () => void = () => undefined,
): Promise<Listening> {
  const requests: Listening["requests"] = [];
  const server: HttpServer = createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8");
    request.on("data", (chunk: string) => {
      text += chunk;
    });
    request.on("end", () => {
      requests.push({ method: request.method ?? "", headers: request.headers, body: text });
      const parsed: unknown = text === "" ? undefined : JSON.parse(text);
      Promise.resolve(answer(request, response, parsed)).catch(() => response.destroy());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
    return closed;
  };
  open.push(close);
  return { url: `http://127.0.0.1:${port}/mcp`, requests, changed, forget, close };
}
