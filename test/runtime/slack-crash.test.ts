/**
 * kill -9 anywhere between an event and its reply: the emitted server, alone in its folder, ends with one turn and one
 * reply. Whether a post that nobody answered for has arrived is asked of Slack.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, expect, test } from "vitest";
import { type Emitted, emitProject } from "./support/emitted.js";
import {
  envelope,
  type FakeSlack,
  mention,
  pressButton,
  sendEvent,
  signingSecret,
  startFakeSlack,
} from "./support/fake-slack.js";
import { call, readEvents } from "./support/host.js";

let emitted: Emitted;
let threads = 0;

beforeAll(async () => {
  emitted = await emitProject({
    "bot/channels/slack.ts": `import { appendFileSync } from "node:fs";
import { defaultSlackAuth, slackChannel } from "@cursor/bdk/channels/slack";

export default slackChannel({
  reply: { status: false, mode: process.env.MODE === "stream" ? "stream" : "post" },
  async onAppMention(ctx, message) {
    appendFileSync(process.env.NOTES ?? "", message.body + "\\n");
    if (process.env.HANG === "handler") await new Promise(() => undefined);
    return { auth: defaultSlackAuth(message, ctx) };
  },
});
`,
    "bot/tools/pay.ts": `import { defineTool } from "@cursor/bdk/tools";

export default defineTool({ description: "Pays.", needsApproval: true, execute: () => "paid" });
`,
  });
});

afterEach(() => emitted.kill());

interface Bot {
  readonly slack: FakeSlack;
  readonly events: string;
  readonly url: string;
  notes(): string[];
  restart(env?: Readonly<Record<string, string>>): Promise<Bot>;
}

async function start(slack: FakeSlack, thread: string, env: Readonly<Record<string, string>> = {}): Promise<Bot> {
  const notes = join(emitted.work, `notes-${thread}.txt`);
  const variables = {
    SLACK_API_URL: slack.url,
    SLACK_BOT_TOKEN: "xoxb-test-token",
    SLACK_SIGNING_SECRET: signingSecret,
    NOTES: notes,
    ...env,
  };
  const url = await emitted.start(variables, [
    "--state-root",
    join(emitted.work, `state-${thread}`),
    "--allow-anonymous",
  ]);
  return {
    slack,
    url,
    events: `${url}/v1/channels/slack/events`,
    notes: () => (existsSync(notes) ? readFileSync(notes, "utf8").trim().split("\n") : []),
    async restart(next = {}) {
      await emitted.kill();
      return start(slack, thread, next);
    },
  };
}

/** A conversation of its own for each test. */
const inThread = () => {
  threads += 1;
  return `${threads}.000001`;
};

/** Sessions and the messages they were sent, of one thread. */
async function received({ url }: Bot, thread: string): Promise<string[][]> {
  const { body } = await call(`${url}/v1/sessions`);
  const sessions = (body.sessions ?? []) as { id: string; continuationToken: string }[];
  const own = sessions.filter(({ continuationToken }) => continuationToken === `slack:C0OPS:${thread}`);
  return Promise.all(
    own.map(async ({ id }) =>
      (await readEvents(url, id)).flatMap((event) => (event.type === "message.received" ? [event.data.text] : [])),
    ),
  );
}

const never = () => new Promise<undefined>(() => undefined);

test("killed while the project's handler decides: the next process decides again, and one turn follows", async () => {
  const thread = inThread();
  const first = await start(await startFakeSlack(), thread, { HANG: "handler" });
  expect(await sendEvent(first.events, envelope(mention("hello", { ts: thread }), "Ev0A"))).toBe(200);
  await expect.poll(first.notes).toEqual(["hello"]);
  const second = await first.restart();
  await expect.poll(() => second.slack.posted.length).toBe(1);
  expect(second.notes()).toEqual(["hello", "hello"]);
  // Slack, which was answered, sends it once more all the same.
  expect(await sendEvent(second.events, envelope(mention("hello", { ts: thread }), "Ev0A"))).toBe(200);
  expect(await sendEvent(second.events, envelope(mention("bye", { ts: "9.1", thread_ts: thread }), "Ev0B"))).toBe(200);
  await expect.poll(() => second.slack.posted.length).toBe(2);
  expect(second.notes()).toEqual(["hello", "hello", "bye"]);
});

test("killed while the reply is on its way and never arrived: it is posted once, after the restart", async () => {
  const thread = inThread();
  const slack = await startFakeSlack();
  slack.answer("chat.postMessage", (_args, count) => (count === 1 ? never() : undefined));
  const first = await start(slack, thread);
  await sendEvent(first.events, envelope(mention("hello", { ts: thread }), "Ev0C"));
  await expect.poll(() => slack.of("chat.postMessage").length).toBe(1);
  const second = await first.restart();
  await expect.poll(() => slack.posted.length).toBe(1);
  expect(slack.methods()).toEqual(["chat.postMessage", "conversations.replies", "chat.postMessage"]);
  expect(slack.posted[0]).toMatchObject({ channel: "C0OPS", thread_ts: thread });
  expect(second.notes()).toEqual(["hello"]);
});

