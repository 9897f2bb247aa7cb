import { afterEach, describe, expect, it, onTestFinished } from "vitest";
import { createConnections } from "../../runtime/connections/index.js";
import type { AgentBundle, AgentGeneration } from "../../runtime/manifest/bundle.js";
import { clockAt } from "./support/clock.js";
import { connectedBundle, listing } from "./support/connections.js";
import { call, followUntil, isWaiting, startHost, startSession } from "./support/host.js";
import { echoing, listen, serveBefore, serveNew, serveOld, textTool } from "./support/mcp-servers.js";

const before = { ...process.env };

afterEach(() => {
  process.env = { ...before };
});

const names = (body: Record<string, unknown>) => (body.tools as { name: string }[]).map(({ name }) => name);

/** The code of a bundle's one agent. */
function generationOf({ manifest, definitions, files }: AgentBundle): AgentGeneration {
  const [agent] = manifest.agents;
  if (agent === undefined) throw new Error("no agent");
  const { slug } = agent;
  return { agent, definitions: definitions[slug] ?? {}, manifestHash: manifest.hash, files: files[slug] ?? {} };
}

/** Connections by a clock that the test moves. */
function openConnections() {
  const clock = clockAt("2026-03-01T09:00:00.000Z");
  const connections = createConnections({
    environment: {},
    base: "/",
    version: "0.0.0",
    makeFolder: async () => undefined,
    peer: () => undefined,
    clock,
    log: () => undefined,
  });
  onTestFinished(() => connections.close());
  return { connections, clock };
}

async function reply(base: string, message: string) {
  const { sessionId } = await startSession(base, { message });
  const events = await followUntil(base, sessionId, isWaiting);
  return {
    sessionId,
    failed: events.filter(({ type }) => type === "turn.failed"),
    results: events.flatMap((event) => (event.type === "action.result" ? [event.data] : [])),
    reply: events.findLast((event) => event.type === "message.completed")?.data,
  };
}

