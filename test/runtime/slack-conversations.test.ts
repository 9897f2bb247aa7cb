/** Which conversation a message belongs to, who decides about it, and what a session is told. */
import { expect, test } from "vitest";
import { defaultSlackAuth, parseSlackContinuationKey } from "../../runtime/authoring/channels/slack.js";
import { defineSchedule } from "../../runtime/authoring/schedules.js";
import { envelope, mention, message, sendEvent } from "./support/fake-slack.js";
import { call, readEvents } from "./support/host.js";
import { type SlackHost, slackParts, startSlackHost } from "./support/slack-host.js";
import { createGate } from "./support/tester.js";

const quiet = { status: false, mode: "post" } as const;
const posted = (host: SlackHost, count: number) =>
  expect.poll(() => host.slack.of("chat.postMessage").length).toBe(count);

interface Session {
  readonly id: string;
  readonly continuationToken: string;
  readonly owner: string;
  readonly title?: string;
}

/** Oldest first. */
async function sessionsOf({ base }: SlackHost): Promise<Session[]> {
  const { sessions } = (await call(`${base}/v1/sessions`)).body as unknown as { sessions: Session[] };
  return sessions.reverse();
}

async function textsOf(host: SlackHost, session: Session | undefined): Promise<string[]> {
  const events = await readEvents(host.base, session?.id ?? "");
  return events.flatMap((event) => (event.type === "message.received" ? [event.data.text] : []));
}

test("a thread is one conversation; a direct message joins the person's one conversation, outside any thread", async () => {
  const host = await startSlackHost({ reply: quiet });
  await sendEvent(host.events, envelope(mention("one", { ts: "1.000001" })));
  await posted(host, 1);
  await sendEvent(host.events, envelope(mention("two", { ts: "2.000001", thread_ts: "1.000001" })));
  await posted(host, 2);
  const direct = { channel: "D0ADA", channel_type: "im" };
  await sendEvent(host.events, envelope(message("hi", { ...direct, ts: "3.000001" })));
  await posted(host, 3);
  await sendEvent(host.events, envelope(message("again &lt;b&gt; &amp;c", { ...direct, ts: "4.000001" })));
  await posted(host, 4);
  await sendEvent(host.events, envelope(message("in a thread", { ...direct, ts: "5.000001", thread_ts: "3.000001" })));
  await posted(host, 5);
  const sessions = await sessionsOf(host);
  expect(sessions.map(({ continuationToken }) => continuationToken)).toEqual([
    "slack:C0OPS:1.000001",
    "slack:D0ADA",
    "slack:D0ADA:3.000001",
  ]);
  expect(await textsOf(host, sessions[0])).toEqual(["one", "two"]);
  expect(await textsOf(host, sessions[1])).toEqual(["hi", "again <b> &c"]);
  expect(host.slack.posted.map(({ channel, thread_ts: thread }) => [channel, thread])).toEqual([
    ["C0OPS", "1.000001"],
    ["C0OPS", "1.000001"],
    ["D0ADA", undefined],
    ["D0ADA", undefined],
    ["D0ADA", "3.000001"],
  ]);
});

test("slack.dmthread/v2: each top-level direct message is a conversation of its own, answered in its thread", async () => {
  const host = await startSlackHost({ reply: quiet, continuation: "slack.dmthread/v2" });
  for (const ts of ["1.000001", "2.000001"]) {
    await sendEvent(host.events, envelope(message("hi", { channel: "D0ADA", channel_type: "im", ts })));
  }
  await posted(host, 2);
  const keys = (await sessionsOf(host)).map(({ continuationToken }) => continuationToken);
  expect(keys.sort()).toEqual(["slack:D0ADA:1.000001", "slack:D0ADA:2.000001"]);
  expect(host.slack.posted.map(({ thread_ts: thread }) => thread).sort()).toEqual(["1.000001", "2.000001"]);
});

