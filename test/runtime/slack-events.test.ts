/** What Slack sends: accepted or refused, once each, and what it becomes. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { readSlackEvent } from "../../runtime/channels/slack/event.js";
import { createSignatureCheck } from "../../runtime/channels/slack/signature.js";
import { envelope, mention, message, sendEvent, signed, signingSecret } from "./support/fake-slack.js";
import { call, readEvents } from "./support/host.js";
import { startSlackHost } from "./support/slack-host.js";

const vectors = "../shared/vectors/webhooks";
const read = (file: string) => JSON.parse(readFileSync(`${vectors}/${file}`, "utf8"));

async function sessionsOf(base: string): Promise<{ id: string; continuationToken: string; owner: string }[]> {
  return (await call(`${base}/v1/sessions`)).body.sessions as never;
}

async function textsOf(base: string, id: string): Promise<string[]> {
  return (await readEvents(base, id)).flatMap((event) => (event.type === "message.received" ? [event.data.text] : []));
}

test("the documented signature is accepted, and none that differs in a byte, a second too many or the secret", () => {
  const { slack } = read("signatures.json");
  const body = Buffer.from(slack.body);
  const timestamp: string = slack.headers["X-Slack-Request-Timestamp"];
  const signature: string = slack.headers["X-Slack-Signature"];
  const at = (seconds: number) => () => (Number(timestamp) + seconds) * 1_000;
  const check = createSignatureCheck(slack.signingSecret, at(0));
  expect(check({ timestamp, signature, body })).toBe(true);
  for (let byte = 0; byte < body.length; byte += 1) {
    const tampered = Buffer.from(body);
    tampered[byte] = (tampered[byte] ?? 0) ^ 1;
    expect(check({ timestamp, signature, body: tampered })).toBe(false);
  }
  for (const seconds of [-300, 300]) {
    expect(createSignatureCheck(slack.signingSecret, at(seconds))({ timestamp, signature, body })).toBe(true);
  }
  for (const seconds of [-301, 301]) {
    expect(createSignatureCheck(slack.signingSecret, at(seconds))({ timestamp, signature, body })).toBe(false);
  }
  expect(createSignatureCheck("another", at(0))({ timestamp, signature, body })).toBe(false);
  expect(check({ timestamp: undefined, signature, body })).toBe(false);
  expect(check({ timestamp, signature: undefined, body })).toBe(false);
  expect(check({ timestamp: `${timestamp}.0`, signature, body })).toBe(false);
  expect(check({ timestamp, signature: signature.replace("v0=", "v1="), body })).toBe(false);
});

test("the address is verified, and only for requests that Slack signed: anything else is 401", async () => {
  const host = await startSlackHost();
  const { url_verification: sample } = read("slack-docs-samples.json");
  const body = JSON.stringify(sample);
  const send = (headers: Record<string, string>, sent = body) =>
    fetch(host.events, { method: "POST", body: sent, headers: { "content-type": "application/json", ...headers } });
  const answer = await send(signed(body));
  expect([answer.status, await answer.json()]).toEqual([200, { challenge: sample.challenge }]);
  const old = Math.floor(Date.now() / 1_000) - 301;
  for (const refused of [
    await send({}),
    await send(signed(body, "another secret")),
    await send(signed(body, signingSecret, old)),
    await send(signed(body), body.replace("url", "urk")),
    await send({ ...signed(body), "x-slack-signature": "v0=" }),
  ]) {
    expect([refused.status, ((await refused.json()) as { error: string }).error]).toEqual([401, "unauthorized"]);
  }
  expect(await sendEvent(host.events, "text")).toBe(400);
  expect(await sessionsOf(host.base)).toEqual([]);
});

test("every recorded payload is acknowledged; people's words become sessions, everything else nothing", async () => {
  const host = await startSlackHost({ engagement: { channelPosts: { allow: ["C043YJGBY49", "C045V0VJT16"] } } });
  const payloads = readdirSync(`${vectors}/slack-web`).filter((file) => file.endsWith(".json"));
  expect(payloads.length).toBeGreaterThanOrEqual(10);
  for (const file of payloads)
    expect([file, await sendEvent(host.events, read(`slack-web/${file}`))]).toEqual([file, 200]);
  expect(await sendEvent(host.events, read("slack-docs-samples.json").app_mention)).toBe(200);
  await expect.poll(async () => (await sessionsOf(host.base)).length).toBeGreaterThanOrEqual(4);
  const keys = (await sessionsOf(host.base)).map(({ continuationToken }) => continuationToken).sort();
  expect(keys).toEqual([
    "slack:C043YJGBY49:1663966382.046509", // messageExample
    "slack:C045V0VJT16:1670625739.704049", // message_rich_text
    "slack:C123ABC456:1515449522.000016", // the documented app_mention
    "slack:D0442US94JD", // messageIm
  ]);
});

test("reading: the app's own messages, edits, joins, Slackbot and mentions told twice are left alone", () => {
  const is = (payload: unknown, identity = {}) => {
    const event = readSlackEvent(payload, identity);
    return event.is === "message" ? event.kind : event.is;
  };
  expect(is(envelope(mention("hello")))).toBe("mention");
  expect(is(envelope(message("hello", { channel_type: "im", channel: "D1" })))).toBe("direct");
  expect(is(envelope(message("hello", { channel_type: undefined, channel: "D1" })))).toBe("direct");
  expect(is(envelope(mention("hello", { channel: "D1" })))).toBe("ignored");
  expect(is(envelope(message("hello")))).toBe("post");
  expect(is(envelope(message("an alert", { subtype: "bot_message", bot_id: "B9", user: undefined })))).toBe("post");
  expect(is(envelope(message("<@U0BOT> hello")))).toBe("ignored");
  expect(is(envelope(message("mine", { app_id: "A0APP", bot_id: "B0BOT" })))).toBe("ignored");
  expect(is(envelope(message("mine", { bot_id: "B0BOT" })), { botId: "B0BOT" })).toBe("ignored");
  expect(is(envelope(message("mine", { user: "U0BOT" })))).toBe("ignored");
  expect(is(envelope(message("", { subtype: "message_changed" })))).toBe("ignored");
  expect(is(envelope(message("", { subtype: "channel_join" })))).toBe("ignored");
  expect(is(envelope(message("notice", { channel_type: "im", user: "USLACKBOT" })))).toBe("ignored");
  expect(is(envelope({ type: "reaction_added" }))).toBe("ignored");
  expect(is({ type: "view_submission" })).toBe("ignored");
  for (const junk of [
    undefined,
    null,
    7,
    "x",
    [],
    {},
    { type: "event_callback" },
    { type: "block_actions", actions: 1 },
  ]) {
    expect(is(junk)).toBe("ignored");
  }
  const alert = readSlackEvent(
    envelope(message("", { bot_id: "B9", attachments: [{ title: "CPU high", text: "host-3 at 99%" }] })),
    {},
  );
  expect(alert).toMatchObject({ message: { body: "CPU high\nhost-3 at 99%", author: { id: "U0ADA", isBot: true } } });
});

test("a retry storm gives one turn; so does the same event after a restart", async () => {
  const first = await startSlackHost();
  const event = envelope(mention("what is the time?"), "Ev0STORM");
  const statuses = await Promise.all(
    Array.from({ length: 20 }, (_each, n) =>
      sendEvent(first.events, event, { "x-slack-retry-num": String(n), "x-slack-retry-reason": "http_timeout" }),
    ),
  );
  expect(statuses.every((status) => status === 200)).toBe(true);
  await expect.poll(() => first.slack.of("chat.postMessage").length).toBe(1);
  const { stateRoot, slack } = first;
  await first.close();
  const second = await startSlackHost({}, {}, { stateRoot, slack });
  expect(await sendEvent(second.events, event, { "x-slack-retry-num": "3" })).toBe(200);
  const next = mention("and now?", { ts: "1700000001.000001", thread_ts: "1700000000.000001" });
  expect(await sendEvent(second.events, envelope(next, "Ev0NEXT"))).toBe(200);
  await expect.poll(() => slack.of("chat.postMessage").length).toBe(2);
  const [session, ...others] = await sessionsOf(second.base);
  expect(others).toEqual([]);
  expect(await textsOf(second.base, session?.id ?? "")).toEqual(["what is the time?", "and now?"]);
});

test("a mention that comes as a post of the channel too, before anyone knows who the app is, is one turn", async () => {
  const host = await startSlackHost({ engagement: { channelPosts: { allow: ["C0OPS"] } } });
  host.slack.answer("auth.test", () => ({ ok: false, error: "invalid_auth" }));
  for (const event of [mention("hello"), message("<@U0BOT> hello")]) {
    expect(await sendEvent(host.events, { ...envelope(event), authorizations: [] })).toBe(200);
  }
  await expect.poll(() => host.slack.of("chat.postMessage").length).toBe(1);
  const [session, ...others] = await sessionsOf(host.base);
  expect(others).toEqual([]);
  expect(await textsOf(host.base, session?.id ?? "")).toHaveLength(1);
});

test("without a signing secret only this machine is heard, and not through a proxy", async () => {
  const host = await startSlackHost({}, {}, { env: { SLACK_SIGNING_SECRET: "" } });
  const body = JSON.stringify(envelope(mention("hi")));
  const send = (headers: Record<string, string>) =>
    fetch(host.events, { method: "POST", body, headers: { "content-type": "application/json", ...headers } });
  expect((await send({ "x-forwarded-for": "203.0.113.9" })).status).toBe(401);
  expect((await send({})).status).toBe(200);
  await expect.poll(() => host.slack.of("chat.postMessage").length).toBe(1);
});

test("a server that others can reach does not start without a signing secret", async () => {
  const env = { SLACK_SIGNING_SECRET: "" };
  await expect(startSlackHost({}, {}, { env, host: "0.0.0.0", dev: false })).rejects.toThrow("SLACK_SIGNING_SECRET");
});

test("a body of more than the host's limit is taken up to 25 MB", async () => {
  const host = await startSlackHost({}, {}, { bodyLimit: 1_024 });
  const big = envelope(mention(`count these: ${"x".repeat(100_000)}`));
  expect(await sendEvent(host.events, big)).toBe(200);
  await expect.poll(() => host.slack.of("chat.postMessage").length).toBeGreaterThan(0);
  const body = Buffer.alloc(25 * 1024 * 1024 + 1, 32);
  const send = (headers: Record<string, string>) =>
    fetch(host.events, { method: "POST", body, headers: { "content-type": "application/json", ...headers } });
  const instant = String(Math.floor(Date.now() / 1_000));
  const tooLarge = await send({ "x-slack-request-timestamp": instant, "x-slack-signature": "v0=0" });
  expect(tooLarge.status).toBe(413);
  // Nothing is read of who does not even pretend to be Slack.
  expect((await send({})).status).toBe(401);
});

test("a host that answers 202 to everything still proves its address to Slack", async () => {
  const host = await startSlackHost({}, {}, { hosted: true });
  const body = JSON.stringify({ type: "url_verification", challenge: "3eZbrw1aB" });
  const headers = { "content-type": "application/json", ...signed(body) };
  const proven = await fetch(host.events, { method: "POST", body, headers });
  expect(await proven.json()).toEqual({ challenge: "3eZbrw1aB" });
  expect(await sendEvent(host.events, envelope(mention("hi")))).toBe(202);
  await expect.poll(() => host.slack.of("chat.postMessage").length).toBe(1);
});