describe("one failing server", () => {
  it("neither fails the turn nor the listing, and is told of", async () => {
    const good = await serveNew(echoing([textTool("one")]));
    const bad = await serveNew(echoing([textTool("two")]));
    await bad.close();
    const host = await startHost(
      connectedBundle({
        mcp: { good: { url: good.url, advertiseTools: true }, bad: { url: bad.url, advertiseTools: true } },
      }),
    );
    await listing(host.base);
    const turn = await reply(host.base, "/good__one {}");
    expect(turn.failed).toEqual([]);
    expect(turn.results).toMatchObject([{ toolName: "good__one", isError: false }]);
    const { body } = await call(`${host.base}/v1/tools`);
    expect(names(body)).toEqual(["good__one"]);
    const errors = [
      { connection: "bad", code: "connection_unreachable", message: "it can't be reached: ECONNREFUSED" },
    ];
    expect(body.connectionErrors).toEqual(errors);
    const info = await call(`${host.base}/v1/info`);
    expect((info.body.agents as Record<string, unknown>[])[0]?.connectionErrors).toEqual(errors);
    expect(host.lines.map(({ message }) => message)).toContain(
      'connection "bad" lends no tools to the model: it can\'t be reached: ECONNREFUSED',
    );
    const direct = await call(`${host.base}/v1/tools/bad__two`, { body: {} });
    expect(direct).toMatchObject({ status: 200, body: { isError: true } });
    expect((direct.body.result as { message: string }).message).toContain("the call did not run");
  });

  it("that answers with something else is told of in words, without a stack", async () => {
    const page = await listen((_request, response) => {
      response.writeHead(200, { "content-type": "text/html" }).end("<h1>Welcome</h1>");
    });
    const nonsense = await listen((_request, response) => {
      response.writeHead(200, { "content-type": "application/json" }).end('{"jsonrpc":"2.0","id":0,"result":[1,2');
    });
    const broken = await listen((_request, response) => {
      response.writeHead(500).end("secret internals");
    });
    const host = await startHost(
      connectedBundle({
        mcp: {
          page: { url: page.url, advertiseTools: true },
          nonsense: { url: nonsense.url, advertiseTools: true },
          broken: { url: broken.url, advertiseTools: true },
        },
      }),
    );
    const body = await listing(host.base);
    const told = body.connectionErrors as { connection: string; code: string; message: string }[];
    expect(told.map(({ connection }) => connection)).toEqual(["page", "nonsense", "broken"]);
    for (const { code, message } of told) {
      expect(code).toBe("connection_unreachable");
      expect(message).not.toMatch(/\n\s+at |TypeError/);
      expect(message.length).toBeGreaterThan(10);
    }
    expect(told[0]?.message).toContain("text/html");
  });

  it("that hangs holds up a listing for five seconds, and only once", async () => {
    const good = await serveNew(echoing([textTool("one")]));
    const hanging = await listen(() => undefined);
    const bundle = connectedBundle({
      mcp: { good: { url: good.url, advertiseTools: true }, hanging: { url: hanging.url, advertiseTools: true } },
    });
    const { connections, clock } = openConnections();
    const of = generationOf(bundle);
    expect(await connections.tool(of, "good__one")).toBeDefined();
    const errors = [{ connection: "hanging", code: "connection_timeout", message: "it has not listed its tools yet" }];
    const first = connections.catalog(of);
    await expect.poll(() => hanging.requests.length).toBeGreaterThan(0);
    clock.moveTo("2026-03-01T09:00:05.000Z");
    expect(await first).toMatchObject({ tools: [{ name: "good__one" }], connectionErrors: errors });
    // The clock stands still: whoever waited now would wait for ever.
    expect(await connections.catalog(of)).toMatchObject({ tools: [{ name: "good__one" }], connectionErrors: errors });
    expect((await connections.specs(of)).map(({ name }) => name)).toEqual(["good__one"]);
  });

  it("that hangs fails no turn", async () => {
    const good = await serveNew(echoing([textTool("one")]));
    const hanging = await listen(() => undefined);
    const host = await startHost(
      connectedBundle({
        mcp: { good: { url: good.url, advertiseTools: true }, hanging: { url: hanging.url, advertiseTools: true } },
      }),
    );
    expect((await call(`${host.base}/v1/tools/good__one`, { body: {} })).body).toMatchObject({ isError: false });
    const turn = await reply(host.base, "/good__one {}");
    expect(turn.failed).toEqual([]);
    expect(turn.results).toMatchObject([{ isError: false }]);
  });

  it("is tried again after a while, and then found", async () => {
    let isDown = true;
    const offer = echoing([textTool("one")]);
    const real = await serveNew(offer);
    const front = await serveBefore(real.url, (_request, response) => {
      if (isDown) response.writeHead(503).end();
      return isDown;
    });
    const { connections, clock } = openConnections();
    const of = generationOf(connectedBundle({ mcp: { office: { url: front.url, advertiseTools: true } } }));
    expect(await connections.catalog(of)).toMatchObject({ tools: [], connectionErrors: [{ connection: "office" }] });
    const tried = front.requests.length;
    // Asked again at once, it rests: a server that is down is not pestered by every step.
    expect(await connections.catalog(of)).toMatchObject({ tools: [], connectionErrors: [{ connection: "office" }] });
    expect(front.requests.length).toBe(tried);
    isDown = false;
    clock.moveTo("2026-03-01T09:00:01.000Z");
    expect(await connections.catalog(of)).toMatchObject({ tools: [{ name: "office__one" }], connectionErrors: [] });
  });
});

it("a stopped turn tells the server to stop", async () => {
  let isAborted = false;
  const server = await serveNew(echoing([textTool("slow")]));
  const front = await serveBefore(server.url, (_request, response, body) => {
    const isCall = (body as { method?: string } | undefined)?.method === "tools/call";
    if (isCall) {
      response.on("close", () => {
        isAborted = true;
      });
    }
    return isCall;
  });
  const host = await startHost(connectedBundle({ mcp: { office: { url: front.url, advertiseTools: true } } }));
  const { sessionId } = await startSession(host.base, { message: "/office__slow {}" });
  await expect.poll(() => front.requests.some(({ body }) => body.includes("tools/call"))).toBe(true);
  await call(`${host.base}/v1/session/${sessionId}/stop`, { body: {} });
  await expect.poll(() => isAborted).toBe(true);
});

it("an answer without end is given up", async () => {
  const server = await serveNew(echoing([textTool("flood")]));
  const front = await serveBefore(server.url, (_request, response, body) => {
    const isCall = (body as { method?: string } | undefined)?.method === "tools/call";
    if (isCall) {
      response.writeHead(200, { "content-type": "application/json" });
      const chunk = "x".repeat(1024 * 1024);
      const pour = () => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on("drain", pour);
      pour();
    }
    return isCall;
  });
  const host = await startHost(connectedBundle({ mcp: { office: { url: front.url, advertiseTools: true } } }));
  const { body } = await call(`${host.base}/v1/tools/office__flood`, { body: {} });
  expect(body).toMatchObject({ isError: true });
  expect((body.result as { message: string }).message).toContain("more than 32 MiB");
  expect((await call(`${host.base}/v1/tools`)).body.connectionErrors).toEqual([]);
});

