/** The generic webhook pack: who is known, how late, and once. */
import { execFileSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import {
  bearerToken,
  hmacSignature,
  standardSignature,
  stripeSignature,
  timestampedSignature,
  type WebhookChannelOptions,
  type WebhookEvent,
  webhookChannel,
} from "../../runtime/authoring/channels.js";
import { createHost } from "../../runtime/host/index.js";
import type { HostOptions } from "../../runtime/host/options.js";
import type { AgentBundle } from "../../runtime/manifest/bundle.js";
import { makeBundle } from "./support/bundle.js";
import { call, startHost, temporaryFolder } from "./support/host.js";

function bundleOf(options: WebhookChannelOptions): AgentBundle {
  const channel = {
    id: "channel:hook",
    source: "bot/channels/hook.ts:1",
    layer: "project" as const,
    name: "hook",
    pack: "webhook",
    routes: [],
    events: [],
  };
  return makeBundle([{ manifest: { channels: [channel] }, definitions: { "channel:hook": webhookChannel(options) } }]);
}

async function serve(options: Partial<WebhookChannelOptions>, host: HostOptions = {}) {
  const told: WebhookEvent[] = [];
  const map = (event: WebhookEvent) => {
    told.push(event);
    return null;
  };
  const started = await startHost(bundleOf({ verify: bearerToken("t"), map, ...options }), { dev: true, ...host });
  const at = `${started.base}/v1/channels/hook`;
  const send = async (body: string, headers: Readonly<Record<string, string>>) => {
    const answer = await fetch(at, {
      method: "POST",
      body,
      headers: { "content-type": "application/json", ...headers },
    });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  return { ...started, at, told, send };
}

const seconds = (offset = 0) => String(Math.floor(Date.now() / 1000) + offset);
const hmac = (secret: string | Buffer, text: string, encoding: "hex" | "base64" = "hex") =>
  createHmac("sha256", secret).update(text).digest(encoding);
const repeated = { status: 200, body: { ok: true, ignored: "delivered before" } };

test("Stripe: signed with its instant, within five minutes, once; a changed byte, an old or a second instant is 401", async () => {
  const { send, told } = await serve({ verify: stripeSignature({ secret: () => "whsec_test" }) });
  const body = JSON.stringify({ id: "evt_1", type: "charge.succeeded" });
  const sign = (t: string, text = body, secret = "whsec_test") => ({
    "stripe-signature": `t=${t},v1=${hmac(secret, `${t}.${text}`)},v0=ignored`,
  });
  expect(await send(body, sign(seconds()))).toEqual({ status: 202, body: { ok: true } });
  await expect.poll(() => told).toHaveLength(1);
  expect(told[0]).toMatchObject({ id: "id:evt_1", body: { id: "evt_1", type: "charge.succeeded" }, text: body });
  expect(told[0]?.headers["stripe-signature"]).toBeUndefined();
  // The sender tries again with an instant of its own: the event is the same.
  expect(await send(body, sign(seconds(-10)))).toEqual(repeated);
  const now = seconds();
  const refused = [
    sign(seconds(-301)),
    // The clock runs on between the signature and the check: one from the future comes nearer meanwhile.
    sign(seconds(360)),
    sign(now, body, "other"),
    sign(now, `${body} `),
    { "stripe-signature": `t=${now}` },
    { "stripe-signature": `t=${seconds(-400)},t=${now},v1=${hmac("whsec_test", `${now}.${body}`)}` },
    { "stripe-signature": `t=,v1=${hmac("whsec_test", `.${body}`)}` },
    {},
  ];
  for (const headers of refused) expect((await send(body, headers)).status).toBe(401);
  // While a key is replaced the header has several signatures.
  const two = {
    "stripe-signature": `t=${now},v1=${hmac("old", `${now}.{"id":2}`)},v1=${hmac("whsec_test", `${now}.{"id":2}`)}`,
  };
  expect((await send('{"id":2}', two)).status).toBe(202);
});

test("a plain signature: the same body is taken once, whatever the unsigned headers say", async () => {
  const verify = hmacSignature({ secret: "s", header: "X-Signature", prefix: "sha256=" });
  const { send, told } = await serve({ verify });
  const sign = (body: string) => ({ "x-signature": `sha256=${hmac("s", body)}` });
  expect((await send('{"a":1}', { ...sign('{"a":1}'), "x-request-id": "one" })).status).toBe(202);
  expect(await send('{"a":1}', { ...sign('{"a":1}'), "x-request-id": "two" })).toEqual(repeated);
  expect((await send('{"a":2}', sign('{"a":2}'))).status).toBe(202);
  expect((await send('{"a":3}', sign('{"a":2}'))).status).toBe(401);
  expect((await send('{"a":3}', { "x-signature": hmac("s", '{"a":3}') })).status).toBe(401);
  await expect.poll(() => told).toHaveLength(2);
});

test("Standard Webhooks: the documented vector's arrangement, with a base64 secret and a signed id", async () => {
  const key = Buffer.from("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "base64");
  const { send, told } = await serve({ verify: standardSignature({ secret: `whsec_${key.toString("base64")}` }) });
  const body = '{"test": 2432232314}';
  const sign = (id: string, t: string) => ({
    "webhook-id": id,
    "webhook-timestamp": t,
    "webhook-signature": `v1,AAAA v1,${hmac(key, `${id}.${t}.${body}`, "base64")}`,
  });
  const now = seconds();
  expect((await send(body, sign("msg_1", now))).status).toBe(202);
  expect(await send(body, sign("msg_1", seconds(-1)))).toEqual(repeated);
  expect((await send(body, { ...sign("msg_1", now), "webhook-id": "msg_2" })).status).toBe(401);
  expect((await send(body, sign("msg_2", now))).status).toBe(202);
  expect((await send(body, sign("msg_3", seconds(-1000)))).status).toBe(401);
  await expect.poll(() => told.map(({ id }) => id)).toEqual(["msg_1", "msg_2"]);
});

test("an instant in a header of its own, and a tolerance", async () => {
  const verify = timestampedSignature({
    secret: "s",
    header: "x-sig",
    prefix: "v0=",
    timestampHeader: "x-ts",
    content: "v0:{timestamp}:{body}",
    toleranceSeconds: 10,
  });
  const { send } = await serve({ verify });
  const sign = (t: string) => ({ "x-ts": t, "x-sig": `v0=${hmac("s", `v0:${t}:{}`)}` });
  expect((await send("{}", sign(seconds()))).status).toBe(202);
  expect((await send("{}", sign(seconds(-11)))).status).toBe(401);
  expect((await send("{}", { ...sign(seconds()), "x-ts": "1e3" })).status).toBe(401);
});

test("a token: each request is one of its own unless it has an id; the token is kept nowhere", async () => {
  const { send, told, stateRoot } = await serve({ verify: bearerToken(() => "s3cret-token") });
  const auth = { authorization: "Bearer s3cret-token" };
  expect((await send('{"n":1}', auth)).status).toBe(202);
  expect((await send('{"n":1}', auth)).status).toBe(202);
  expect((await send('{"n":1}', { ...auth, "x-request-id": "r" })).status).toBe(202);
  expect(await send('{"n":1}', { ...auth, "x-request-id": "r" })).toEqual(repeated);
  const long = { ...auth, "x-request-id": "r".repeat(3_000) };
  expect((await send('{"n":1}', long)).status).toBe(202);
  expect(await send('{"n":1}', long)).toEqual(repeated);
  expect((await send('{"n":1}', { authorization: "Bearer wrong" })).status).toBe(401);
  expect((await send('{"n":1}', {})).status).toBe(401);
  await expect.poll(() => told).toHaveLength(4);
  const found = execFileSync("sh", ["-c", `grep -rl s3cret-token ${stateRoot} || true`]).toString();
  expect(found).toBe("");
});

test("map starts a session once for each event, continues it by its key, or runs a task; what it can't be is logged", async () => {
  const ran: unknown[] = [];
  const { send, base, lines } = await serve({
    map: ({ body }) => {
      const { id, kind } = body as { id: number; kind: string };
      if (kind === "task") return { task: async () => ran.push(id) };
      if (kind === "odd") return { text: "?" } as never;
      return { message: `event ${id}`, continuationToken: "feed", title: "Feed", admission: "coalesce" };
    },
    lane: () => "feed",
  });
  const auth = { authorization: "Bearer t" };
  for (const body of [{ id: 1 }, { id: 2 }, { id: 2 }, { id: 3, kind: "task" }, { id: 4, kind: "odd" }]) {
    await send(JSON.stringify(body), auth);
  }
  await expect.poll(() => lines.some(({ message }) => message.includes("`map` must return"))).toBe(true);
  expect(ran).toEqual([3]);
  const { sessions } = (await call(`${base}/v1/sessions`)).body as { sessions: Record<string, unknown>[] };
  expect(sessions).toHaveLength(1);
  expect(sessions[0]).toMatchObject({
    title: "Feed",
    channelId: "hook",
    owner: "channel:hook",
    continuationToken: "hook:feed",
  });
});

test("the same event after a restart is a repetition; `id` decides what is the same", async () => {
  const id: WebhookChannelOptions["id"] = ({ headers }) => headers["x-event"];
  const first = await serve({ id });
  const auth = { authorization: "Bearer t", "x-event": "e1" };
  expect((await first.send("{}", auth)).status).toBe(202);
  await expect.poll(() => first.told).toHaveLength(1);
  await first.close();
  const second = await serve({ id }, { stateRoot: first.stateRoot });
  expect(await second.send('{"other":true}', auth)).toEqual(repeated);
  expect(second.told).toEqual([]);
});

test("bodies that are no JSON: forms and text; broken JSON is 400", async () => {
  const { send, told } = await serve({});
  const auth = { authorization: "Bearer t" };
  expect((await send("a=1&a=2&b=3", { ...auth, "content-type": "application/x-www-form-urlencoded" })).status).toBe(
    202,
  );
  expect((await send("plain", { ...auth, "content-type": "text/plain" })).status).toBe(202);
  expect((await send("", auth)).status).toBe(202);
  expect((await send("{", auth)).status).toBe(400);
  await expect.poll(() => told.map(({ body }) => body)).toEqual([{ a: ["1", "2"], b: "3" }, "plain", null]);
});

test("an empty secret: only this machine, and a server for others refuses to start", async () => {
  const verify = stripeSignature({ secret: () => undefined });
  const { send, lines } = await serve({ verify });
  expect((await send('{"id":1}', {})).status).toBe(202);
  expect((await send('{"id":2}', { "x-forwarded-for": "203.0.113.9" })).status).toBe(401);
  expect(lines.some(({ message }) => message.includes("its secret is empty"))).toBe(true);
  const bundle = bundleOf({ verify, map: () => null });
  const options = { port: 0, host: "0.0.0.0", stateRoot: temporaryFolder(), log: () => undefined };
  await expect(createHost(bundle, options, {})).rejects.toThrow(/its secret is empty/);
});
