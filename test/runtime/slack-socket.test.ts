/** Socket Mode against a WebSocket server on loopback: acknowledged when safe, once each, and back after a break. */
import { expect, test, vi } from "vitest";
import { defaultSlackAuth, type SlackChannelOptions, slackChannel } from "../../runtime/authoring/channels/slack.js";
import { makeBundle } from "./support/bundle.js";
import { envelope, mention, message, pressPayload, signed, startFakeSlack } from "./support/fake-slack.js";
import { call, startHost } from "./support/host.js";
import { type SlackHost, slackParts, startSlackHost } from "./support/slack-host.js";

const socketOnly = { SLACK_APP_TOKEN: "xapp-test-token", SLACK_SIGNING_SECRET: "" };

async function start(options = {}, parts = {}, more = {}): Promise<SlackHost> {
  const host = await startSlackHost({ reply: { status: false }, ...options }, parts, { env: socketOnly, ...more });
  await expect.poll(() => host.lines.some(({ message: line }) => line.includes("connected to Slack"))).toBe(true);
  return host;
}

function wrapped(payload: unknown, envelopeId: string, type = "events_api") {
  return {
    envelope_id: envelopeId,
    type,
    accepts_response_payload: false,
    payload,
    retry_attempt: 0,
    retry_reason: "",
  };
}

const acks = ({ slack }: SlackHost) => slack.socket.received.map(({ envelope_id: id }) => id);
const posted = ({ slack }: SlackHost, count: number) =>
  expect.poll(() => slack.of("chat.postMessage").length).toBe(count);

test("an envelope is acknowledged and becomes one turn; the app token opens the connection, the bot token answers", async () => {
  const host = await start();
  host.slack.socket.send(wrapped(envelope(mention("hello")), "e1"));
  await posted(host, 1);
  expect(acks(host)).toEqual(["e1"]);
  expect(host.slack.of("apps.connections.open").map(({ token }) => token)).toEqual(["xapp-test-token"]);
  expect(host.slack.of("chat.postMessage").map(({ token }) => token)).toEqual(["xoxb-test-token"]);
});

test("the same event in several envelopes is acknowledged each time and runs once; what is of no interest is acknowledged too", async () => {
  const host = await start();
  const event = envelope(mention("hello"), "Ev0SAME");
  for (const id of ["e1", "e2", "e3"]) host.slack.socket.send(wrapped(event, id));
  host.slack.socket.send(wrapped(envelope({ type: "reaction_added" }), "e4"));
  host.slack.socket.send(wrapped({ command: "/x" }, "e5", "slash_commands"));
  await expect.poll(() => acks(host).sort()).toEqual(["e1", "e2", "e3", "e4", "e5"]);
  await posted(host, 1);
  expect(((await call(`${host.base}/v1/sessions`)).body.sessions as unknown[]).length).toBe(1);
});

test("Slack asks for a new connection, or the line breaks: the app comes back and hears on", async () => {
  const host = await start();
  const { socket } = host.slack;
  socket.send({ type: "disconnect", reason: "refresh_requested" });
  await expect.poll(() => socket.connections.length).toBe(2);
  socket.send(wrapped(envelope(mention("after a refresh", { ts: "1.000001" })), "e1"));
  await posted(host, 1);
  socket.connections.at(-1)?.terminate();
  await expect.poll(() => socket.connections.length).toBe(3);
  socket.send(
    wrapped(envelope(message("after a break", { channel: "D0ADA", channel_type: "im", ts: "2.000001" })), "e2"),
  );
  await posted(host, 2);
  expect(acks(host)).toEqual(["e1", "e2"]);
});

test("Slack can't be reached, or refuses: the app tries again and the server goes on", async () => {
  const slack = await startFakeSlack();
  slack.answer("apps.connections.open", (_args, count) =>
    count === 1 ? { ok: false, error: "internal_error" } : count === 2 ? { status: 503 } : undefined,
  );
  const host = await start({}, {}, { slack });
  expect(slack.of("apps.connections.open")).toHaveLength(3);
  expect(host.lines.filter(({ message: line }) => line.includes("no connection to Slack"))).toHaveLength(2);
  slack.socket.send(wrapped(envelope(mention("hello")), "e1"));
  await posted(host, 1);
});

