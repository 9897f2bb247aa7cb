/** Who a channel admits, and what hosts and swaps make of it. */
import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import * as z from "zod/v4";
import {
  type AuthFn,
  allowAll,
  basicAuth,
  bearerAuth,
  type ChannelConfig,
  GET,
  hmacAuth,
  localDevStrict,
  oidcAuth,
  POST,
  type Route,
} from "../../runtime/authoring/channels.js";
import { makeBundle } from "./support/bundle.js";
import { bundleOf, open, serve } from "./support/channels.js";
import { call, startHost } from "./support/host.js";

const whoami: readonly Route[] = [POST("/", { handler: (_request, { auth }) => Response.json({ auth }) })];
const basic = (text: string) => `Basic ${Buffer.from(text).toString("base64")}`;

test.each<[string, AuthFn, HeadersInit, HeadersInit, unknown, string | null]>([
  [
    "bearer",
    bearerAuth("s3cret", "ci"),
    { authorization: "Bearer s3cret" },
    { authorization: "Bearer x" },
    { kind: "bearer", id: "ci" },
    "Bearer",
  ],
  [
    "basic",
    basicAuth({ ann: "pä:ss" }),
    { authorization: basic("ann:pä:ss") },
    { authorization: basic("bob:pä:ss") },
    { kind: "basic", id: "ann" },
    'Basic realm="drive", charset="UTF-8"',
  ],
  [
    "hmac",
    hmacAuth({ secret: "k", header: "X-Sig", prefix: "sha256=" }),
    { "x-sig": `sha256=${createHmac("sha256", "k").update("hi").digest("hex")}` },
    { "x-sig": `sha256=${createHmac("sha256", "k").update("ho").digest("hex")}` },
    { kind: "channel", id: "drive" },
    null,
  ],
  ["loopback", localDevStrict(), {}, { "x-forwarded-for": "1.2.3.4" }, { kind: "loopback", id: "local" }, null],
  [
    "a function",
    async (request) =>
      (await request.text()) === "hi" && request.headers.has("x-ok") ? { kind: "mine", id: "x" } : null,
    { "x-ok": "1" },
    {},
    { kind: "mine", id: "x" },
    null,
  ],
])("%s admits the right one only", async (_name, policy, right, wrong, auth, challenge) => {
  const { at } = await serve({ auth: [policy], routes: whoami });
  const admitted = await fetch(at, { method: "POST", headers: right, body: "hi" });
  expect(await admitted.json()).toEqual({ auth });
  const refused = await fetch(at, { method: "POST", headers: wrong, body: "hi" });
  expect(refused.status).toBe(401);
  expect(await refused.json()).toMatchObject({ ok: false, error: "unauthorized" });
  expect(refused.headers.get("www-authenticate")).toBe(challenge);
});

test("the first policy that admits decides; none, an empty secret, and one that is not carried out admit nobody", async () => {
  const both = await serve({ auth: [bearerAuth("a", "first"), bearerAuth("a", "second"), allowAll()], routes: whoami });
  const as = async (at: string, headers: HeadersInit) => (await call(at, { method: "POST", headers })).body.auth;
  expect(await as(both.at, { authorization: "Bearer a" })).toEqual({ kind: "bearer", id: "first" });
  expect(await as(both.at, {})).toEqual({ kind: "anonymous", id: "anonymous" });
  const closed: (readonly AuthFn[])[] = [
    [],
    [bearerAuth("")],
    [hmacAuth({ secret: "", header: "x-sig" })],
    [basicAuth({ ann: "" })],
    [oidcAuth({ issuer: "http://127.0.0.1:1", audience: "a" })],
    // What a variable that is not set may leave of an entry.
    [undefined as unknown as AuthFn],
  ];
  for (const auth of closed) {
    const { at } = await serve({ auth, routes: whoami });
    const signature = createHmac("sha256", "").update("").digest("hex");
    const headers = { authorization: basic("ann:"), "x-sig": signature };
    expect((await call(at, { method: "POST", headers })).status).toBe(401);
  }
});

test("a channel without policies has the host's", async () => {
  const { at } = await serve({ routes: whoami }, { authToken: "host-token" });
  expect((await call(at, { method: "POST" })).status).toBe(401);
  const answer = await call(at, { method: "POST", headers: { authorization: "Bearer host-token" } });
  expect(answer.body.auth).toEqual({ kind: "bearer", id: "token" });
});

test("hosted: 202 and nothing else, once the request is found good; the handler still runs", async () => {
  let ran: ((text: unknown) => void) | undefined;
  const seen = new Promise((resolve) => {
    ran = resolve;
  });
  const { at } = await serve(
    {
      auth: [bearerAuth("t")],
      routes: [
        POST("/", {
          bodySchema: z.object({ text: z.string() }),
          handler: (_request, { body }) => {
            ran?.(body.text);
            return Response.json({ hidden: true }, { status: 418 });
          },
        }),
      ],
    },
    { hosted: true },
  );
  const headers = { authorization: "Bearer t" };
  const answer = await fetch(at, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: '{"text":"x"}',
  });
  expect([answer.status, await answer.text()]).toEqual([202, ""]);
  expect(await seen).toBe("x");
  expect((await call(at, { headers, body: {} })).status).toBe(400);
  expect((await call(at, { body: { text: "x" } })).status).toBe(401);
});

test("a swap brings channels, changes them and takes them away; onStart runs with each code, and the old one's signal aborts", async () => {
  const log: string[] = [];
  const version = (name: string): ChannelConfig => ({
    ...open,
    routes: [GET("/", { handler: () => new Response(name) })],
    onStart: ({ signal }) => {
      log.push(`start ${name}`);
      signal.addEventListener("abort", () => log.push(`stop ${name}`));
    },
  });
  const host = await startHost(makeBundle([{}]));
  const at = `${host.base}/v1/channels/drive`;
  expect((await fetch(at)).status).toBe(404);
  await host.swap(bundleOf({ drive: version("one") }, "sha256:two"));
  expect(await (await fetch(at)).text()).toBe("one");
  await host.swap(bundleOf({ drive: version("two") }, "sha256:three"));
  expect(await (await fetch(at)).text()).toBe("two");
  await host.swap(makeBundle([{}], { hash: "sha256:four" }));
  expect((await fetch(at)).status).toBe(404);
  expect(log).toEqual(["start one", "stop one", "start two", "stop two"]);
});

test("an onStart that throws is logged and ends nothing", async () => {
  const host = await serve({
    ...open,
    routes: whoami,
    onStart: () => {
      throw new Error("no such thing");
    },
  });
  expect((await call(host.at, { method: "POST" })).status).toBe(200);
  expect(host.lines.some(({ message }) => message.includes("no such thing"))).toBe(true);
});
