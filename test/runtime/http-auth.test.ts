/** Who is let in, who owns what, and requests that pretend. */
import { request as httpRequest } from "node:http";
import { expect, test } from "vitest";
import type { HostOptions } from "../../runtime/host/options.js";
import { makeBundle } from "./support/bundle.js";
import { call, followUntil, isWaiting, startHost, startSession } from "./support/host.js";
import { createTester } from "./support/tester.js";

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

/** A request with headers that fetch would not send. */
function raw(url: string, headers: Record<string, string>, method = "GET"): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method, headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    request.once("error", reject);
    request.end();
  });
}

test("by default only direct loopback calls are admitted", async () => {
  const { base, port } = await startHost(makeBundle([createTester().parts]));
  const url = `${base}/v1/info`;
  expect(await raw(url, {})).toBe(200);
  for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`, "agent.localhost"]) {
    expect([host, await raw(url, { host })]).toEqual([host, 200]);
  }
  for (const host of [
    "evil.example",
    `evil.example:${port}`,
    "127.0.0.1.evil.example",
    "localhost.evil.example",
    "10.0.0.1",
  ]) {
    expect([host, await raw(url, { host })]).toEqual([host, 401]);
  }
  for (const name of ["x-forwarded-for", "x-forwarded-port", "forwarded", "x-real-ip", "x-client-ip", "via"]) {
    expect([name, await raw(url, { [name]: "127.0.0.1" })]).toEqual([name, 401]);
  }
  for (const origin of [
    "https://evil.example",
    "null",
    "http://localhost.evil.example",
    "file://",
    "http://127.0.0.1@evil.example",
  ]) {
    expect([origin, await raw(url, { origin })]).toEqual([origin, 401]);
  }
  expect(await raw(url, { origin: `http://localhost:${port}` })).toBe(200);
});

test("a bearer token replaces the loopback policy", async () => {
  const { base } = await startHost(makeBundle([createTester().parts]), { authToken: "s3cret-token" });
  const info = (headers: Record<string, string>) => call(`${base}/v1/info`, { headers });
  expect((await info(bearer("s3cret-token"))).status).toBe(200);
  expect((await info({ authorization: "bearer   s3cret-token" })).status).toBe(200);
  for (const headers of [
    {},
    bearer("s3cret-tokem"),
    bearer("s3cret"),
    bearer(""),
    { authorization: "Basic s3cret-token" },
  ]) {
    const { status, body, headers: answered } = await info(headers);
    expect(status).toBe(401);
    expect(body).toMatchObject({ ok: false, error: "unauthorized" });
    expect(answered.get("www-authenticate")).toBe("Bearer");
  }
  const remote = { ...bearer("s3cret-token"), "x-forwarded-for": "203.0.113.9", host: "bots.example.com" };
  expect(await raw(`${base}/v1/info`, remote)).toBe(200);
});

test("--allow-anonymous admits everyone but other sites' pages", async () => {
  const { base, port } = await startHost(makeBundle([createTester().parts]), { allowAnonymous: true });
  const url = `${base}/v1/info`;
  expect(await raw(url, { host: "demo.example.com", "x-forwarded-for": "203.0.113.9" })).toBe(200);
  expect(await raw(url, { host: "demo.example.com", origin: "https://demo.example.com" })).toBe(200);
  const behindProxy = {
    host: `127.0.0.1:${port}`,
    "x-forwarded-host": "demo.example.com",
    origin: "https://demo.example.com",
  };
  expect(await raw(url, behindProxy)).toBe(401);
  expect(await raw(url, { origin: "https://evil.example" })).toBe(401);
});

test("health, readiness, the index and assets need no auth; everything else does, before its body is read", async () => {
  const host = await startHost(makeBundle([createTester().parts]), { authToken: "s3cret-token" });
  for (const path of ["/", "/v1/agents", "/v1/health", "/v1/ready", "/tester/v1/health", "/tester/v1/ready"]) {
    expect([path, await raw(host.url + path, {})]).toEqual([path, 200]);
  }
  const guarded: [string, string][] = [
    ["POST", "/v1/session"],
    ["POST", "/v1/session/ses_1"],
    ["GET", "/v1/session/ses_1/stream"],
    ["GET", "/v1/session/ses_1/events"],
    ["POST", "/v1/session/ses_1/stop"],
    ["GET", "/v1/session/ses_1/approvals"],
    ["POST", "/v1/session/ses_1/approvals/call_1"],
    ["GET", "/v1/sessions"],
    ["GET", "/v1/info"],
    ["GET", "/v1/tools"],
    ["GET", "/v1/tools/add"],
    ["POST", "/v1/tools/add"],
    ["GET", "/v1/logs"],
  ];
  for (const [method, path] of guarded) {
    const headers: Record<string, string> =
      method === "POST" ? { "content-type": "text/weird", "content-length": "0" } : {};
    expect([method, path, await raw(`${host.base}${path}`, headers, method)]).toEqual([method, path, 401]);
  }
});