test("a pressed button comes over the socket too", async () => {
  const ran = vi.fn(() => "paid");
  const pay = { description: "Pays.", needsApproval: true, execute: ran };
  const script = JSON.stringify({ rules: [{ steps: [[{ call: "pay" }], [{ text: "Paid." }]] }] });
  const host = await start({}, { tools: { pay }, params: [{ id: "script", value: script }] });
  host.slack.socket.send(wrapped(envelope(mention("pay")), "e1"));
  await posted(host, 1);
  const question = host.slack.posted[0];
  const blocks = question?.blocks as { elements?: { value: string }[] }[];
  const press = { value: blocks[1]?.elements?.[0]?.value ?? "", actionId: "bdk:approve", ts: String(question?.ts) };
  host.slack.socket.send(wrapped(pressPayload(press), "e2", "interactive"));
  await posted(host, 2);
  expect(ran).toHaveBeenCalledTimes(1);
  expect(acks(host)).toEqual(["e1", "e2"]);
});

test("the connection closes with the server", async () => {
  const host = await start();
  const [connection] = host.slack.socket.connections;
  await host.close();
  await expect.poll(() => connection?.readyState).toBe(3);
  expect(host.slack.socket.connections).toHaveLength(1);
});

test("new code takes the connection over: its handlers hear what comes next, and what was waiting together is taken", async () => {
  const answering = (who: string): SlackChannelOptions => ({
    reply: { status: false },
    engagement: { channelPosts: { allow: ["C0LOGS"], debounceMs: 60_000 } },
    onAppMention: (ctx, said) => ({ auth: defaultSlackAuth(said, ctx), context: [`${who} code`] }),
  });
  const host = await start(answering("old"));
  const { slack } = host;
  slack.socket.send(wrapped(envelope(message("a log line", { channel: "C0LOGS", ts: "1.000001" })), "e1"));
  await expect.poll(() => acks(host)).toEqual(["e1"]);
  await host.swap(makeBundle([slackParts(answering("new"))], { hash: "sha256:two" }));
  await expect.poll(() => slack.socket.connections.length).toBe(2);
  await expect.poll(() => slack.socket.connections[0]?.readyState).toBe(3);
  await posted(host, 1);
  expect(slack.posted[0]?.channel).toBe("C0LOGS");
  slack.socket.send(wrapped(envelope(mention("hello", { ts: "2.000001" })), "e2"));
  await posted(host, 2);
  expect(slack.posted[1]?.text).toContain("new code");
});

test("two channels of one bot are two apps: each hears with its own secret and answers with its own token; one app twice is told", async () => {
  const slack = await startFakeSlack();
  const { manifest, definitions } = slackParts({ envPrefix: "MAIN" });
  const [main] = manifest?.channels ?? [];
  if (main === undefined) throw new Error("no channel");
  const second = (envPrefix: string): Parameters<typeof makeBundle>[0][0] => ({
    manifest: {
      channels: [
        { ...main, options: { envPrefix: "MAIN" } },
        { ...main, id: "channel:second", name: "second", options: { envPrefix } },
      ],
    },
    definitions: { ...definitions, "channel:second": slackChannel({ envPrefix, reply: { status: false } }) },
  });
  const variables = {
    SLACK_API_URL: slack.url,
    MAIN_SLACK_BOT_TOKEN: "xoxb-main",
    MAIN_SLACK_SIGNING_SECRET: "secret-main",
    MORE_SLACK_BOT_TOKEN: "xoxb-more",
    MORE_SLACK_SIGNING_SECRET: "secret-more",
  };
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  const host = await startHost(makeBundle([second("MORE")]), { dev: true });
  const send = async (channel: string, secret: string) => {
    const body = JSON.stringify(envelope(mention("hello", { ts: `${channel.length}.000001` })));
    const headers = { "content-type": "application/json", ...signed(body, secret) };
    return (await fetch(`${host.base}/v1/channels/${channel}/events`, { method: "POST", body, headers })).status;
  };
  expect(await send("slack", "secret-more")).toBe(401);
  expect(await send("second", "secret-more")).toBe(200);
  await expect.poll(() => slack.of("chat.postMessage").map(({ token }) => token)).toEqual(["xoxb-more"]);
  expect(await send("slack", "secret-main")).toBe(200);
  await expect.poll(() => slack.of("chat.postMessage").map(({ token }) => token)).toEqual(["xoxb-more", "xoxb-main"]);
  await host.close();

  const warned = async () => {
    const { lines, close } = await startHost(makeBundle([second("")]), { dev: true });
    await close();
    return lines.some(({ level, message: line }) => level === "warn" && line.includes("connect to one app"));
  };
  vi.stubEnv("SLACK_APP_TOKEN", "xapp-one");
  expect(await warned()).toBe(false);
  vi.stubEnv("MAIN_SLACK_APP_TOKEN", "xapp-one");
  expect(await warned()).toBe(true);
});