test("killed when Slack had taken the reply and nobody had heard of it: it is not posted again", async () => {
  const thread = inThread();
  const slack = await startFakeSlack();
  slack.answer("chat.postMessage", (args, count) => {
    if (count > 1) return undefined;
    slack.posted.push({ ...args, ts: "1700000099.000100" });
    return never();
  });
  const first = await start(slack, thread);
  await sendEvent(first.events, envelope(mention("hello", { ts: thread }), "Ev0D"));
  await expect.poll(() => slack.posted.length).toBe(1);
  const second = await first.restart();
  await expect.poll(() => slack.of("conversations.replies").length).toBe(1);
  // What is said next is answered, and the first reply stands alone.
  await sendEvent(second.events, envelope(mention("bye", { ts: "9.2", thread_ts: thread }), "Ev0E"));
  await expect.poll(() => slack.posted.length).toBe(2);
  expect(slack.methods()).toEqual(["chat.postMessage", "conversations.replies", "chat.postMessage"]);
});

test("killed after the message was sent and before that was noted: it is not sent again", async () => {
  const thread = inThread();
  const first = await start(await startFakeSlack(), thread);
  for (const [text, ts] of [
    ["one", thread],
    ["two", "8.1"],
  ] as const) {
    await sendEvent(
      first.events,
      envelope(mention(text, { ts, thread_ts: ts === thread ? undefined : thread }), `Ev0X${ts}`),
    );
    await expect.poll(() => first.slack.posted.length).toBe(text === "one" ? 1 : 2);
  }
  await emitted.kill();
  const inbox = join(emitted.work, `state-${thread}`, "inbox.ndjson");
  const lines = readFileSync(inbox, "utf8").split("\n");
  writeFileSync(inbox, lines.filter((line) => !line.includes('"is":"done"')).join("\n"));
  const second = await start(first.slack, thread);
  await expect.poll(() => second.notes().length).toBe(4);
  await sendEvent(second.events, envelope(mention("three", { ts: "8.2", thread_ts: thread }), "Ev0Y"));
  await expect.poll(() => second.slack.posted.length).toBe(3);
  expect(await received(second, thread)).toEqual([["one", "two", "three"]]);
});

test("killed twice, at the event and at the reply: still one turn, one reply", async () => {
  const thread = inThread();
  const slack = await startFakeSlack();
  slack.answer("chat.postMessage", (_args, count) => (count === 1 ? never() : undefined));
  const first = await start(slack, thread, { HANG: "handler" });
  await sendEvent(first.events, envelope(mention("hello", { ts: thread }), "Ev0F"));
  await expect.poll(first.notes).toEqual(["hello"]);
  const second = await first.restart();
  await expect.poll(() => slack.of("chat.postMessage").length).toBe(1);
  const third = await second.restart({});
  await expect.poll(() => slack.posted.length).toBe(1);
  expect(await received(third, thread)).toEqual([["hello"]]);
});

test("killed while a call waits for a human: it is asked about once, and the button still works", async () => {
  const thread = inThread();
  const first = await start(await startFakeSlack(), thread);
  await sendEvent(first.events, envelope(mention("/pay {}", { ts: thread }), "Ev0G"));
  await expect.poll(() => first.slack.posted.length).toBe(1);
  const second = await first.restart();
  const question = second.slack.posted[0];
  const blocks = question?.blocks as { elements?: { value: string }[] }[];
  const value = blocks[1]?.elements?.[0]?.value ?? "";
  await pressButton(second.events, { value, actionId: "bdk:approve", ts: String(question?.ts) });
  await expect.poll(() => second.slack.posted.length).toBe(2);
  expect(second.slack.of("chat.update")[0]?.args).toMatchObject({ ts: question?.ts, text: "Approved: pay" });
  expect(second.slack.posted[1]?.text).toContain("paid");
});

test("killed while a reply grows: the same message grows on, and is whole at the end", async () => {
  const thread = inThread();
  const script = join(emitted.work, "script.json");
  const text = ["The first half, ", "the second half."];
  const acts = [{ text: text[0] }, { delay: 3_000 }, { text: text[1] }];
  writeFileSync(script, JSON.stringify({ rules: [{ steps: [acts] }] }));
  const env = { MODE: "stream", BDK_OFFLINE_SCRIPT: script };
  const first = await start(await startFakeSlack(), thread, env);
  await sendEvent(first.events, envelope(mention("hello", { ts: thread }), "Ev0H"));
  await expect.poll(() => first.slack.posted.length).toBe(1);
  const { slack } = await first.restart(env);
  await expect.poll(() => slack.of("chat.update").at(-1)?.args.text).toBe(text.join(""));
  expect(slack.posted).toHaveLength(1);
  expect(slack.of("chat.update").at(-1)?.args.ts).toBe(slack.posted[0]?.ts);
});
