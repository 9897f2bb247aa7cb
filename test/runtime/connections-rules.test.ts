import { describe, expect, it } from "vitest";
import type { ToolContext } from "../../runtime/authoring/tools.js";
import { connectedBundle, listing } from "./support/connections.js";
import { call, followUntil, isWaiting, startHost, startSession } from "./support/host.js";
import { echoing, type Offer, serveNew, textTool } from "./support/mcp-servers.js";

/** A server that counts what really ran. */
function counting(names: readonly string[], more: object = {}): Offer & { readonly ran: string[] } {
  const ran: string[] = [];
  return {
    ran,
    tools: names.map((name) => textTool(name, more)),
    call(name) {
      ran.push(name);
      return { content: [{ type: "text", text: `${name} ran` }] };
    },
  };
}

const listed = (body: Record<string, unknown>) => (body.tools as { name: string }[]).map(({ name }) => name);

async function results(base: string, message: string, body: object = {}) {
  const { sessionId } = await startSession(base, { message, ...body });
  const events = await followUntil(base, sessionId, isWaiting);
  return events.flatMap((event) => (event.type === "action.result" ? [event.data] : []));
}

describe("which tools may be used", () => {
  it("allow and block choose, also for code", async () => {
    const server = await serveNew(counting(["read", "write", "drop"]));
    const tools = {
      probe: {
        description: "Uses the connection.",
        async execute(_input: unknown, { host }: ToolContext) {
          const names = (await host.mcp.listTools("office")).map(({ name }) => name);
          const refused = await host.mcp.callTool("office", "drop").catch((error: unknown) => String(error));
          return { names, refused };
        },
      },
    };
    const office = { url: server.url, advertiseTools: true, tools: { allow: ["read", "drop"], block: ["drop"] } };
    const host = await startHost(connectedBundle({ mcp: { office }, tools }));
    expect(listed(await listing(host.base))).toEqual(["probe", "office__read"]);
    expect((await call(`${host.base}/v1/tools/office__drop`, { body: {} })).status).toBe(404);
    const probed = await call(`${host.base}/v1/tools/probe`, { body: {} });
    expect(probed.body.result).toEqual({
      names: ["read"],
      refused: 'ConnectionError: connection "office" does not allow the tool "drop"',
    });
  });

  it("a tool of the project hides one of the same name", async () => {
    const offer = counting(["say", "other"]);
    const server = await serveNew(offer);
    const tools = { office__say: { description: "Ours.", effect: "read", execute: () => "ours" } };
    const host = await startHost(
      connectedBundle({ mcp: { office: { url: server.url, advertiseTools: true } }, tools }),
    );
    expect(listed(await listing(host.base))).toEqual(["office__say", "office__other"]);
    expect(await results(host.base, "/office__say {}")).toMatchObject([{ output: "ours" }]);
    expect(offer.ran).toEqual([]);
  });
});

describe("effects and approvals", () => {
  it("a dry run stubs what is not listed as reading; code's calls too", async () => {
    const offer = counting(["read", "write"]);
    const server = await serveNew(offer);
    const tools = {
      probe: {
        description: "Uses the connection.",
        effect: "read",
        execute: async (_input: unknown, { host }: ToolContext) => [
          await host.mcp.callTool("office", "write"),
          await host.mcp.callTool("office", "read"),
        ],
      },
    };
    const office = { url: server.url, advertiseTools: true, readTools: ["read"] };
    const host = await startHost(connectedBundle({ mcp: { office }, tools }));
    expect(await results(host.base, "/office__write {}", { dryRun: true })).toMatchObject([
      { stubbed: true, isError: false, output: { dryRun: true } },
    ]);
    expect(await results(host.base, "/office__read {}", { dryRun: true })).toMatchObject([
      { output: { content: [{ text: "read ran" }] } },
    ]);
    expect(await results(host.base, "/probe {}", { dryRun: true })).toMatchObject([
      { output: [{ structuredContent: { dryRun: true } }, { content: [{ text: "read ran" }] }] },
    ]);
    expect(offer.ran).toEqual(["read", "read"]);
  });

  it("needsApproval asks a human about the model's calls, and lets direct ones pass", async () => {
    const offer = counting(["read", "write"]);
    const server = await serveNew(offer);
    const office = { url: server.url, advertiseTools: true, needsApproval: ["write"] };
    const host = await startHost(connectedBundle({ mcp: { office } }));
    const { sessionId } = await startSession(host.base, { message: "/office__write {}" });
    const events = await followUntil(host.base, sessionId, (event) => event.type === "action.approval_requested");
    expect(offer.ran).toEqual([]);
    const asked = events.at(-1)?.data as { callId: string };
    await call(`${host.base}/v1/session/${sessionId}/approvals/${asked.callId}`, { body: { decision: "approve" } });
    await followUntil(host.base, sessionId, isWaiting);
    expect(offer.ran).toEqual(["write"]);
    const direct = await call(`${host.base}/v1/tools/office__write`, { body: {} });
    expect(direct.body).toMatchObject({ isError: false });
    expect((await call(`${host.base}/v1/tools/office__write`)).body).toMatchObject({ needsApproval: true });
    expect((await call(`${host.base}/v1/tools/office__read`)).body).toMatchObject({ needsApproval: false });
  });

  it("a frozen session asks about no later time", async () => {
    const schema = { type: "object" as const, properties: { until: { type: "string", format: "date-time" } } };
    const offer = counting(["search"], { inputSchema: schema });
    const server = await serveNew(offer);
    const office = { url: server.url, advertiseTools: true, readTools: ["search"] };
    const host = await startHost(connectedBundle({ mcp: { office } }));
    const asOf = "2026-01-01T00:00:00Z";
    const late = await results(host.base, '/office__search {"until":"2026-06-01T00:00:00Z"}', { asOf });
    expect(late).toMatchObject([{ isError: true }]);
    const fine = await results(host.base, '/office__search {"until":"2025-06-01T00:00:00Z"}', { asOf });
    expect(fine).toMatchObject([{ isError: false }]);
    expect(offer.ran).toEqual(["search"]);
  });

  it("a call within a session is on its stream", async () => {
    const server = await serveNew(counting(["write"]));
    const host = await startHost(connectedBundle({ mcp: { office: { url: server.url, advertiseTools: true } } }));
    const { sessionId } = await startSession(host.base, { message: "hello" });
    await followUntil(host.base, sessionId, isWaiting);
    const answer = await call(`${host.base}/v1/tools/office__write`, { body: { sessionId } });
    expect(answer.body).toMatchObject({ isError: false });
    const events = await followUntil(host.base, sessionId, (event) => event.type === "action.result");
    expect(events.at(-1)?.data).toMatchObject({ toolName: "office__write", callId: answer.body.callId });
  });
});

