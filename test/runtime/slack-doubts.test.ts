/** Posts whose answer was lost, and a Slack that is busy or broken: each message is there once. */
import { expect, test } from "vitest";
import { envelope, mention, message, sendEvent } from "./support/fake-slack.js";
import { type SlackHost, startSlackHost } from "./support/slack-host.js";

const posted = ({ slack }: SlackHost, count: number) => expect.poll(() => slack.posted.length).toBe(count);

test("an answer that was lost, with the message taken: Slack is asked, and it is not posted again", async () => {
  const host = await startSlackHost({ reply: { status: false } });
  host.slack.answer("chat.postMessage", (args, count) => {
    if (count > 1) return undefined;
    host.slack.posted.push({ ...args, ts: "1700000099.000100" });
    return { status: 502 };
  });
  await sendEvent(host.events, envelope(mention("one")));
  await expect.poll(() => host.slack.methods()).toEqual(["chat.postMessage", "conversations.replies"]);
  await sendEvent(host.events, envelope(mention("two", { ts: "2.1" })));
  await posted(host, 2);
  expect(host.slack.of("chat.postMessage")).toHaveLength(2);
});

test("an answer that was lost, and the message with it: it is posted again", async () => {
  const host = await startSlackHost({ reply: { status: false } });
  host.slack.answer("chat.postMessage", (_args, count) =>
    count === 1 ? { status: 503 } : count === 2 ? { ok: false, error: "fatal_error" } : undefined,
  );
  await sendEvent(host.events, envelope(mention("one")));
  await posted(host, 1);
  expect(host.slack.methods()).toEqual([
    "chat.postMessage",
    "conversations.replies",
    "chat.postMessage",
    "conversations.replies",
    "chat.postMessage",
  ]);
});

test("the thread may not be read: a reply is rather posted twice than lost, and the log says why", async () => {
  const host = await startSlackHost({ reply: { status: false } });
  host.slack.answer("chat.postMessage", (_args, count) => (count === 1 ? { status: 503 } : undefined));
  host.slack.answer("conversations.replies", () => ({ ok: false, error: "missing_scope", needed: "channels:history" }));
  await sendEvent(host.events, envelope(mention("one")));
  await posted(host, 1);
  expect(host.lines.some(({ message }) => message.includes("missing_scope (needs the scope channels:history)"))).toBe(
    true,
  );
});

test("too many calls: the app waits as long as Slack says, asks nothing, and posts once", async () => {
  const host = await startSlackHost({ reply: { status: false } });
  host.slack.answer("chat.postMessage", (_args, count) => (count === 1 ? { status: 429, retryAfter: 1 } : undefined));
  await sendEvent(host.events, envelope(mention("one")));
  await posted(host, 1);
  expect(host.slack.methods()).toEqual(["chat.postMessage", "chat.postMessage"]);
});

test("a refusal is final, logged with Slack's code and no token, and the next turn is answered", async () => {
  const host = await startSlackHost({ reply: { status: false } });
  host.slack.answer("chat.postMessage", (_args, count) =>
    count === 1 ? { ok: false, error: "is_archived" } : undefined,
  );
  await sendEvent(host.events, envelope(mention("one")));
  await expect.poll(() => host.lines.some(({ message }) => message.includes("is_archived"))).toBe(true);
  await sendEvent(host.events, envelope(mention("two", { ts: "2.1" })));
  await posted(host, 1);
  expect(host.slack.of("chat.postMessage")).toHaveLength(2);
  expect(JSON.stringify(host.lines)).not.toContain("xoxb-");
});

test("no bot token: the server starts, says so, and what would post fails by the variable's name", async () => {
  const host = await startSlackHost(
    { reply: { status: false }, envPrefix: "OPS" },
    {},
    {
      env: { OPS_SLACK_SIGNING_SECRET: "8f742231b10e8888abcd99yyyzzz85a5" },
    },
  );
  expect(await sendEvent(host.events, envelope(mention("one")))).toBe(200);
  const told = () => host.lines.filter(({ message }) => message.includes("OPS_SLACK_BOT_TOKEN is not set")).length;
  await expect.poll(told).toBe(2);
  expect(host.slack.calls).toEqual([]);
});

test("the page of a proxy in place of Slack's answer: it is looked for and posted again, not given up", async () => {
  const host = await startSlackHost({ reply: { status: false } });
  host.slack.answer("chat.postMessage", (_args, count) =>
    count === 1 ? { ok: false, error: "<html>Bad gateway</html>" } : undefined,
  );
  await sendEvent(host.events, envelope(mention("one")));
  await posted(host, 1);
  expect(host.slack.methods()).toEqual(["chat.postMessage", "conversations.replies", "chat.postMessage"]);
});

test.each([
  ["is refused for a minute", { status: 429, retryAfter: 60 }],
  ["fails", { status: 503 }],
  ["is never answered", new Promise<undefined>(() => undefined)],
])("a status line that %s holds up no reply", async (_name, answer) => {
  const host = await startSlackHost();
  host.slack.answer("assistant.threads.setStatus", () => answer);
  await sendEvent(host.events, envelope(mention("one")));
  await posted(host, 1);
});

test("a mention whose text is edited afterwards is one turn; a message without text is none, and no failure", async () => {
  const host = await startSlackHost({ reply: { status: false } });
  await sendEvent(host.events, envelope(mention("one")));
  await posted(host, 1);
  await sendEvent(
    host.events,
    envelope(mention("one, edited", { edited: { user: "U0ADA", ts: "1700000005.000000" } })),
  );
  await sendEvent(host.events, envelope(message("", { channel: "D0ADA", channel_type: "im", ts: "3.1" })));
  await sendEvent(host.events, envelope(mention("two", { ts: "2.1" })));
  await posted(host, 2);
  expect(host.slack.posted.map(({ thread_ts: thread }) => thread)).toEqual(["1700000000.000001", "2.1"]);
  expect(host.lines.filter(({ level }) => level === "error")).toEqual([]);
});
