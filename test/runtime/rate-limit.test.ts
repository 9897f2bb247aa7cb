/** `--rate-limit`: how often each principal may call. */

import { createHmac } from "node:crypto";
import { afterEach, expect, test, vi } from "vitest";
import { basicAuth, bearerAuth, hmacAuth, POST } from "../../runtime/authoring/channels.js";
import { createHost } from "../../runtime/host/index.js";
import { makeBundle } from "./support/bundle.js";
import { serve } from "./support/channels.js";
import { call, startHost, temporaryFolder } from "./support/host.js";
import { createTester } from "./support/tester.js";

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

afterEach(() => {
  vi.useRealTimers();
});

/** Statuses of `count` requests, one after another. */
async function statuses(url: string, count: number, headers: Record<string, string> = {}): Promise<number[]> {
  const found: number[] = [];
  for (let at = 0; at < count; at += 1) found.push((await call(url, { headers })).status);
  return found;
}

test("past its allowance a principal is told 429, when to come back, and in our own words", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  const { base } = await startHost(makeBundle([createTester().parts]), { rateLimit: 3 });
  expect(await statuses(`${base}/v1/info`, 3)).toEqual([200, 200, 200]);
  const { status, headers, body } = await call(`${base}/v1/tools/add`, { body: { input: { a: 1 } } });
  expect(status).toBe(429);
  expect(body).toEqual({
    ok: false,
    error: "rate_limited",
    message: "more than 3 requests in a minute; try again in 60 s",
  });
  expect(headers.get("retry-after")).toBe("60");
  vi.setSystemTime(Date.now() + 59_000);
  expect((await call(`${base}/v1/info`)).headers.get("retry-after")).toBe("1");
  vi.setSystemTime(Date.now() + 1_000);
  expect(await statuses(`${base}/v1/info`, 4)).toEqual([200, 200, 200, 429]);
});

test("each principal has its own allowance; what needs no principal has none", async () => {
  const { base, url } = await startHost(makeBundle([createTester().parts]), {
    rateLimit: 2,
    authToken: "a-user-token",
    operatorToken: "an-operator-token",
  });
  expect(await statuses(`${base}/v1/info`, 3, bearer("a-user-token"))).toEqual([200, 200, 429]);
  expect(await statuses(`${base}/v1/info`, 3, bearer("an-operator-token"))).toEqual([200, 200, 429]);
  expect(await statuses(`${url}/v1/health`, 5)).toEqual([200, 200, 200, 200, 200]);
});

test("callers that nobody knows are counted by their address, and guesses at a token with them", async () => {
  const { base } = await startHost(makeBundle([createTester().parts]), { rateLimit: 2, authToken: "a-user-token" });
  expect(await statuses(`${base}/v1/info`, 3, bearer("wrong"))).toEqual([401, 401, 429]);
  expect(await statuses(`${base}/v1/info`, 1)).toEqual([429]);
  expect(await statuses(`${base}/v1/info`, 2, bearer("a-user-token"))).toEqual([200, 200]);
});

test("behind a trusted proxy the address is what the proxy appended; else the header is not believed", async () => {
  const from = (...addresses: string[]) => ({ "x-forwarded-for": addresses.join(", ") });
  const options = { rateLimit: 1, allowAnonymous: true };
  const trusting = await startHost(makeBundle([createTester().parts]), { ...options, trustProxy: true });
  const asked = async (base: string, headers: Record<string, string>) =>
    (await statuses(`${base}/v1/info`, 1, headers))[0];
  expect(await asked(trusting.base, from("203.0.113.1"))).toBe(200);
  expect(await asked(trusting.base, from("203.0.113.2"))).toBe(200);
  // What stands before the last entry came with the request.
  expect(await asked(trusting.base, from("198.51.100.7", "203.0.113.1"))).toBe(429);
  // One holder has all of a /64 network.
  expect(await asked(trusting.base, from("2001:db8:1:1::1"))).toBe(200);
  expect(await asked(trusting.base, from("2001:db8:1:1::2"))).toBe(429);
  expect(await asked(trusting.base, from("2001:db8:1:2::1"))).toBe(200);

  const direct = await startHost(makeBundle([createTester().parts]), options);
  expect(await asked(direct.base, from("203.0.113.1"))).toBe(200);
  expect(await asked(direct.base, from("203.0.113.2"))).toBe(429);
});

test("channels count whom they admit; a service's signed webhooks are never refused", async () => {
  const { at } = await serve(
    {
      auth: [
        bearerAuth("s3cret-of-ann", "ann"),
        basicAuth({ bob: "s3cret-of-bob" }),
        hmacAuth({ secret: "k", header: "x-sig" }),
      ],
      routes: [POST("/", { handler: (_request, { auth }) => Response.json(auth) })],
    },
    { rateLimit: 2 },
  );
  const post = async (count: number, headers: Record<string, string>) => {
    const found: number[] = [];
    for (let each = 0; each < count; each += 1) {
      found.push((await fetch(at, { method: "POST", headers, body: "hi" })).status);
    }
    return found;
  };
  expect(await post(3, bearer("s3cret-of-ann"))).toEqual([200, 200, 429]);
  const bob = { authorization: `Basic ${Buffer.from("bob:s3cret-of-bob").toString("base64")}` };
  expect(await post(3, bob)).toEqual([200, 200, 429]);
  expect(await post(3, {})).toEqual([401, 401, 429]);
  const signed = { "x-sig": createHmac("sha256", "k").update("hi").digest("hex") };
  expect(await post(5, signed)).toEqual([200, 200, 200, 200, 200]);
});

test("MCP endpoints count too", async () => {
  const { base } = await startHost(makeBundle([createTester().parts]), { rateLimit: 1 });
  const list = () =>
    call(`${base}/v1/mcp/tools`, {
      body: { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} },
      headers: { accept: "application/json, text/event-stream" },
    });
  expect((await list()).status).toBe(200);
  const { status, headers } = await list();
  expect([status, headers.get("retry-after")]).toEqual([429, expect.stringMatching(/^\d+$/)]);
});

test("many callers at once: exactly as many as allowed get through", async () => {
  const { base } = await startHost(makeBundle([createTester().parts]), { rateLimit: 50 });
  const answers = await Promise.all(Array.from({ length: 120 }, () => call(`${base}/v1/info`)));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(50);
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(70);
});

test("a limit that is none refuses to start, and so does one that was not linked", async () => {
  const start = (rateLimit: number, sections = {}) =>
    createHost(makeBundle([{}]), { port: 0, stateRoot: temporaryFolder(), log: () => undefined, rateLimit }, sections);
  await expect(start(0)).rejects.toThrow("--rate-limit is a number of requests a minute");
  await expect(start(1.5)).rejects.toThrow("--rate-limit is a number of requests a minute");
  await expect(start(5)).rejects.toThrow("bdk build --include rate-limit");
});

test("a proxy that adds the caller's port does not make a new caller of each connection", async () => {
  const { base } = await startHost(makeBundle([createTester().parts]), {
    rateLimit: 2,
    trustProxy: true,
    authToken: "a-user-token",
  });
  const from = (address: string) => ({ "x-forwarded-for": address });
  const ask = async (address: string) => (await call(`${base}/v1/info`, { headers: from(address) })).status;
  expect([await ask("192.0.2.1:4711"), await ask("192.0.2.1:4712"), await ask("192.0.2.1")]).toEqual([401, 401, 429]);
  expect([await ask("[2001:db8::1]:80"), await ask("[2001:db8::2]"), await ask("2001:db8::3")]).toEqual([
    401, 401, 429,
  ]);
});