test("a handler sees the message, posts in its thread, ignores with null, and gives owner, title and context", async () => {
  const seen: unknown[] = [];
  const host = await startSlackHost({
    reply: quiet,
    async onAppMention(ctx, said) {
      seen.push(said);
      if (said.body === "ignore me") return null;
      await ctx.thread.post(`On it, **${said.author?.id}**`);
      await ctx.host.kv.put("last", said.ts);
      return { auth: defaultSlackAuth(said, ctx), title: "A title", context: ["Be brief.", "It is Monday."] };
    },
  });
  await sendEvent(host.events, envelope(mention("ignore me", { ts: "1.000001" })));
  await sendEvent(
    host.events,
    envelope(mention("hello <@U0EVE>", { ts: "2.000001", user_profile: { display_name: "Ada" } })),
  );
  await posted(host, 2);
  expect(seen).toEqual([
    expect.objectContaining({ body: "ignore me" }),
    {
      text: "<@U0BOT> hello <@U0EVE>",
      body: "hello <@U0EVE>",
      channelId: "C0OPS",
      teamId: "T1",
      ts: "2.000001",
      author: { id: "U0ADA", name: "Ada", isBot: false },
    },
  ]);
  expect(host.slack.posted[0]).toMatchObject({ thread_ts: "2.000001", text: "On it, *U0ADA*" });
  const [session, ...others] = await sessionsOf(host);
  expect(others).toEqual([]);
  expect(session).toMatchObject({ title: "A title", owner: "channel:slack:T1:U0ADA" });
  expect(await textsOf(host, session)).toEqual(["Be brief.\nIt is Monday.\n\nhello <@U0EVE>"]);
});

test("a handler that throws is logged, and holds up nothing", async () => {
  const host = await startSlackHost({
    reply: quiet,
    onAppMention(ctx, said) {
      if (said.body === "bad") throw new Error("handler is broken");
      if (said.body === "odd") return { title: "no owner" } as never;
      return { auth: defaultSlackAuth(said, ctx) };
    },
  });
  await sendEvent(host.events, envelope(mention("bad")));
  await sendEvent(host.events, envelope(mention("odd")));
  await sendEvent(host.events, envelope(mention("good")));
  await posted(host, 1);
  for (const told of ["handler is broken", "must return null or { auth: { kind, id }"]) {
    expect(host.lines.some(({ message: line }) => line.includes(told))).toBe(true);
  }
});

test("what is said while a turn runs waits for it: one more turn at most, and nothing interrupted", async () => {
  const script = JSON.stringify({ rules: [{ when: "first", steps: [[{ call: "hold" }], [{ text: "one" }]] }] });
  const gate = createGate();
  const hold = { description: "Waits.", effect: "read", execute: () => gate.opened };
  const parts = { tools: { hold }, params: [{ id: "script", value: script }] };
  const host = await startSlackHost({ reply: quiet }, parts);
  await sendEvent(host.events, envelope(mention("first", { ts: "1.000001" })));
  await expect.poll(async () => (await sessionsOf(host)).length).toBe(1);
  for (const [at, text] of ["second", "third"].entries()) {
    await sendEvent(host.events, envelope(mention(text, { ts: `2.00000${at + 1}`, thread_ts: "1.000001" })));
  }
  const [session] = await sessionsOf(host);
  await expect.poll(() => textsOf(host, session)).toHaveLength(3);
  gate.open();
  await expect.poll(async () => (await readEvents(host.base, session?.id ?? "")).at(-1)?.type).toBe("session.waiting");
  const events = await readEvents(host.base, session?.id ?? "");
  expect(await textsOf(host, session)).toEqual(["first", "second", "third"]);
  expect(events.filter(({ type }) => type === "turn.failed")).toEqual([]);
  expect(events.filter(({ type }) => type === "turn.completed").length).toBeLessThanOrEqual(2);
});

