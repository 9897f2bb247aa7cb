/** `--trust-proxy`: what headers of a proxy are believed, and that nothing makes a far caller a near one. */
import { expect, test } from "vitest";
import { allowAll, GET, localDevStrict } from "../../runtime/authoring/channels.js";
import type { HostOptions } from "../../runtime/host/options.js";
import { makeBundle } from "./support/bundle.js";
import { serve } from "./support/channels.js";
import { call, startHost } from "./support/host.js";
import { createTester } from "./support/tester.js";

const claims: Record<string, string>[] = [
  { "x-forwarded-for": "127.0.0.1" },
  { "x-forwarded-for": "::1" },
  { "x-forwarded-for": "127.0.0.1, 127.0.0.1" },
  { forwarded: "for=127.0.0.1" },
  { "x-real-ip": "127.0.0.1" },
  { "x-forwarded-host": "localhost" },
  { "x-forwarded-proto": "http" },
  { "cf-connecting-ip": "127.0.0.1" },
  { "x-forwarded-for": "" },
];

test.each([false, true])("no header makes a caller a direct one (trustProxy: %s)", async (trustProxy) => {
  const { base } = await startHost(makeBundle([createTester().parts]), { trustProxy });
  const { at } = await serve(
    { auth: [localDevStrict()], routes: [GET("/", { handler: () => new Response("ok") })] },
    { trustProxy },
  );
  expect((await call(`${base}/v1/info`)).status).toBe(200);
  expect((await fetch(at)).status).toBe(200);
  for (const headers of claims) {
    expect([headers, (await call(`${base}/v1/info`, { headers })).status]).toEqual([headers, 401]);
    expect([headers, (await fetch(at, { headers })).status]).toEqual([headers, 401]);
  }
});

test("a proxy in front of the loopback policy lets nobody in, and the start says so", async () => {
  const warned = async (options: HostOptions) => {
    const { lines } = await startHost(makeBundle([createTester().parts]), options);
    return lines.some(({ level, message }) => level === "warn" && message.includes("comes through the proxy"));
  };
  expect(await warned({ trustProxy: true })).toBe(true);
  expect(await warned({ trustProxy: true, authToken: "a-user-token" })).toBe(false);
  expect(await warned({})).toBe(false);
});

test("the host that a proxy was asked for counts as ours under the option only", async () => {
  const headers = { "x-forwarded-host": "demo.example.com", origin: "https://demo.example.com" };
  const options = { allowAnonymous: true };
  const trusting = await startHost(makeBundle([createTester().parts]), { ...options, trustProxy: true });
  expect((await call(`${trusting.base}/v1/info`, { headers })).status).toBe(200);
  const listed = { ...headers, "x-forwarded-host": "demo.example.com, inner.example.com" };
  expect((await call(`${trusting.base}/v1/info`, { headers: listed })).status).toBe(401);
  const wary = await startHost(makeBundle([createTester().parts]), options);
  expect((await call(`${wary.base}/v1/info`, { headers })).status).toBe(401);
});

test("a channel's request has the URL that the caller wrote", async () => {
  const channel = { auth: [allowAll()], routes: [GET("/", { handler: ({ url }: Request) => new Response(url) })] };
  const headers = { "x-forwarded-host": "bots.example.com", "x-forwarded-proto": "https" };
  const read = async (at: string, more: Record<string, string>) => (await fetch(`${at}?a=1`, { headers: more })).text();
  const trusting = await serve(channel, { trustProxy: true });
  expect(await read(trusting.at, headers)).toBe("https://bots.example.com/tester/v1/channels/drive?a=1");
  for (const odd of [
    { ...headers, "x-forwarded-proto": "javascript" },
    { ...headers, "x-forwarded-host": "a b" },
    { "x-forwarded-proto": "https" },
  ]) {
    expect(await read(trusting.at, odd)).toBe(`${trusting.at}?a=1`);
  }
  const wary = await serve(channel);
  expect(await read(wary.at, headers)).toBe(`${wary.at}?a=1`);
});