it("an output schema that is none refuses no answer; an answer that breaks a good one is refused", async () => {
  const number = { type: "object", properties: { a: { type: "number" } } } as const;
  const wrong = { type: "object", properties: { a: { type: "wat" } } } as const;
  const server = await serveOld({
    tools: [textTool("odd", { outputSchema: wrong }), textTool("even", { outputSchema: number })],
    call: () => ({ content: [{ type: "text", text: "b" }], structuredContent: { a: "b" } }),
  });
  const host = await startHost(connectedBundle({ mcp: { office: { url: server.url, advertiseTools: true } } }));
  const odd = await call(`${host.base}/v1/tools/office__odd`, { body: {} });
  expect(odd.body).toMatchObject({ isError: false, result: { structuredContent: { a: "b" } } });
  const even = await call(`${host.base}/v1/tools/office__even`, { body: {} });
  expect(even.body).toMatchObject({ isError: true });
  // The call has run all the same: whoever reads this must not take it for one that did nothing.
  expect((even.body.result as { message: string }).message).toMatch(/output schema.*whether the call took effect is/);
});

it("one tool that the protocol does not allow costs only itself", async () => {
  const tools = [textTool("good"), { name: "bad" }, { inputSchema: { type: "object" } }];
  const server = await listen((_request, response, body) => {
    if (body === undefined) return response.writeHead(405).end();
    const { id, method, params } = body as { id?: number; method: string; params?: { protocolVersion?: string } };
    if (id === undefined) return response.writeHead(202).end();
    const protocolVersion = params?.protocolVersion;
    const known: Readonly<Record<string, object>> = {
      initialize: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "odd", version: "1" } },
      "tools/list": { tools },
      "tools/call": { content: [{ type: "text", text: "done" }] },
    };
    const result = known[method];
    const answer = result === undefined ? { error: { code: -32601, message: "no" } } : { result };
    response.writeHead(200, { "content-type": "application/json" });
    return response.end(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
  });
  const host = await startHost(connectedBundle({ mcp: { office: { url: server.url, advertiseTools: true } } }));
  const body = await listing(host.base);
  expect(body).toEqual({ tools: [{ name: "office__good", source: "office" }], connectionErrors: [] });
  expect((await call(`${host.base}/v1/tools/office__good`, { body: {} })).body).toMatchObject({ isError: false });
  expect(host.lines.map(({ message }) => message)).toContain(
    'connection "office" lists tools that the protocol does not allow, which are left out: bad, one without a name',
  );
});

it("a name that its server does not have is told once", async () => {
  const server = await serveNew(echoing([textTool("one")]));
  const office = { url: server.url, advertiseTools: true, tools: { allow: ["one", "too"] }, readTools: ["won"] };
  const host = await startHost(connectedBundle({ mcp: { office } }));
  await listing(host.base);
  expect(host.lines.map(({ message }) => message)).toContain(
    'connection "office" names tools that its server does not have: too, won',
  );
});

it("a stopped turn does not wait for a server that does not open", async () => {
  let isGivenUp = false;
  const hanging = await listen((_request, response) => {
    response.on("close", () => {
      isGivenUp = true;
    });
  });
  const host = await startHost(connectedBundle({ mcp: { office: { url: hanging.url } } }));
  const { sessionId } = await startSession(host.base, { message: '/mcp_list_tools {"connection":"office"}' });
  await expect.poll(() => hanging.requests.length).toBeGreaterThan(0);
  await call(`${host.base}/v1/session/${sessionId}/stop`, { body: {} });
  // Opening goes on for whoever comes next.
  expect(isGivenUp).toBe(false);
});

it("a thousand tools are all there", async () => {
  const many = Array.from({ length: 1_000 }, (_, index) => textTool(`tool_${index}`));
  const server = await serveOld(echoing(many));
  const host = await startHost(connectedBundle({ mcp: { office: { url: server.url, advertiseTools: true } } }));
  const body = await listing(host.base);
  expect(names(body)).toHaveLength(1_000);
  const said = await reply(host.base, '/office__tool_999 {"text":"hi"}');
  expect(said.results).toMatchObject([{ isError: false }]);
  expect(host.lines.map(({ message }) => message).join("\n")).toContain("connections advertise 1000 tools");
});

