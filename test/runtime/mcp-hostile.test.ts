/** What nobody's client sends: each gets the status and code that it deserves, and the server stays up. */
import { request } from "node:http";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { makeBundle } from "./support/bundle.js";
import { startHost, type TestHost } from "./support/host.js";
import { expectAlive, meta, modern, rpc, send, stateless } from "./support/mcp-rpc.js";
import { createTester } from "./support/tester.js";

/** Status of a ping with a `Host` of its own, which fetch does not send. */
const ask = (url: string, headers: Record<string, string>): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const options = { method: "POST", headers: { "content-type": "application/json", ...headers } };
    const sent = request(url, options, (response) => resolve(response.resume().statusCode));
    sent.once("error", reject);
    sent.end('{"jsonrpc":"2.0","id":1,"method":"ping"}');
  });

const start = (): Promise<TestHost> => startHost(makeBundle([createTester().parts]));

describe.each(["/v1/mcp", "/v1/mcp/tools"])("%s", (path) => {
  it("takes POST alone", async () => {
    const { base } = await start();
    for (const method of ["GET", "DELETE", "PUT", "PATCH"]) {
      const response = await fetch(`${base}${path}`, { method });
      expect([response.status, response.headers.get("allow")]).toEqual([405, "POST"]);
      expect(await response.json()).toMatchObject({ jsonrpc: "2.0", id: null, error: { code: -32600 } });
    }
  });

  it("answers what is no message with 400 and the right code", async () => {
    const { base } = await start();
    const url = `${base}${path}`;
    const cases: readonly (readonly [string, number, unknown])[] = [
      ["{", -32700, null],
      ["", -32600, null],
      ['{"jsonrpc":"2.0","id":1,"method":"ping","__proto__":{"x":1}}', -32700, null],
      ["null", -32600, null],
      ['"ping"', -32600, null],
      ["{}", -32600, null],
      ['{"id":1,"method":"ping"}', -32600, 1],
      ['{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600, 1],
      ['{"jsonrpc":"2.0","id":1}', -32600, 1],
      ['{"jsonrpc":"2.0","id":"a","method":5}', -32600, "a"],
      ['{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, null],
      ['{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600, null],
      ['{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600, null],
      ['{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}', -32600, 1],
    ];
    for (const [text, code, id] of cases) {
      const { status, body } = await send(url, text);
      expect([text, status, body.error?.code, body.id]).toEqual([text, 400, code, id]);
    }
    // Later revisions want no id where there is none.
    const { body } = await send(url, "{}", { "mcp-protocol-version": modern });
    expect(body).toEqual({ jsonrpc: "2.0", error: { code: -32600, message: expect.any(String) } });
    await expectAlive(url);
  });

  it("refuses other media types, bytes that are no UTF-8, and bodies past the limit", async () => {
    const host = await startHost(makeBundle([createTester().parts]), { bodyLimit: 10_000 });
    const url = `${host.base}${path}`;
    expect((await send(url, "{}", { "content-type": "text/plain" })).status).toBe(415);
    const response = await fetch(url, {
      method: "POST",
      body: new Uint8Array([0x22, 0xff, 0x22]),
      headers: { "content-type": "application/json" },
    });
    expect(response.status).toBe(400);
    const huge = await rpc(url, "tools/call", { name: "note", arguments: { text: "x".repeat(20_000) } });
    expect([huge.status, huge.body.error]).toMatchObject([413, { code: -32600, data: { error: "payload_too_large" } }]);
    await expectAlive(url);
  });

  it("survives JSON as deep as a body can be", async () => {
    const { base } = await start();
    const url = `${base}${path}`;
    const deep = `${"[".repeat(400_000)}${"]".repeat(400_000)}`;
    const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"plain","arguments":{"n":1,"x":${deep}}}}`;
    const { status, body } = await send(url, call);
    expect(status).toBe(200);
    expect(body.error ?? body.result?.isError).toBeTruthy();
    expect((await send(url, deep.slice(0, 100))).status).toBe(400);
    await expectAlive(url);
  });

  it("keeps pages of other origins out, whoever they say they are", async () => {
    for (const options of [{}, { allowAnonymous: true }, { authToken: "s3cret-token" }]) {
      const host = await startHost(makeBundle([createTester().parts]), options);
      const headers = { authorization: "Bearer s3cret-token" };
      for (const origin of ["http://evil.example", "null", "https://127.0.0.1.evil.example"]) {
        const { status, body } = await rpc(`${host.base}${path}`, "ping", {}, { ...headers, origin });
        expect([status, body.error]).toMatchObject([403, { data: { error: "forbidden" } }]);
      }
      expect((await rpc(`${host.base}${path}`, "ping", {}, { ...headers, origin: host.url })).status).toBe(200);
      // A page that has bound its own name to this machine is let in where names other than this machine's are served.
      const rebound = await ask(`${host.base}${path}`, {
        ...headers,
        host: "evil.example",
        origin: "http://evil.example",
      });
      expect(rebound).toBe("authToken" in options || "allowAnonymous" in options ? 200 : 403);
    }
  });

  it("lets nobody in without what the server asks for", async () => {
    const host = await startHost(makeBundle([createTester().parts]), { authToken: "s3cret-token" });
    const { status, headers, body } = await rpc(`${host.base}${path}`, "tools/list");
    expect([status, headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
    expect(body.error).toMatchObject({ code: -32600, data: { error: "unauthorized" } });
    const loopback = await start();
    const forwarded = await rpc(`${loopback.base}${path}`, "tools/list", {}, { "x-forwarded-for": "10.0.0.1" });
    expect(forwarded.status).toBe(401);
  });

  it("takes batches in the one revision that has them, and no bombs", async () => {
    const { base } = await start();
    const url = `${base}${path}`;
    const ping = (id: number) => ({ jsonrpc: "2.0", id, method: "ping" });
    const list = [ping(1), { jsonrpc: "2.0", method: "notifications/initialized" }, { nonsense: true }, ping(2)];
    const { status, text } = await send(url, JSON.stringify(list));
    expect([status, JSON.parse(text)]).toMatchObject([
      200,
      [
        { id: 1, result: {} },
        { id: null, error: { code: -32600 } },
        { id: 2, result: {} },
      ],
    ]);
    const silent = await send(url, JSON.stringify([{ jsonrpc: "2.0", method: "notifications/initialized" }]));
    expect([silent.status, silent.text]).toEqual([202, ""]);
    const refused: readonly (readonly [unknown[], string | undefined])[] = [
      [[], undefined],
      [[[ping(1)]].concat(Array.from({ length: 20_000 }, () => [ping(1)])), undefined],
      [[{ ...ping(1), method: "initialize" }], undefined],
      [[ping(1)], "2025-06-18"],
      [[ping(1)], "2025-11-25"],
      [[ping(1)], modern],
    ];
    for (const [batch, version] of refused) {
      const answer = await send(
        url,
        JSON.stringify(batch),
        version === undefined ? {} : { "mcp-protocol-version": version },
      );
      expect([answer.status, answer.body.error?.code]).toEqual([400, -32600]);
    }
    await expectAlive(url);
  });

  it("tells versions that it does not speak which ones it does", async () => {
    const { base } = await start();
    const url = `${base}${path}`;
    const supported = [modern, "2025-11-25", "2025-06-18", "2025-03-26"];
    const header = await rpc(url, "tools/list", {}, { "mcp-protocol-version": "1999-01-01" });
    expect([header.status, header.body.error]).toMatchObject([
      400,
      { code: -32022, data: { supported, requested: "1999-01-01" } },
    ]);
    const claimed = { _meta: { ...meta, "io.modelcontextprotocol/protocolVersion": "2099-01-01" } };
    const later = await stateless(url, "tools/list", claimed, { "mcp-protocol-version": "2099-01-01" });
    expect([later.status, later.body.error?.code]).toEqual([400, -32022]);
    const opened = await rpc(url, "initialize", { protocolVersion: "2099-01-01", capabilities: {} });
    expect(opened.body.result).toMatchObject({ protocolVersion: "2025-11-25" });
    for (const version of supported.slice(1)) {
      const { body } = await rpc(url, "initialize", { protocolVersion: version, capabilities: {} });
      expect(body.result).toMatchObject({ protocolVersion: version, serverInfo: { name: "tester" } });
    }
  });

  it("believes no header that the body does not bear out", async () => {
    const { base } = await start();
    const url = `${base}${path}`;
    const [name] = path === "/v1/mcp" ? ["check"] : ["add"];
    const cases: readonly (readonly [Record<string, unknown>, Record<string, string>, number])[] = [
      [{}, { "mcp-protocol-version": "2025-11-25" }, -32020],
      [{}, { "mcp-method": "tools/list" }, -32020],
      [{}, { "mcp-method": "Tools/Call" }, -32020],
      [{}, { "mcp-name": "other" }, -32020],
      [{}, { "mcp-name": "=?base64?!!!?=" }, -32020],
      [{ _meta: {} }, {}, -32602],
      [{ _meta: 5 }, {}, -32602],
      [{ _meta: { ...meta, "io.modelcontextprotocol/clientCapabilities": null } }, {}, -32602],
    ];
    for (const [params, headers, code] of cases) {
      const { status, body } = await stateless(url, "tools/call", { name, arguments: {}, ...params }, headers);
      expect([headers, status, body.error?.code, body.id]).toEqual([headers, 400, code, 7]);
    }
    const encoded = { "mcp-name": `=?base64?${Buffer.from(name ?? "").toString("base64")}?=` };
    expect((await stateless(url, "tools/call", { name, arguments: {} }, encoded)).status).toBe(200);
    const gone = await stateless(url, "resources/list");
    expect([gone.status, gone.body.error?.code]).toEqual([404, -32601]);
    const older = await rpc(url, "resources/list");
    expect([older.status, older.body.error?.code]).toEqual([200, -32601]);
  });

  it("answers wrong parameters with -32602, and takes notifications and answers without a word", async () => {
    const { base } = await start();
    const url = `${base}${path}`;
    const known = path.endsWith("/tools") ? "add" : "ask";
    for (const params of [
      ...[{}, { name: 5 }, { name: "nothing" }, { name: "__proto__" }, { name: "constructor" }],
      ...[[], "text", 5, null].map((args) => ({ name: known, arguments: args })),
    ]) {
      const { status, body } = await rpc(url, "tools/call", params);
      expect([status, body.error?.code]).toEqual([200, -32602]);
    }
    expect((await rpc(url, "tools/list", { cursor: "abc" })).body.error?.code).toBe(-32602);
    const loud = await stateless(url, "tools/list", { _meta: { ...meta, "io.modelcontextprotocol/logLevel": "loud" } });
    expect([loud.status, loud.body.error?.code]).toEqual([400, -32602]);
    // Only one of the two has tools that write log lines, and says so.
    const hasLogging = path.endsWith("/tools");
    const { capabilities } = (await rpc(url, "initialize", { protocolVersion: "2025-11-25" })).body.result ?? {};
    expect(capabilities).toEqual(hasLogging ? { tools: {}, logging: {} } : { tools: {} });
    const level = await rpc(url, "logging/setLevel", { level: "loud" });
    expect([level.status, level.body.error?.code]).toEqual([200, hasLogging ? -32602 : -32601]);
    for (const message of [
      { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 7 } },
      { jsonrpc: "2.0", id: 1, result: {} },
    ]) {
      const { status, text } = await send(url, JSON.stringify(message));
      expect([status, text]).toEqual([202, ""]);
    }
    const answer = await send(url, '{"jsonrpc":"2.0","id":1,"result":{}}', { "mcp-protocol-version": modern });
    expect([answer.status, answer.body.error?.code]).toEqual([400, -32600]);
  });

  it("answers any JSON at all with a status of the client's making", async () => {
    const { base } = await start();
    const url = `${base}${path}`;
    const methods = fc.constantFrom("initialize", "tools/list", "tools/call", "ping", "server/discover", "x");
    const message = fc.record(
      {
        jsonrpc: fc.constant("2.0"),
        id: fc.jsonValue(),
        method: fc.oneof(methods, fc.jsonValue()),
        params: fc.jsonValue(),
      },
      { requiredKeys: ["jsonrpc"] },
    );
    await fc.assert(
      fc.asyncProperty(fc.oneof(message, fc.jsonValue()), async (value) => {
        const { status } = await send(url, JSON.stringify(value));
        expect([200, 202, 400]).toContain(status);
      }),
      { numRuns: 60 },
    );
    await expectAlive(url);
  });
});