test("sessions belong to the principal that made them; the operator settles everything", async () => {
  const options: HostOptions = { authToken: "user-token-1", operatorToken: "operator-token-1" };
  const { base } = await startHost(makeBundle([createTester().parts]), options);
  const user = bearer("user-token-1");
  const operator = bearer("operator-token-1");
  const own = await startSession(base, { message: '/gated {"text":"x"}' }, user);
  await followUntil(base, own.sessionId, (event) => event.type === "action.approval_requested", { headers: user });
  const others = await startSession(base, { message: "mine" }, operator);
  await followUntil(base, others.sessionId, isWaiting, { headers: operator });

  const url = `${base}/v1/session/${others.sessionId}`;
  const refused = await Promise.all([
    call(url, { body: { message: "x", continuationToken: others.continuationToken }, headers: user }),
    call(`${url}/stream`, { headers: user }),
    call(`${url}/events`, { headers: user }),
    call(`${url}/stop`, { method: "POST", headers: user }),
    call(`${url}/approvals`, { headers: user }),
    call(`${url}/approvals/call_1`, { body: { decision: "deny" }, headers: user }),
    call(`${base}/v1/tools/add`, { body: { input: { a: 1 }, sessionId: others.sessionId }, headers: user }),
    call(`${base}/v1/tools/add`, {
      body: { input: { a: 1 }, continuationToken: others.continuationToken },
      headers: user,
    }),
    call(`${base}/v1/tools?session=${others.sessionId}`, { headers: user }),
    call(`${base}/v1/tools?continuationToken=${encodeURIComponent(others.continuationToken)}`, { headers: user }),
  ]);
  for (const answer of refused) expect([answer.status, answer.body.error]).toEqual([403, "forbidden"]);

  const list = async (headers: Record<string, string>) =>
    ((await call(`${base}/v1/sessions`, { headers })).body.sessions as { id: string }[]).map((row) => row.id);
  expect(await list(user)).toEqual([own.sessionId]);
  expect(await list(operator)).toEqual([others.sessionId, own.sessionId]);

  const pending = await call(`${base}/v1/session/${own.sessionId}/approvals`, { headers: operator });
  const [approval] = pending.body.approvals as { callId: string }[];
  const settled = await call(`${base}/v1/session/${own.sessionId}/approvals/${approval?.callId}`, {
    body: { decision: "approve" },
    headers: operator,
  });
  expect(settled.status).toBe(200);
  await followUntil(base, own.sessionId, isWaiting, { headers: user });
});

test("under --dev on loopback the list includes every principal", async () => {
  const bundle = makeBundle([createTester().parts]);
  const first = await startHost(bundle, { operatorToken: "operator-token-1" });
  const { sessionId } = await startSession(first.base, { message: "x" }, bearer("operator-token-1"));
  await followUntil(first.base, sessionId, isWaiting, { headers: bearer("operator-token-1") });
  expect((await call(`${first.base}/v1/sessions`)).body.sessions).toEqual([]);
  await first.close();
  const dev = await startHost(bundle, { dev: true, stateRoot: first.stateRoot });
  expect((await call(`${dev.base}/v1/sessions`)).body.sessions).toMatchObject([
    { id: sessionId, owner: "bearer:operator" },
  ]);
  expect((await call(`${dev.base}/v1/session/${sessionId}/events?format=json`)).status).toBe(200);
});

test("secrets never come out: not in errors, not in logs", async () => {
  const { base, lines } = await startHost(makeBundle([createTester().parts]), { authToken: "s3cret-token" });
  const wrong = await call(`${base}/v1/info`, { headers: bearer("s3cret-tokem") });
  expect(JSON.stringify(wrong.body)).not.toContain("s3cret");
  await startSession(base, { message: "hello" }, bearer("s3cret-token"));
  expect(JSON.stringify(lines)).not.toContain("s3cret-token");
});
