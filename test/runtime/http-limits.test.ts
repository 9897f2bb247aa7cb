/** Sizes, methods, media types and requests that are not what they should be. */
import { connect } from "node:net";
import { expect, test } from "vitest";
import { makeBundle } from "./support/bundle.js";
import { call, startHost, startSession } from "./support/host.js";
import { createTester } from "./support/tester.js";

const start = (options = {}) => startHost(makeBundle([createTester().parts]), options);

/** Sends bytes as they are and returns what came back until the server closed, however it did. */
function sendBytes(port: number, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    let answer = "";
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes));
    socket.on("data", (chunk) => {
      answer += String(chunk);
    });
    socket.on("close", () => resolve(answer));
    socket.on("error", () => resolve(answer));
  });
}

test("an unknown route is 404 as JSON", async () => {
  const { url, base } = await start();
  for (const path of ["/nothing", "/nobody/v1/info", "/nobody/v1/session", "/v1/info", "/tester/v2/info", "/tester"]) {
    const { status, body, headers } = await call(url + path);
    expect([path, status, body.ok, body.error]).toEqual([path, 404, false, "not_found"]);
    expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
  }
  expect((await call(`${base}/v1/session`, { method: "GET" })).status).toBe(405);
});

test("a wrong method is 405 with Allow", async () => {
  const { url, base } = await start();
  const cases: [string, string, string][] = [
    ["GET", `${base}/v1/session`, "POST"],
    ["DELETE", `${base}/v1/sessions`, "GET, HEAD"],
    ["POST", `${base}/v1/info`, "GET, HEAD"],
    ["PUT", `${base}/v1/tools/add`, "GET, HEAD, POST"],
    ["GET", `${base}/v1/session/ses_1/stop`, "POST"],
    ["POST", `${url}/v1/agents`, "GET, HEAD"],
    ["PATCH", `${base}/v1/session/ses_1/stream`, "GET, HEAD"],
  ];
  for (const [method, path, allow] of cases) {
    const { status, body, headers } = await call(path, { method });
    expect([method, path, status, body.error, headers.get("allow")]).toEqual([
      method,
      path,
      405,
      "method_not_allowed",
      allow,
    ]);
  }
});

