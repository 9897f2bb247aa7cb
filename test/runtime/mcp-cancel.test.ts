/** What ends before its answer: requests that clients take back, and subscriptions to what never changes. */
import { beforeEach, describe, expect, it } from "vitest";
import { defineTool } from "../../runtime/authoring/tools.js";
import { makeBundle } from "./support/bundle.js";
import { startHost } from "./support/host.js";
import { generations } from "./support/mcp-clients.js";
import { meta, modern, rpc, type Sent, send, stateless } from "./support/mcp-rpc.js";
import { createGate, createTester, type Gate } from "./support/tester.js";

/** How calls of `hold` ended, by their argument. */
const ended = new Map<string, string>();
let begun: Record<string, Gate>;
let over: Record<string, Gate>;
let gate: Gate;

const hold = defineTool({
  description: "Holds on.",
  inputSchema: { type: "object", properties: { who: { type: "string" } }, required: ["who"] },
  execute: async (input, ctx) => {
    const { who } = input as { who: string };
    const aborted = new Promise<string>((done) =>
      ctx.signal.addEventListener("abort", () => done(String(ctx.signal.reason))),
    );
    begun[who]?.open();
    ended.set(who, await Promise.race([aborted, gate.opened.then(() => "went on")]));
    over[who]?.open();
    return "held";
  },
});

beforeEach(() => {
  ended.clear();
  gate = createGate();
  begun = { ann: createGate(), bob: createGate() };
  over = { ann: createGate(), bob: createGate() };
});

const start = async (options = {}) => {
  const host = await startHost(makeBundle([createTester({ tools: { hold } }).parts]), options);
  return { host, url: `${host.base}/v1/mcp/tools` };
};

const callHold = (url: string, who: string, id: unknown, headers = {}): Promise<Sent> =>
  send(
    url,
    JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "hold", arguments: { who } } }),
    headers,
  );

const cancel = (url: string, requestId: unknown, headers = {}): Promise<Sent> =>
  send(url, JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } }), headers);

describe.each(Object.entries(generations))("%s", (_name, connect) => {
  it("aborts the tool's signal when it gives a call up", async () => {
    const { url } = await start();
    const client = await connect(url);
    const gaveUp = new AbortController();
    const called = client.call("hold", { who: "ann" }, { signal: gaveUp.signal });
    await begun.ann?.opened;
    gaveUp.abort(new Error("enough"));
    await expect(called).rejects.toThrow();
    await over.ann?.opened;
    expect(ended.get("ann")).toMatch(/client/);
    await client.close();
  });
});

it("gives no answer to a cancelled request where the form of the answer lets it", async () => {
  const { url } = await start();
  for (const [accept, answer] of [
    ["application/json, text/event-stream", ""],
    ["application/json", expect.stringContaining('"code":-32800')],
  ]) {
    begun.ann = createGate();
    const called = callHold(url, "ann", "a-1", { accept });
    await begun.ann.opened;
    const { status, text } = await cancel(url, "a-1");
    expect([status, text]).toEqual([202, ""]);
    expect(await called).toMatchObject({ status: 200, text: answer });
    expect(ended.get("ann")).toMatch(/cancelled/);
  }
});

it("cancels nothing that is not surely meant", async () => {
  const { host, url } = await start({ authToken: "s3cret-token", operatorToken: "0perator-token" });
  const ann = { authorization: "Bearer s3cret-token" };
  const bob = { authorization: "Bearer 0perator-token" };
  const calls = [callHold(url, "ann", 1, ann), callHold(url, "bob", 1, bob)];
  await Promise.all([begun.ann?.opened, begun.bob?.opened]);
  // Ids that nobody has, of another type, of another URL, of a later revision, and no ids at all.
  for (const id of [2, "1", null, undefined, { a: 1 }, 1.5]) await cancel(url, id, ann);
  await cancel(`${host.base}/v1/mcp`, 1, ann);
  await cancel(url, 1, { ...ann, "mcp-protocol-version": modern });
  expect((await cancel(url, 1)).status).toBe(401);
  expect(ended.size).toBe(0);
  // Another principal's call of the same id is another call.
  await cancel(url, 1, ann);
  await over.ann?.opened;
  expect([...ended.keys()]).toEqual(["ann"]);
  gate.open();
  expect((await Promise.all(calls)).map(({ text }) => text.includes('"held"'))).toEqual([false, true]);
  expect(ended.get("bob")).toBe("went on");
});

it("cancels neither of two calls of one principal that have the same id, nor those of strangers", async () => {
  for (const options of [{}, { allowAnonymous: true }]) {
    begun = { ann: createGate(), bob: createGate() };
    gate = createGate();
    const { url } = await start(options);
    const calls = ["ann", "bob"].map((who, index) => callHold(url, who, "allowAnonymous" in options ? index : 0));
    await Promise.all([begun.ann?.opened, begun.bob?.opened]);
    await cancel(url, 0);
    gate.open();
    for (const answer of await Promise.all(calls)) expect(answer.text).toContain('"held"');
    expect([...ended.values()]).toEqual(["went on", "went on"]);
  }
});

it("stops the turn that a cancelled ask of an earlier revision began", async () => {
  const tester = createTester();
  const { base } = await startHost(makeBundle([tester.parts]));
  const url = `${base}/v1/mcp`;
  const asked = rpc(url, "tools/call", { name: "ask", arguments: { message: "/wait {}" } });
  await tester.begun.opened;
  await cancel(url, 7);
  expect(await asked).toMatchObject({ status: 200, text: "" });
  const { sessions } = (await (await fetch(`${base}/v1/sessions`)).json()) as { sessions: { id: string }[] };
  const check = { name: "check", arguments: { sessionId: sessions[0]?.id, waitSeconds: 30 } };
  expect((await rpc(url, "tools/call", check)).body.result?.structuredContent).toMatchObject({ status: "cancelled" });
});

it("leaves a cancelled request out of a batch's answers", async () => {
  const { url } = await start();
  const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "hold", arguments: { who: "ann" } } };
  const batch = send(url, JSON.stringify([call, { jsonrpc: "2.0", id: 2, method: "ping" }]));
  await begun.ann?.opened;
  await cancel(url, 1);
  expect(JSON.parse((await batch).text)).toEqual([{ jsonrpc: "2.0", id: 2, result: {} }]);
});

it("acknowledges a subscription with what it will hear of, which is nothing, and ends it", async () => {
  const { host } = await start();
  for (const url of [`${host.base}/v1/mcp`, `${host.base}/v1/mcp/tools`]) {
    const { status, headers, text } = await stateless(url, "subscriptions/listen", {
      notifications: { toolsListChanged: true, resourceSubscriptions: ["file:///a"] },
    });
    expect([status, headers.get("content-type")]).toEqual([200, "text/event-stream"]);
    const messages = text.split("\n").flatMap((line) => (line.startsWith("data: ") ? [JSON.parse(line.slice(6))] : []));
    const _meta = { "io.modelcontextprotocol/subscriptionId": 7 };
    expect(messages).toMatchObject([
      { method: "notifications/subscriptions/acknowledged", params: { _meta, notifications: {} } },
      { id: 7, result: { resultType: "complete", _meta } },
    ]);
    expect(messages[0].params.notifications).toEqual({});
    const refused = await stateless(url, "subscriptions/listen", { _meta: meta });
    expect(refused.body.error?.code).toBe(-32602);
    expect((await rpc(url, "subscriptions/listen", { notifications: {} })).body.error?.code).toBe(-32601);
  }
});
