/** `/v1/mcp` and `/v1/mcp/tools` as the official clients of both generations use them. */
import { afterEach, describe, expect, it } from "vitest";
import * as z from "zod/v4";
import { defineTool } from "../../runtime/authoring/tools.js";
import { makeBundle } from "./support/bundle.js";
import { call, readEvents, startHost } from "./support/host.js";
import { type ConnectedClient, generations, type Progress, type ToolResult } from "./support/mcp-clients.js";
import { createGate, createTester } from "./support/tester.js";

const versions = {
  "@modelcontextprotocol/sdk": "2025-11-25",
  "@modelcontextprotocol/client, initialize": "2025-11-25",
  "@modelcontextprotocol/client, stateless": "2026-07-28",
} as const;

const open: ConnectedClient[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()));
});

interface Report {
  readonly status: string;
  readonly sessionId: string;
  readonly result?: unknown;
  readonly approvals?: readonly { readonly callId: string; readonly toolName: string }[];
}

/** What `ask` and `check` answer: the same as text and as structured content. */
function reportOf({ content, structuredContent }: ToolResult): Report {
  const text: unknown = JSON.parse(content[0]?.text ?? "");
  if (structuredContent !== undefined) expect(structuredContent).toEqual(text);
  return text as Report;
}

describe.each(Object.entries(generations))("%s", (name, connect) => {
  const open1 = async (url: string, headers?: Record<string, string>) => {
    const client = await connect(url, headers);
    open.push(client);
    return client;
  };

  it("negotiates, and lists the agent's tools with the manifest's own schemas", async () => {
    const host = await startHost(makeBundle([createTester().parts]));
    const client = await open1(`${host.base}/v1/mcp/tools`);
    expect(client.version).toBe(versions[name as keyof typeof versions]);
    expect(client.server).toMatchObject({ name: "tester", version: "0.0.0-test" });
    const tools = await client.list();
    expect(tools.map((tool) => tool.name)).toEqual(["add", "note", "boom", "wait", "plain"]);
    const { body } = await call(`${host.base}/v1/tools/add`);
    expect(tools[0]?.inputSchema).toEqual(body.inputSchema);
  });

  it("calls tools: results as text and structured content, failures and bad input as failed calls", async () => {
    const tester = createTester();
    const host = await startHost(makeBundle([tester.parts]));
    const client = await open1(`${host.base}/v1/mcp/tools`);
    expect(await client.call("add", { a: 2, b: 3 })).toMatchObject({
      content: [{ type: "text", text: '{"sum":5}' }],
      structuredContent: { sum: 5 },
    });
    expect(await client.call("note", { text: "milk" })).toMatchObject({
      content: [{ type: "text", text: "noted milk" }],
    });
    expect(tester.notes).toEqual(["milk"]);
    expect(await client.call("boom")).toMatchObject({ content: [{ text: "the fuse is gone" }], isError: true });
    const refused = await client.call("add", { a: "two" });
    expect(refused.isError).toBe(true);
    expect(refused.content[0]?.text).toContain("a: Invalid input: expected number");
    await expect(client.call("gated", { text: "x" })).rejects.toThrow(/no tool "gated"/);
    await expect(client.call("script")).rejects.toThrow(/no tool "script"/);
    expect(tester.notes).toEqual(["milk"]);
  });

  it("tells a tool's progress, and its structured result by the schema that it announces", async () => {
    const count = defineTool({
      description: "Counts.",
      effect: "read",
      outputSchema: z.object({ counted: z.number() }),
      execute: (_input, ctx) => {
        for (const n of [1, 2, 3]) ctx.progress(n, 3, `at ${n}`);
        ctx.progress(2, 3, "never told: it does not grow");
        return { counted: 3 };
      },
    });
    const bundle = makeBundle([createTester({ tools: { count } }).parts]);
    const [agent] = bundle.manifest.agents;
    const [entry] = agent?.tools ?? [];
    if (entry === undefined) throw new Error("no tool");
    const outputSchema = z.toJSONSchema(z.object({ counted: z.number() })) as Record<string, unknown>;
    Object.assign(entry, { outputSchema });
    const host = await startHost(bundle);
    const client = await open1(`${host.base}/v1/mcp/tools`);
    expect((await client.list())[0]?.outputSchema).toEqual(outputSchema);
    const told: Progress[] = [];
    const result = await client.call("count", {}, { onprogress: (progress) => told.push(progress) });
    expect(result.structuredContent).toEqual({ counted: 3 });
    expect(told.map(({ progress, total, message }) => [progress, total, message])).toEqual([
      [1, 3, "at 1"],
      [2, 3, "at 2"],
      [3, 3, "at 3"],
    ]);
  });

  it("asks the agent, goes on with the conversation, and checks on it", async () => {
    const host = await startHost(makeBundle([createTester().parts]));
    const client = await open1(`${host.base}/v1/mcp`);
    expect((await client.list()).map((tool) => tool.name)).toEqual(["ask", "check", "call_tool"]);
    const told: string[] = [];
    const first = reportOf(
      await client.call("ask", { message: '/add {"a":1}' }, { onprogress: ({ message = "" }) => told.push(message) }),
    );
    expect(first).toMatchObject({ status: "finished", result: expect.stringContaining("add returned") });
    expect(told).toEqual(expect.arrayContaining(["calling add", "add answered"]));
    const { sessionId } = first;
    const second = reportOf(await client.call("ask", { message: "and now?", sessionId }));
    expect(second).toMatchObject({ status: "finished", sessionId, result: expect.stringContaining("and now?") });
    expect(reportOf(await client.call("check", { sessionId }))).toEqual(second);
    const texts = (await readEvents(host.base, sessionId)).flatMap((event) =>
      event.type === "message.received" ? [event.data.text] : [],
    );
    expect(texts).toEqual(['/add {"a":1}', "and now?"]);
    const { body } = await call(`${host.base}/v1/sessions`);
    expect(body.sessions).toMatchObject([{ id: sessionId, mode: "chat", channelId: "http", status: "waiting" }]);
  });

  it("answers at once with waitSeconds 0, and waits when check is told to", async () => {
    const tester = createTester();
    const host = await startHost(makeBundle([tester.parts]));
    const client = await open1(`${host.base}/v1/mcp`);
    const asked = reportOf(await client.call("ask", { message: "/wait {}", waitSeconds: 0 }));
    expect(asked).toEqual({ status: "running", sessionId: expect.stringMatching(/^ses_/) });
    await tester.begun.opened;
    expect(reportOf(await client.call("check", { sessionId: asked.sessionId })).status).toBe("running");
    const checking = client.call("check", { sessionId: asked.sessionId, waitSeconds: 30 });
    tester.gate.open();
    expect(reportOf(await checking)).toMatchObject({ status: "finished", result: expect.stringContaining("wait") });
  });

  it("stops waiting when a human is asked, and tells what for", async () => {
    const tester = createTester();
    const host = await startHost(makeBundle([tester.parts]));
    const client = await open1(`${host.base}/v1/mcp`);
    const asked = reportOf(await client.call("ask", { message: '/gated {"text":"x"}' }));
    expect(asked).toMatchObject({ status: "awaiting_approval", approvals: [{ toolName: "gated" }] });
    const callId = asked.approvals?.[0]?.callId;
    await call(`${host.base}/v1/session/${asked.sessionId}/approvals/${callId}`, { body: { decision: "approve" } });
    const { sessionId } = asked;
    expect(reportOf(await client.call("check", { sessionId, waitSeconds: 30 }))).toMatchObject({ status: "finished" });
    expect(tester.notes).toEqual(["x"]);
  });

  it("runs one tool by call_tool, and refuses those that need a human", async () => {
    const tester = createTester();
    const host = await startHost(makeBundle([tester.parts]));
    const client = await open1(`${host.base}/v1/mcp`);
    expect(await client.call("call_tool", { toolName: "add", input: { a: 4 } })).toMatchObject({
      structuredContent: { sum: 5 },
    });
    const gated = await client.call("call_tool", { toolName: "gated", input: { text: "x" } });
    expect(gated.isError).toBe(true);
    expect(JSON.parse(gated.content[0]?.text ?? "")).toMatchObject({ error: "approval_required" });
    const unknown = await client.call("call_tool", { toolName: "nothing" });
    expect(JSON.parse(unknown.content[0]?.text ?? "")).toMatchObject({
      error: "unknown_tool",
      available: ["add", "note", "boom", "wait", "plain"],
    });
    const invalid = await client.call("call_tool", { toolName: "add", input: {} });
    expect(JSON.parse(invalid.content[0]?.text ?? "")).toMatchObject({
      error: "invalid_input",
      issues: [{ path: "a" }],
    });
    expect(tester.notes).toEqual([]);
  });

  it("keeps the sessions of one principal from another", async () => {
    const options = { authToken: "first-secret", operatorToken: "second-secret" };
    const host = await startHost(makeBundle([createTester().parts]), options);
    const mine = await open1(`${host.base}/v1/mcp`, { authorization: "Bearer second-secret" });
    const other = await open1(`${host.base}/v1/mcp`, { authorization: "Bearer first-secret" });
    const { sessionId } = reportOf(await mine.call("ask", { message: "a secret" }));
    for (const attempt of [
      other.call("check", { sessionId }),
      other.call("ask", { message: "tell me", sessionId }),
      other.call("call_tool", { toolName: "add", input: { a: 1 }, sessionId }),
    ]) {
      const refused = await attempt;
      expect(refused.isError).toBe(true);
      expect(JSON.parse(refused.content[0]?.text ?? "")).toMatchObject({ error: "forbidden" });
    }
    await expect(connect(`${host.base}/v1/mcp`)).rejects.toThrow();
    await expect(connect(`${host.base}/v1/mcp/tools`, { authorization: "Bearer wrong" })).rejects.toThrow();
  });
});

it("serves each agent at its slug, and one alone at the root", async () => {
  const gate = createGate();
  gate.open();
  const agents = [createTester({ slug: "one" }).parts, createTester({ slug: "two", tools: {} }).parts];
  const multi = await startHost(makeBundle(agents));
  const connect = generations["@modelcontextprotocol/client, stateless"];
  const one = await connect(`${multi.url}/one/v1/mcp`);
  const two = await connect(`${multi.url}/two/v1/mcp`);
  open.push(one, two);
  expect(one.server?.name).toBe("one");
  expect((await two.list()).map((tool) => tool.name)).toEqual(["ask", "check"]);
  const { status, body } = await call(`${multi.url}/none/v1/mcp`, { body: { jsonrpc: "2.0", id: 1, method: "ping" } });
  expect([status, body.error]).toMatchObject([404, { code: -32600, data: { error: "not_found" } }]);

  const single = await startHost(makeBundle([createTester().parts]), { mode: "single" });
  const only = await connect(`${single.url}/v1/mcp/tools`);
  open.push(only);
  expect((await only.list()).length).toBe(5);
});