describe("a connection that does not advertise", () => {
  it("is reached by looking up and calling, and its tools are in no catalog", async () => {
    const offer = counting(["read", "write"]);
    const server = await serveNew(offer);
    const office = { url: server.url, description: "Where the issues are.", readTools: ["read"] };
    const host = await startHost(connectedBundle({ mcp: { office } }));
    expect((await call(`${host.base}/v1/tools`)).body).toEqual({ tools: [], connectionErrors: [] });
    expect((await call(`${host.base}/v1/tools/office__read`, { body: {} })).status).toBe(404);
    expect((await call(`${host.base}/v1/tools/mcp_list_tools`, { body: {} })).status).toBe(404);
    const [found] = await results(host.base, '/mcp_list_tools {"connection":"office","query":"WRI"}');
    expect(found?.output).toMatchObject({ tools: [{ name: "write", description: "Does write.", effect: "write" }] });
    const [called] = await results(host.base, '/mcp_call_tool {"connection":"office","tool":"read","arguments":{}}');
    expect(called).toMatchObject({ isError: false, output: { content: [{ text: "read ran" }] } });
    const [wrong] = await results(host.base, '/mcp_call_tool {"connection":"office","tool":"reed"}');
    expect(wrong).toMatchObject({ isError: true });
    const [stubbed] = await results(host.base, '/mcp_call_tool {"connection":"office","tool":"write"}', {
      dryRun: true,
    });
    expect(stubbed).toMatchObject({ stubbed: true });
    expect(offer.ran).toEqual(["read"]);
  });
});

describe("host connections", () => {
  it("are for code alone: no model, no route and no listing knows them", async () => {
    const offer = counting(["secret"]);
    const server = await serveNew(offer);
    const tools = {
      probe: {
        description: "Uses the connection.",
        execute: async (_input: unknown, { host }: ToolContext) => ({
          names: host.mcp.names(),
          answer: await host.mcp.callTool("vault", "secret", { text: "x" }),
        }),
      },
    };
    const vault = { url: server.url, advertiseTools: true };
    const other = await serveNew(echoing([textTool("one")]));
    const host = await startHost(connectedBundle({ hostOnly: { vault }, mcp: { open: { url: other.url } }, tools }));
    const probed = await call(`${host.base}/v1/tools/probe`, { body: {} });
    expect(probed.body.result).toEqual({
      names: ["open", "vault"],
      answer: { content: [{ type: "text", text: "secret ran" }] },
    });
    const seen = JSON.stringify([
      (await call(`${host.base}/v1/info`)).body,
      (await call(`${host.base}/v1/tools`)).body,
      (await call(`${host.base}/v1/tools/vault__secret`)).body,
    ]);
    expect(seen.replace(/no tool named .{0,30}/, "")).not.toContain("vault");
    expect(await results(host.base, "/vault__secret {}")).toEqual([]);
    const [asked] = await results(host.base, '/mcp_call_tool {"connection":"vault","tool":"secret"}');
    expect(asked).toMatchObject({ isError: true });
    expect(offer.ran).toEqual(["secret"]);
  });
});

it("an unknown name is told with the names there are", async () => {
  const tools = {
    probe: {
      description: "Uses the connection.",
      execute: (_input: unknown, { host }: ToolContext) => host.mcp.callTool("offise", "read"),
    },
  };
  const server = await serveNew(echoing([]));
  const host = await startHost(connectedBundle({ mcp: { office: { url: server.url } }, tools }));
  const { body } = await call(`${host.base}/v1/tools/probe`, { body: {} });
  expect(body).toMatchObject({
    isError: true,
    result: { message: 'there is no MCP connection "offise"; there are: office' },
  });
});

it("subagents have the same connections", async () => {
  const server = await serveNew(counting(["read"]));
  const host = await startHost(
    connectedBundle({
      mcp: { office: { url: server.url, advertiseTools: true } },
      manifest: {
        subagents: [
          {
            id: "subagent:clerk",
            source: "bot/subagents/clerk/agent.ts:1",
            layer: "project",
            name: "clerk",
            description: "Looks things up.",
            instructions: "Look up.",
            tools: [],
          },
        ],
      },
    }),
  );
  const done = await results(host.base, '/task {"subagent":"clerk","prompt":"/office__read {}"}');
  expect(done).toContainEqual(expect.objectContaining({ toolName: "office__read", isError: false }));
});