describe("what is secret", () => {
  it("is filled in when the connection opens, each time anew, and shown nowhere", async () => {
    const server = await serveOld({
      tools: [textTool("leak")],
      call: () => {
        throw new Error(`who says ${process.env.OFFICE_TOKEN} may not`);
      },
    });
    process.env.OFFICE_TOKEN = "token-number-one";
    const bundle = connectedBundle({
      mcp: {
        office: {
          url: server.url,
          headers: { authorization: "Bearer ${OFFICE_TOKEN}", "x-plain": "plain", "x-none": undefined },
          advertiseTools: true,
        },
      },
    });
    expect(JSON.stringify(bundle)).not.toContain("token-number-one");
    const host = await startHost(bundle);
    const leaked = await call(`${host.base}/v1/tools/office__leak`, { body: {} });
    expect(server.requests.at(-1)?.headers).toMatchObject({
      authorization: "Bearer token-number-one",
      "x-plain": "plain",
    });
    expect(leaked.body).toMatchObject({
      isError: true,
      result: { message: 'connection "office": who says [redacted] may not' },
    });
    process.env.OFFICE_TOKEN = "token-number-two";
    server.forget();
    await call(`${host.base}/v1/tools/office__leak`, { body: {} });
    expect(server.requests.at(-1)?.headers.authorization).toBe("Bearer token-number-two");
    const seen = JSON.stringify([host.lines, (await call(`${host.base}/v1/info`)).body]);
    expect(seen).not.toMatch(/token-number/);
  });

  it("may stand for a password in the url, which goes into a header and is shown nowhere", async () => {
    const server = await serveOld(echoing([textTool("one")]));
    process.env.OFFICE_PASSWORD = "s3cret%2Fword";
    const url = server.url.replace("//", "//ann:${OFFICE_PASSWORD}@");
    const host = await startHost(connectedBundle({ mcp: { office: { url, advertiseTools: true } } }));
    const called = await call(`${host.base}/v1/tools/office__one`, { body: {} });
    expect(called.body).toMatchObject({ isError: false });
    const sent = Buffer.from("ann:s3cret/word").toString("base64");
    expect(server.requests.at(-1)?.headers.authorization).toBe(`Basic ${sent}`);
    await server.close();
    const failed = await call(`${host.base}/v1/tools/office__one`, { body: {} });
    expect(JSON.stringify([failed.body, host.lines])).not.toMatch(/s3cret|YW5u/);
  });

  it("that is not set is named, without a request", async () => {
    delete process.env.NOWHERE_TOKEN;
    const server = await serveOld(echoing([textTool("one")]));
    const headers = { authorization: "Bearer ${NOWHERE_TOKEN}" };
    const host = await startHost(
      connectedBundle({ mcp: { office: { url: server.url, headers, advertiseTools: true } } }),
    );
    const { body } = await call(`${host.base}/v1/tools`);
    expect(body.connectionErrors).toEqual([
      { connection: "office", code: "connection_unset", message: "it needs NOWHERE_TOKEN, which is not set" },
    ]);
    expect(server.requests).toEqual([]);
    process.env.NOWHERE_TOKEN = "set-by-now";
    await expect.poll(async () => names((await call(`${host.base}/v1/tools`)).body)).toEqual(["office__one"]);
  });

  it("never follows a redirect to another origin", async () => {
    const thief = await listen((_request, response) => response.writeHead(200).end());
    const moved = await listen((_request, response) => response.writeHead(307, { location: thief.url }).end());
    const headers = { authorization: "Bearer token-of-the-office" };
    const host = await startHost(
      connectedBundle({ mcp: { office: { url: moved.url, headers, advertiseTools: true } } }),
    );
    const { body } = await call(`${host.base}/v1/tools`);
    expect(body.connectionErrors).toMatchObject([{ connection: "office" }]);
    expect(thief.requests).toEqual([]);
  });

  it("goes along with a redirect within the same origin", async () => {
    const server = await serveNew(echoing([textTool("one")]));
    const front = await serveBefore(server.url, (request, response) => {
      const isOld = request.url === "/mcp";
      if (isOld) response.writeHead(308, { location: "/moved" }).end();
      return isOld;
    });
    const headers = { authorization: "Bearer token-of-the-office" };
    const host = await startHost(
      connectedBundle({ mcp: { office: { url: front.url, headers, advertiseTools: true } } }),
    );
    expect(names(await listing(host.base))).toEqual(["office__one"]);
    expect(server.requests.at(-1)?.headers).toMatchObject(headers);
  });

  it("refused by the server is told as that", async () => {
    const server = await listen((_request, response) => response.writeHead(401).end("no"));
    const host = await startHost(connectedBundle({ mcp: { office: { url: server.url, advertiseTools: true } } }));
    const { body } = await call(`${host.base}/v1/tools`);
    expect(body.connectionErrors).toMatchObject([{ connection: "office", code: "connection_unauthorized" }]);
  });
});
