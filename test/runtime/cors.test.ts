/** `--cors-origin`: whose pages may call the API. */
import { expect, test } from "vitest";
import { allowAll, GET, localDevStrict, POST } from "../../runtime/authoring/channels.js";
import { createHost } from "../../runtime/host/index.js";
import { makeBundle } from "./support/bundle.js";
import { serve } from "./support/channels.js";
import { call, startHost, startSession, temporaryFolder } from "./support/host.js";
import { createTester } from "./support/tester.js";

const app = "https://app.example.com";
const evil = "https://evil.example";
const token = { authorization: "Bearer a-user-token" };

function preflight(url: string, origin: string, method = "POST", headers = "authorization,content-type") {
  return fetch(url, {
    method: "OPTIONS",
    headers: { origin, "access-control-request-method": method, "access-control-request-headers": headers },
  });
}

const allowed = (response: Response | { headers: Headers }) => response.headers.get("access-control-allow-origin");

test("pages of a named origin may call every route; no other origin's page may read anything", async () => {
  const { base, url } = await startHost(makeBundle([createTester().parts]), {
    authToken: "a-user-token",
    corsOrigins: ["https://first.example", app],
  });
  for (const path of ["/v1/session", "/v1/tools/add", "/v1/session/ses_1/approvals/call_1", "/v1/mcp"]) {
    const response = await preflight(base + path, app);
    expect([path, response.status, allowed(response)]).toEqual([path, 204, app]);
    expect(response.headers.get("access-control-allow-headers")).toBe("authorization,content-type");
    expect(response.headers.get("access-control-allow-methods")).toContain("POST");
    expect(response.headers.get("access-control-allow-credentials")).toBeNull();
    const other = await preflight(base + path, evil);
    expect([path, allowed(other), other.headers.get("access-control-allow-headers")]).toEqual([path, null, null]);
    expect(other.headers.get("vary")).toContain("Origin");
  }
  const info = await call(`${base}/v1/info`, { headers: { ...token, origin: app } });
  expect([info.status, allowed(info), info.headers.get("vary")]).toEqual([200, app, "Origin"]);
  const foreign = await call(`${base}/v1/info`, { headers: { ...token, origin: evil } });
  expect(allowed(foreign)).toBeNull();
  for (const path of ["/v1/info", "/v1/nothing", "/v1/tools/unknown"]) {
    expect([path, allowed(await call(base + path, { headers: { origin: app } }))]).toEqual([path, app]);
  }
  expect(allowed(await call(`${url}/v1/agents`, { headers: { origin: app } }))).toBe(app);
});

test("streams carry the headers too, and a page may read when to come back", async () => {
  const { base } = await startHost(makeBundle([createTester().parts]), {
    authToken: "a-user-token",
    corsOrigins: [app],
    rateLimit: 3,
  });
  const headers = { ...token, origin: app };
  const { sessionId } = await startSession(base, { message: "hello" }, headers);
  const leave = new AbortController();
  const stream = await fetch(`${base}/v1/session/${sessionId}/stream`, { headers, signal: leave.signal });
  expect([stream.status, allowed(stream)]).toEqual([200, app]);
  leave.abort();
  await call(`${base}/v1/info`, { headers });
  const refused = await call(`${base}/v1/info`, { headers });
  expect([refused.status, allowed(refused)]).toEqual([429, app]);
  expect(refused.headers.get("access-control-expose-headers")).toContain("retry-after");
});

test("a preflight is answered before any policy is asked, and grants only what names are made of", async () => {
  const { base } = await startHost(makeBundle([createTester().parts]), { authToken: "t0ken", corsOrigins: [app] });
  const odd = await preflight(`${base}/v1/session`, app, "POST", 'x-a"b');
  expect([odd.status, odd.headers.get("access-control-allow-headers")]).toEqual([204, null]);
  const plain = await fetch(`${base}/v1/session`, { method: "OPTIONS", headers: { origin: app } });
  expect([plain.status, plain.headers.get("allow")]).toEqual([204, "POST"]);
});

test("channels are reached by pages of a named origin, under their own policies", async () => {
  const { at } = await serve(
    { auth: [allowAll()], routes: [POST("/", { handler: (_request, { auth }) => Response.json(auth) })] },
    { corsOrigins: [app] },
  );
  const asked = await preflight(at, app);
  expect([asked.status, allowed(asked)]).toEqual([204, app]);
  const answer = await fetch(at, { method: "POST", headers: { origin: app } });
  expect([answer.status, allowed(answer)]).toEqual([200, app]);
  expect((await fetch(at, { method: "POST", headers: { origin: evil } })).status).toBe(401);
});

test("the loopback policies let a named origin's page in, and still nothing that was rebound or came by a proxy", async () => {
  const { base } = await startHost(makeBundle([createTester().parts]), { corsOrigins: [app] });
  const status = async (headers: Record<string, string>) => (await call(`${base}/v1/info`, { headers })).status;
  expect(await status({ origin: app })).toBe(200);
  expect(await status({ origin: evil })).toBe(401);
  expect(await status({ origin: `${app}.evil.example` })).toBe(401);
  expect(await status({ origin: app, "x-forwarded-for": "127.0.0.1" })).toBe(401);
  const { at } = await serve(
    { auth: [localDevStrict()], routes: [GET("/", { handler: () => new Response("ok") })] },
    { corsOrigins: [app] },
  );
  expect((await fetch(at, { headers: { origin: app } })).status).toBe(200);
  expect((await fetch(at, { headers: { origin: evil } })).status).toBe(401);
});

test("without the option no answer grants anything", async () => {
  const { base } = await startHost(makeBundle([createTester().parts]), { authToken: "a-user-token" });
  const asked = await preflight(`${base}/v1/session`, app);
  expect([allowed(asked), asked.headers.get("vary")]).toEqual([null, null]);
  expect(allowed(await call(`${base}/v1/info`, { headers: { ...token, origin: app } }))).toBeNull();
});

test.each([
  ["*", "name the origins"],
  ["https://app.example.com/", "write it as browsers send it: https://app.example.com"],
  ["https://APP.example.com", "write it as browsers send it: https://app.example.com"],
  ["https://app.example.com:443", "write it as browsers send it: https://app.example.com"],
  ["app.example.com", "not an origin"],
  ["null", "not an origin"],
])("the origin %s refuses to start", async (origin, reason) => {
  const options = { port: 0, stateRoot: temporaryFolder(), log: () => undefined, corsOrigins: [origin] };
  await expect(createHost(makeBundle([{}]), options)).rejects.toThrow(reason);
});

test("a page may read that its address is none", async () => {
  const { base } = await startHost(makeBundle([createTester().parts]), { corsOrigins: [app] });
  for (const path of ["/v1/%zz", `/v1/session/${"x".repeat(300)}`]) {
    const response = await fetch(base + path, { headers: { origin: app } });
    expect([path, response.ok, allowed(response)]).toEqual([path, false, app]);
    expect(allowed(await fetch(base + path, { headers: { origin: evil } }))).toBeNull();
  }
});
