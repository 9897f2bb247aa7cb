/** The example bot that lives in Slack, built and run alone in its folder: a day of its life against a Slack on loopback. */
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { type Emitted, emitProject } from "./support/emitted.js";
import { envelope, mention, message, pressPayload, startFakeSlack } from "./support/fake-slack.js";

const project = "fixtures/projects/oncall";
let emitted: Emitted;

beforeAll(async () => {
  const files = readdirSync(project, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile() && each.name !== "tsconfig.json")
    .map((each) => join(each.parentPath, each.name));
  emitted = await emitProject(
    Object.fromEntries(files.map((file) => [relative(project, file), readFileSync(file, "utf8")])),
  );
});

test("mention, alert storm, approval, direct message, prompts and a page, over Socket Mode", async () => {
  const slack = await startFakeSlack();
  await emitted.start(
    {
      SLACK_API_URL: slack.url,
      ONCALL_SLACK_BOT_TOKEN: "xoxb-oncall",
      ONCALL_SLACK_APP_TOKEN: "xapp-oncall",
      BDK_MODEL: "offline",
    },
    ["--no-schedules"],
  );
  await expect.poll(() => slack.socket.connections.length).toBe(1);
  let serial = 0;
  const send = (payload: unknown, type = "events_api") => {
    serial += 1;
    slack.socket.send({ envelope_id: `e${serial}`, type, payload, accepts_response_payload: false });
  };
  const posts = (count: number) => expect.poll(() => slack.posted.length).toBe(count);
  const lastText = () =>
    [...slack.of("chat.update"), ...slack.of("chat.postMessage")].map(({ args }) => String(args.text));

  send(envelope(mention('/look_up {"service":"checkout"}', { ts: "1.000001" })));
  await posts(1);
  await expect.poll(() => lastText().some((text) => text.includes("degraded"))).toBe(true);
  expect(slack.posted[0]).toMatchObject({ channel: "C0OPS", thread_ts: "1.000001" });

  send(envelope(mention("thanks!", { ts: "2.000001", thread_ts: "1.000001" })));
  await posts(2);
  expect(slack.posted[1]?.text).toBe("You're welcome.");

  // Three alerts within the quiet, and one that says that all is well: one turn, in the first one's thread.
  const alert = { channel: "C0ALERTS01", bot_id: "B9", subtype: "bot_message", user: undefined };
  for (const [text, ts] of [
    ["CPU high", "3.000001"],
    ["CPU resolved", "3.100001"],
    ["Disk full", "3.200001"],
  ] as const) {
    send(envelope(message(text, { ...alert, ts })));
  }
  await posts(3);
  expect(slack.posted[2]).toMatchObject({ channel: "C0ALERTS01", thread_ts: "3.000001" });
  await expect
    .poll(() => lastText().some((text) => text.includes("CPU high") && text.includes("Disk full")))
    .toBe(true);
  expect(lastText().some((text) => text.includes("resolved"))).toBe(false);

  send(envelope(mention('/restart {"service":"search"}', { ts: "4.000001" })));
  await posts(4);
  const question = slack.posted[3];
  const blocks = question?.blocks as { elements?: { value: string }[] }[];
  const value = blocks[1]?.elements?.[0]?.value ?? "";
  send(pressPayload({ value, actionId: "bdk:approve", ts: String(question?.ts) }), "interactive");
  await posts(5);
  expect(slack.of("chat.update").some(({ args }) => args.text === "Approved: restart")).toBe(true);

  send(envelope(message("hello", { channel: "D0ADA", channel_type: "im", ts: "5.000001" })));
  await posts(6);
  expect(slack.posted[5]).toMatchObject({ channel: "D0ADA", thread_ts: "5.000001" });

  const thread = { user_id: "U0ADA", channel_id: "D0ADA", thread_ts: "6.000001", context: {} };
  send(envelope({ type: "assistant_thread_started", assistant_thread: thread, event_ts: "6.1" }));
  await expect.poll(() => slack.of("assistant.threads.setSuggestedPrompts").length).toBe(1);

  send(envelope(mention('/page {"channelId":"C0PAY","text":"Checkout is down"}', { ts: "7.000001" })));
  await expect.poll(() => slack.posted.some(({ channel }) => channel === "C0PAY")).toBe(true);
  expect(slack.posted.find(({ channel }) => channel === "C0PAY")?.text).toBe("Checkout is down (asked in <#C0OPS>)");

  expect(slack.socket.received).toHaveLength(serial);
  const tokens = new Set(slack.calls.map(({ token }) => token));
  expect([...tokens].sort()).toEqual(["xapp-oncall", "xoxb-oncall"]);
});