test("channel posts are heard where allowed, by id or name, at top level, bots too; several within the quiet are one turn", async () => {
  const heard: string[] = [];
  const host = await startSlackHost({
    reply: quiet,
    engagement: { channelPosts: { allow: ["#alerts", "C0LOGS"], debounceMs: 1_500 } },
    onChannelPost(ctx, said) {
      heard.push(said.body);
      return said.body.includes("noise") ? null : { auth: defaultSlackAuth(said, ctx), context: ["An alert:"] };
    },
  });
  host.slack.answer("conversations.info", ({ channel }) => ({
    ok: true,
    channel: { id: channel, name: channel === "C0ALERT" ? "alerts" : "random" },
  }));
  const bot = { bot_id: "B9", subtype: "bot_message", user: undefined, channel: "C0ALERT" };
  await sendEvent(host.events, envelope(message("CPU high", { ...bot, ts: "1.000001" })));
  await sendEvent(host.events, envelope(message("noise", { ...bot, ts: "1.500001" })));
  await sendEvent(host.events, envelope(message("Disk full", { ...bot, ts: "2.000001" })));
  await sendEvent(host.events, envelope(message("in a thread", { ...bot, ts: "3.000001", thread_ts: "1.000001" })));
  await sendEvent(host.events, envelope(message("elsewhere", { channel: "C0OTHER", ts: "4.000001" })));
  await sendEvent(host.events, envelope(message("log line", { channel: "C0LOGS", ts: "5.000001" })));
  await posted(host, 2);
  expect(heard.sort()).toEqual(["CPU high", "Disk full", "log line", "noise"].sort());
  const sessions = await sessionsOf(host);
  const byKey = Object.fromEntries(
    await Promise.all(sessions.map(async (each) => [each.continuationToken, await textsOf(host, each)] as const)),
  );
  expect(byKey).toEqual({
    "slack:C0ALERT:1.000001": ["An alert:\n\nCPU high\n\nDisk full"],
    "slack:C0LOGS:5.000001": ["An alert:\n\nlog line"],
  });
  expect(
    host.slack
      .of("conversations.info")
      .map(({ args: { channel } }) => channel)
      .sort(),
  ).toEqual(["C0ALERT", "C0OTHER"]);
});

test("without handlers: people are answered, bots only at the top of a channel that is heard, by name with # or without", async () => {
  const host = await startSlackHost({
    reply: quiet,
    engagement: { channelPosts: { allow: ["alerts"], posts: "all" } },
  });
  host.slack.answer("conversations.info", ({ channel }) => ({
    ok: true,
    channel: { id: channel, name: channel === "C0ALERT" ? "alerts" : "random" },
  }));
  await sendEvent(host.events, envelope(mention("beep", { bot_id: "B9" })));
  await sendEvent(host.events, envelope(message("a post")));
  const alerts = { channel: "C0ALERT", bot_id: "B9" };
  await sendEvent(host.events, envelope(message("an answer", { ...alerts, ts: "2.000001", thread_ts: "1.000001" })));
  await sendEvent(host.events, envelope(message("an alert", { ...alerts, ts: "3.000001" })));
  await posted(host, 1);
  await sendEvent(host.events, envelope(mention("a person")));
  await posted(host, 2);
  const keys = (await sessionsOf(host)).map(({ continuationToken }) => continuationToken);
  expect(keys).toEqual(["slack:C0ALERT:3.000001", "slack:C0OPS:1700000000.000001"]);
});

test("a conversation opened with the app gets its suggested prompts", async () => {
  const prompts = [{ title: "Triage", message: "Triage today's alerts" }];
  const host = await startSlackHost({ suggestedPrompts: prompts, suggestedPromptsTitle: "What now?" });
  const thread = { user_id: "U0ADA", channel_id: "D0ADA", thread_ts: "1.000001", context: {} };
  await sendEvent(
    host.events,
    envelope({ type: "assistant_thread_started", assistant_thread: thread, event_ts: "1.1" }),
  );
  await expect.poll(() => host.slack.said().length).toBe(1);
  expect(host.slack.said()).toMatchObject([
    {
      method: "assistant.threads.setSuggestedPrompts",
      args: { channel_id: "D0ADA", thread_ts: "1.000001", title: "What now?", prompts },
    },
  ]);
});

