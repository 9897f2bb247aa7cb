import { describe, expect, it } from "vitest";
import { connectedBundle, listing } from "./support/connections.js";
import { call, followUntil, isWaiting, startHost, startSession } from "./support/host.js";
import { echoing, type Listening, type Offer, serveNew, serveOld, serveSse, textTool } from "./support/mcp-servers.js";

const generations: readonly [name: string, serve: (offer: Offer) => Promise<Listening>, more: object][] = [
  ["the SDK of 2025 (sessions)", serveOld, {}],
  ["the SDK of 2026, both eras", (offer) => serveNew(offer), {}],
  ["the SDK of 2026, 2026-07-28 only", (offer) => serveNew(offer, true), {}],
  ["the first revision's event stream", serveSse, { transport: "sse" }],
];

const picture = Buffer.from("a picture").toString("base64");

function rich(): Offer {
  return {
    tools: [
      textTool("say", { title: "Say it" }),
      textTool("issues.list"),
      textTool("draw"),
      textTool("count", { outputSchema: { type: "object", properties: { count: { type: "number" } } } }),
      textTool("fail"),
    ],
    call(name, args) {
      if (name === "draw") {
        return {
          content: [
            { type: "text", text: "here" },
            { type: "image", data: picture, mimeType: "image/png" },
            { type: "resource", resource: { uri: "notes://1", text: "a note" } },
          ],
        };
      }
      if (name === "count")
        return { content: [{ type: "text", text: '{"count":3}' }], structuredContent: { count: 3 } };
      if (name === "fail") return { content: [{ type: "text", text: "no such issue" }], isError: true };
      return { content: [{ type: "text", text: `${name}: ${JSON.stringify(args)}` }] };
    },
  };
}

describe.each(generations)("a server of %s", (_name, serve, more) => {
  async function start() {
    const server = await serve(rich());
    const host = await startHost(
      connectedBundle({ mcp: { office: { url: server.url, advertiseTools: true, readTools: ["say"], ...more } } }),
    );
    return { server, host };
  }

  it("lends its tools to the catalog under names the model can use", async () => {
    const { host } = await start();
    expect(await listing(host.base)).toEqual({
      tools: [
        { name: "office__say", title: "Say it", source: "office" },
        { name: expect.stringMatching(/^office__issues_list_[0-9a-f]{6}$/), source: "office" },
        { name: "office__draw", source: "office" },
        { name: "office__count", source: "office" },
        { name: "office__fail", source: "office" },
      ],
      connectionErrors: [],
    });
    const detail = await call(`${host.base}/v1/tools/office__say`);
    expect(detail.body).toMatchObject({
      name: "office__say",
      description: "Does say.",
      execution: "server",
      effect: "read",
      needsApproval: false,
      inputSchema: { type: "object", properties: { text: { type: "string" } } },
      source: "office",
      connection: { name: "office", tool: "say" },
    });
    const unknown = await call(`${host.base}/v1/tools/office__nothing`);
    expect(unknown.status).toBe(404);
    expect(unknown.body.available).toContain("office__draw");
  });

  it("is called directly and by the model, with text, images, structure and failures", async () => {
    const { host } = await start();
    const said = await call(`${host.base}/v1/tools/office__say`, { body: { input: { text: "hi" } } });
    expect(said.body).toMatchObject({
      ok: true,
      isError: false,
      result: { content: [{ type: "text", text: 'say: {"text":"hi"}' }] },
    });
    const { sessionId } = await startSession(host.base, { message: "/office__draw {}" });
    const events = await followUntil(host.base, sessionId, isWaiting);
    expect(events.find(({ type }) => type === "action.result")?.data).toMatchObject({
      toolName: "office__draw",
      isError: false,
      output: {
        content: [
          { type: "text", text: "here" },
          { type: "image", data: picture, mimeType: "image/png" },
          { type: "text", text: "a note" },
        ],
      },
    });
    const counted = await call(`${host.base}/v1/tools/office__count`, { body: {} });
    expect(counted.body.result).toMatchObject({ structuredContent: { count: 3 } });
    const failed = await call(`${host.base}/v1/tools/office__fail`, { body: {} });
    expect(failed).toMatchObject({
      status: 200,
      body: { isError: true, result: { content: [{ text: "no such issue" }] } },
    });
    const none = await call(`${host.base}/v1/tools/office__nothing`, { body: {} });
    expect(none.status).toBe(404);
    expect(none.body).toMatchObject({ error: "unknown_tool" });
  });

  it("is heard when it says that its list has changed", async () => {
    const offer = echoing([textTool("one")]);
    const server = await serve(offer);
    const host = await startHost(
      connectedBundle({ mcp: { office: { url: server.url, advertiseTools: true, ...more } } }),
    );
    const names = async () =>
      ((await call(`${host.base}/v1/tools`)).body.tools as { name: string }[]).map((tool) => tool.name);
    expect(await names()).toEqual(["office__one"]);
    offer.tools = [textTool("one"), textTool("two")];
    await expect
      .poll(async () => {
        await server.changed();
        return names();
      })
      .toEqual(["office__one", "office__two"]);
  });
});

it("a session that a server has forgotten is begun anew, and the call runs once", async () => {
  let calls = 0;
  const server = await serveOld({
    tools: [textTool("write")],
    call: () => {
      calls += 1;
      return { content: [{ type: "text", text: `call ${calls}` }] };
    },
  });
  const host = await startHost(connectedBundle({ mcp: { office: { url: server.url, advertiseTools: true } } }));
  await call(`${host.base}/v1/tools/office__write`, { body: {} });
  server.forget();
  const again = await call(`${host.base}/v1/tools/office__write`, { body: {} });
  expect(again.body).toMatchObject({ isError: false, result: { content: [{ text: "call 2" }] } });
});