test("OPTIONS names the methods and grants nothing to other sites", async () => {
  const { base } = await start();
  const { status, headers } = await call(`${base}/v1/session`, {
    method: "OPTIONS",
    headers: { origin: "https://evil.example", "access-control-request-method": "POST" },
  });
  expect([status, headers.get("allow")]).toEqual([204, "POST"]);
  expect([...headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
});

test("HEAD answers as GET, without a body", async () => {
  const { base } = await start();
  for (const path of ["/v1/info", "/v1/tools", "/v1/sessions", "/v1/health"]) {
    const response = await fetch(base + path, { method: "HEAD" });
    expect([path, response.status, await response.text()]).toEqual([path, 200, ""]);
  }
});

test("bodies are JSON: another media type is 415, broken JSON 400", async () => {
  const { base } = await start();
  const post = (body: string, type?: string) =>
    call(`${base}/v1/session`, { method: "POST", headers: type === undefined ? {} : { "content-type": type } }).then(
      () => fetch(`${base}/v1/session`, { method: "POST", body, headers: { "content-type": type ?? "" } }),
    );
  for (const type of [
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/xml",
  ]) {
    const response = await post('{"message":"x"}', type);
    expect([type, response.status, ((await response.json()) as { error: string }).error]).toEqual([
      type,
      415,
      "invalid_request",
    ]);
  }
  for (const body of ["{", "nope", '{"message":"x"', '{"message":"x",}', "\u0000"]) {
    const response = await post(body, "application/json");
    expect([body, response.status, ((await response.json()) as { error: string }).error]).toEqual([
      body,
      400,
      "invalid_request",
    ]);
  }
  expect((await post('{"message":"x"}', "application/json; charset=utf-8")).status).toBe(200);
  expect((await post("", "application/json")).status).toBe(400);
});

test("keys that reach into prototypes are refused", async () => {
  const { base } = await start();
  for (const body of [
    '{"message":"x","__proto__":{"isAdmin":true}}',
    '{"message":"x","workspaceFiles":{"__proto__":{"a":"b"}}}',
    '{"input":{"a":1,"\\u005f_proto__":{"b":2}}}',
    '{"input":{"constructor":{"prototype":{"b":2}}}}',
  ]) {
    const url = body.includes("input") ? `${base}/v1/tools/add` : `${base}/v1/session`;
    const response = await fetch(url, { method: "POST", body, headers: { "content-type": "application/json" } });
    expect([body, response.status]).toEqual([body, 400]);
  }
  expect(({} as Record<string, unknown>).isAdmin).toBeUndefined();
});

test("a body past the limit is 413, at the limit it passes", async () => {
  const { base } = await start({ bodyLimit: 2000 });
  const at = async (bytes: number) => {
    const body = { input: { text: "" } };
    const padding = bytes - JSON.stringify(body).length;
    return call(`${base}/v1/tools/note`, { body: { input: { text: "x".repeat(padding) } } });
  };
  expect((await at(2000)).status).toBe(200);
  const { status, body } = await at(2001);
  expect([status, body.error]).toEqual([413, "payload_too_large"]);
  const message = await call(`${base}/v1/session`, { body: { message: "é".repeat(1001) } });
  expect([message.status, message.body.error]).toEqual([413, "payload_too_large"]);
});

test("the default limits are 1 MiB of JSON and 25 MiB of files", async () => {
  const { base } = await start();
  const big = await call(`${base}/v1/tools/note`, { body: { input: { text: "x".repeat(1024 * 1024) } } });
  expect(big.status).toBe(413);
  const files = { "a.txt": "x".repeat(15 * 1024 * 1024), "b.txt": "y".repeat(10 * 1024 * 1024) };
  const { sessionId } = await startSession(base, { message: "x", workspaceFiles: files });
  expect(sessionId).toMatch(/^ses_/);
  const over = await call(`${base}/v1/session`, { body: { message: "x", workspaceFiles: { ...files, "c.txt": "z" } } });
  expect([over.status, over.body.error]).toEqual([413, "payload_too_large"]);
});

test("what is no HTTP at all gets 400 and a closed connection", async () => {
  const { port } = await start();
  for (const bytes of ["NONSENSE\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n"]) {
    const answer = await sendBytes(port, bytes);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain('{"ok":false,"error":"invalid_request"');
  }
  expect(await sendBytes(port, `GET / HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(20_000)}\r\n\r\n`)).toMatch(
    /^HTTP\/1\.1 431 /,
  );
  expect(await sendBytes(port, "GET /%zz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")).toMatch(
    /^HTTP\/1\.1 400 /,
  );
});

test("overlong and odd path parts are 404, never a crash", async () => {
  const { base, url } = await start();
  for (const path of [
    `/v1/tools/${"x".repeat(300)}`,
    "/v1/tools/%2e%2e%2f",
    "/v1/tools/a%00b",
    "/v1/session/%F0%9F%92%A9/events",
  ]) {
    expect([path, (await call(base + path)).status]).toEqual([path, 404]);
  }
  for (const path of ["/..%2f..%2fetc%2fpasswd", "/__proto__/v1/info", "/constructor/v1/info", "/toString/v1/health"]) {
    expect([path, (await call(url + path)).status]).toEqual([path, 404]);
  }
});

test("answers to GET and errors carry the security headers, and no error a stack", async () => {
  const { base } = await start();
  const answers = [
    await call(`${base}/v1/info`),
    await call(`${base}/v1/nothing`),
    await call(`${base}/v1/session`),
    await call(`${base}/v1/session`, { body: {} }),
    await call(`${base}/v1/session`, { method: "POST", headers: { "content-type": "text/plain" } }),
  ];
  for (const { headers, body } of answers) {
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("cross-origin-resource-policy")).toBe("same-origin");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("access-control-allow-origin")).toBeNull();
    expect(JSON.stringify(body)).not.toMatch(/at .*\.ts|node_modules/);
  }
});

test("a body that is no UTF-8 is 400: nothing is put in place of what was sent", async () => {
  const { base } = await start();
  for (const bytes of [[0xff, 0xfe], [0xc3], [0xed, 0xa0, 0x80], [0xc0, 0xaf]]) {
    const body = Buffer.concat([Buffer.from('{"message":"'), Buffer.from(bytes), Buffer.from('"}')]);
    const headers = { "content-type": "application/json" };
    const response = await fetch(`${base}/v1/session`, { method: "POST", headers, body });
    const { error, message } = (await response.json()) as Record<string, string>;
    expect([response.status, error, message]).toEqual([400, "invalid_request", "the body is not valid UTF-8"]);
  }
});

test("the room for files is not room for other fields", async () => {
  const { base } = await start({ bodyLimit: 2_000 });
  const long = "x".repeat(2_000);
  for (const body of [
    { message: "x", title: long },
    { message: "x", other: long },
  ]) {
    const { status, body: answer } = await call(`${base}/v1/session`, { body });
    expect([status, answer.error]).toEqual([413, "payload_too_large"]);
  }
  const workspaceFiles = { "a.txt": long };
  expect((await call(`${base}/v1/session`, { body: { message: "x", workspaceFiles } })).status).toBe(200);
});

test("a path with nothing after its last slash is 404, not a method that it accepts", async () => {
  const { base } = await start();
  const { status, body } = await call(`${base}/playground/assets/`);
  expect([status, body.error]).toEqual([404, "not_found"]);
});