test("a schedule hands work in: to a thread, or to a channel, where the reply begins the thread", async () => {
  const targets: Record<string, unknown>[] = [
    { channelId: "C0OPS", threadTs: "9.000001" },
    { channelId: "C0OPS" },
    { channelId: "#ops" },
    { threadTs: "9.000001" },
  ];
  const parts = slackParts({ reply: quiet });
  const slack = parts.definitions?.["channel:slack"] as never;
  const schedules = targets.map((target, n) =>
    defineSchedule({
      cron: "0 9 * * *",
      async run({ receive, appAuth }) {
        await receive(slack, { message: `work ${n}`, auth: appAuth, target: target as never });
      },
    }),
  );
  const host = await startSlackHost(
    { reply: quiet },
    {
      manifest: {
        schedules: schedules.map(({ cron }, n) => ({
          id: `schedule:s${n}`,
          source: `bot/schedules/s${n}.ts:1`,
          layer: "project" as const,
          name: `s${n}`,
          cron,
          form: "run" as const,
        })),
      },
      definitions: Object.fromEntries(schedules.map((each, n) => [`schedule:s${n}`, each])),
    },
    { definition: slack },
  );
  const dispatch = (name: string) => call(`${host.base}/v1/dev/schedules/${name}`, { method: "POST" });
  await dispatch("s0");
  await posted(host, 1);
  expect(host.slack.posted[0]).toMatchObject({ channel: "C0OPS", thread_ts: "9.000001" });
  await dispatch("s1");
  await posted(host, 2);
  const { channel, thread_ts: thread, ts } = host.slack.posted[1] ?? {};
  expect([channel, thread]).toEqual(["C0OPS", undefined]);
  await expect
    .poll(async () => (await sessionsOf(host)).map(({ continuationToken }) => continuationToken))
    .toEqual(["slack:C0OPS:9.000001", `slack:C0OPS:${ts}`]);
  // Whoever answers in that thread continues the schedule's conversation.
  await sendEvent(host.events, envelope(mention("go on", { ts: "1800000000.000001", thread_ts: ts })));
  await posted(host, 3);
  expect(await textsOf(host, (await sessionsOf(host))[1])).toEqual(["work 1", "go on"]);
  for (const [name, why] of [
    ["s2", "target.channelId must be the id of a channel"],
    ["s3", "target.channelId must be the id of a channel"],
  ] as const) {
    await dispatch(name);
    await expect.poll(() => host.lines.some(({ message: line }) => line.includes(why))).toBe(true);
  }
});

test("envPrefix names the variables of one app among several; getClient() has that app's token", async () => {
  const host = await startSlackHost(
    { reply: quiet, envPrefix: "TRIAGE" },
    {},
    {
      env: {
        SLACK_BOT_TOKEN: "xoxb-other",
        TRIAGE_SLACK_BOT_TOKEN: "xoxb-triage",
        TRIAGE_SLACK_SIGNING_SECRET: "s3cr3t!",
        SLACK_SIGNING_SECRET: "",
      },
    },
  );
  expect(await sendEvent(host.events, envelope(mention("hi")))).toBe(401);
  const { signed } = await import("./support/fake-slack.js");
  const body = envelope(mention("hi"));
  expect(await sendEvent(host.events, body, signed(JSON.stringify(body), "s3cr3t!"))).toBe(200);
  await posted(host, 1);
  expect(new Set(host.slack.calls.map(({ token }) => token))).toEqual(new Set(["xoxb-triage"]));
});

test("keys are read as they are written", () => {
  expect(parseSlackContinuationKey("C0OPS:1700000000.000100")).toEqual({
    channelId: "C0OPS",
    threadTs: "1700000000.000100",
  });
  expect(parseSlackContinuationKey("D0ADA")).toEqual({ channelId: "D0ADA" });
  expect(parseSlackContinuationKey("C0OPS:new-7f3a")).toEqual({ channelId: "C0OPS" });
  for (const key of [undefined, "", "pr:acme/x#1", "c0ops", "C0OPS:", "C0OPS:1", "X0OPS:1.1"]) {
    expect(parseSlackContinuationKey(key)).toBeUndefined();
  }
});
