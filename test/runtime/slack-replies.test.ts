/** What Slack sees of a turn: exactly these calls, in this order. */
import { expect, test } from "vitest";
import * as z from "zod/v4";
import type { SlackChannelOptions } from "../../runtime/authoring/channels/slack.js";
import { type AgentParts, makeBundle } from "./support/bundle.js";
import { envelope, mention, message, pressButton, type SlackCall, sendEvent } from "./support/fake-slack.js";
import { call, readEvents } from "./support/host.js";
import { type SlackHost, slackParts, startSlackHost } from "./support/slack-host.js";

/** The model does as the script says. */
function scripted(steps: readonly unknown[], more: AgentParts = {}): AgentParts {
  const script = JSON.stringify({ rules: [{ steps }] });
  return { ...more, params: [{ id: "script", value: script }] };
}

const args = ({ args: given }: SlackCall) => {
  const { metadata: _metadata, unfurl_links: _links, unfurl_media: _media, ...rest } = given;
  return rest;
};
const calls = (host: SlackHost) => host.slack.said().map((each) => [each.method, args(each)]);
const posted = (host: SlackHost, count: number) =>
  expect.poll(() => host.slack.of("chat.postMessage").length).toBe(count);
const inThread = { channel: "C0OPS", thread_ts: "1700000000.000001" };

async function sessionId(host: SlackHost): Promise<string> {
  const { sessions } = (await call(`${host.base}/v1/sessions`)).body as { sessions: { id: string }[] };
  return sessions[0]?.id ?? "";
}

test("a mention: thinking, then the reply in its thread, as mrkdwn, with the app's token", async () => {
  const host = await startSlackHost(
    {},
    scripted([[{ text: ["**Three** found, ", "see [run](https://ci.example/7)."] }]]),
  );
  await sendEvent(host.events, envelope(mention("find bugs")));
  await posted(host, 1);
  expect(calls(host)).toEqual([
    ["assistant.threads.setStatus", { channel_id: "C0OPS", thread_ts: "1700000000.000001", status: "is thinking…" }],
    ["chat.postMessage", { ...inThread, text: "*Three* found, see <https://ci.example/7|run>." }],
  ]);
  expect(new Set(host.slack.calls.map(({ token }) => token))).toEqual(new Set(["xoxb-test-token"]));
  const events = await readEvents(host.base, await sessionId(host));
  expect(events.find(({ type }) => type === "message.received")).toMatchObject({ data: { text: "find bugs" } });
});

test("status lines tell what it thinks and which tools it runs; idle ones take turns; the reply ends them", async () => {
  const options: SlackChannelOptions = {
    reply: { status: { reasoning: true, tools: true, idle: ["Counting sheep", "Still here"] } },
  };
  const statuses = () => host.slack.of("assistant.threads.setStatus").map(({ args: { status } }) => status);
  const seen = (status: string) => expect.poll(statuses).toContain(status);
  const tools = {
    look_up: { description: "Waits.", effect: "read", execute: () => seen("is running look_up…") },
  };
  const script = [
    [{ reasoning: "**Weighing the options**" }, { delay: 2_500 }, { call: "look_up" }],
    [{ text: "Done." }],
  ];
  const host = await startSlackHost(options, scripted(script, { tools: tools as never }));
  await sendEvent(host.events, envelope(mention("go")));
  await posted(host, 1);
  const [first] = host.slack.of("assistant.threads.setStatus");
  expect(statuses()).toContain("is thinking: Weighing the options");
  expect(first?.args).toMatchObject({ status: "is thinking…", loading_messages: ["Counting sheep", "Still here"] });
  expect(host.slack.methods().at(-1)).toBe("chat.postMessage");
});

test("streaming: one message that grows, and is whole at the end", async () => {
  const words = Array.from({ length: 12 }, (_each, n) => `word${n} `);
  const host = await startSlackHost(
    { reply: { mode: "stream", status: false } },
    scripted([[{ text: words.slice(0, 4) }, { delay: 1_300 }, { text: words.slice(4) }]]),
  );
  await sendEvent(host.events, envelope(mention("go")));
  const whole = words.join("").trim();
  await expect.poll(() => host.slack.of("chat.update").at(-1)?.args.text).toBe(whole);
  expect(host.slack.of("chat.postMessage")).toHaveLength(1);
  const texts = host.slack.said().map(({ args: { text } }) => String(text));
  expect(texts.every((text, at) => at === 0 || text.length >= (texts[at - 1]?.length ?? 0))).toBe(true);
  expect(texts.length).toBeGreaterThanOrEqual(2);
  const [first] = host.slack.posted;
  expect(new Set(host.slack.of("chat.update").map(({ args: { ts } }) => ts))).toEqual(new Set([first?.ts]));
});

test("streaming around a question: what was said before it stays above, the reply comes below", async () => {
  const pay = { description: "Pays.", needsApproval: true, effect: "read", execute: () => "paid" };
  const host = await startSlackHost(
    { reply: { mode: "stream", status: { tools: true } } },
    scripted([[{ text: "I will pay." }, { call: "pay" }], [{ text: ["Paid, ", "all of it."] }]], {
      tools: { pay } as never,
    }),
  );
  await sendEvent(host.events, envelope(mention("pay")));
  await posted(host, 2);
  const [before, question] = host.slack.posted;
  expect([before?.text, question?.text]).toEqual(["I will pay.", "Approval needed: pay"]);
  const blocks = question?.blocks as { elements?: { value: string }[] }[];
  const value = blocks[1]?.elements?.[0]?.value ?? "";
  await pressButton(host.events, { value, actionId: "bdk:approve", ts: String(question?.ts) });
  await posted(host, 3);
  const reply = host.slack.posted[2];
  await expect
    .poll(() => host.slack.of("chat.update").at(-1)?.args)
    .toMatchObject({
      ts: reply?.ts,
      text: "Paid, all of it.",
    });
  const ofFirst = host.slack.of("chat.update").filter(({ args: { ts } }) => ts === before?.ts);
  expect(ofFirst.map(({ args: { text } }) => text)).toEqual(["I will pay."]);
});

test("streaming with tools: the line that an edit would leave behind is taken away", async () => {
  const statuses = () => host.slack.of("assistant.threads.setStatus").map(({ args: { status } }) => status);
  const look_up = {
    description: "Waits.",
    effect: "read",
    execute: () => expect.poll(statuses).toContain("is running look_up…"),
  };
  const host = await startSlackHost(
    { reply: { mode: "stream", status: { tools: true } } },
    scripted([[{ text: "I will look." }, { call: "look_up" }], [{ text: "Found it." }]], {
      tools: { look_up } as never,
    }),
  );
  await sendEvent(host.events, envelope(mention("look")));
  await expect.poll(() => host.slack.of("chat.update").at(-1)?.args.text).toBe("Found it.");
  expect(statuses().at(-1)).toBe("");
  expect(host.slack.posted).toHaveLength(1);
});

test("an update of the bot in the middle of a turn: who began to tell of it tells its end, the next turn is the new code's", async () => {
  const told: string[] = [];
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let began = false;
  const look_up = {
    description: "Waits.",
    effect: "read",
    execute: () => {
      began = true;
      return released.then(() => "found");
    },
  };
  const version = (name: string): SlackChannelOptions => ({
    reply: { mode: "stream", status: false },
    events: { "turn.completed": () => told.push(name) },
  });
  const parts = scripted([[{ text: ["I will ", "look."] }, { call: "look_up" }], [{ text: ["Found ", "it."] }]], {
    tools: { look_up } as never,
  });
  const host = await startSlackHost(version("old"), parts);
  await sendEvent(host.events, envelope(mention("look")));
  await expect.poll(() => began).toBe(true);
  await host.swap(makeBundle([slackParts(version("new"), parts)], { hash: "sha256:two" }));
  release();
  await expect.poll(() => told).toEqual(["old"]);
  await expect.poll(() => host.slack.of("chat.update").at(-1)?.args.text).toBe("Found it.");
  expect(host.slack.posted).toHaveLength(1);
  await sendEvent(host.events, envelope(mention("once more", { ts: "1700000000.000900" })));
  await expect.poll(() => told).toEqual(["old", "new"]);
});

test("a reply without end becomes a dozen messages, of which the last says that it is cut", async () => {
  const host = await startSlackHost({}, scripted([[{ text: `${"word ".repeat(700)}\n`.repeat(20) }]]));
  await sendEvent(host.events, envelope(mention("go on")));
  await posted(host, 12);
  expect(host.slack.posted.at(-1)?.text).toBe("… (cut)");
});

test("a growing reply that somebody deleted is posted anew", async () => {
  const host = await startSlackHost(
    { reply: { mode: "stream", status: false } },
    scripted([[{ text: ["One, ", "two."] }]]),
  );
  host.slack.answer("chat.update", () => ({ ok: false, error: "message_not_found" }));
  await sendEvent(host.events, envelope(mention("count")));
  await posted(host, 2);
  expect(host.slack.posted[1]).toMatchObject({ ...inThread, text: "One, two." });
});

test("by the agent: the pack posts nothing; a tool posts with getClient() where the conversation's key says", async () => {
  const say = {
    description: "Says it in Slack.",
    inputSchema: z.object({ text: z.string() }),
    async execute({ text }: { text: string }, ctx: never) {
      const { host, session } = ctx as {
        host: { slack: { getClient(): Promise<never> } };
        session: { continuationKey: string };
      };
      const client = (await host.slack.getClient()) as { chat: { postMessage(args: unknown): Promise<unknown> } };
      const [channel, thread_ts] = session.continuationKey.split(":");
      await client.chat.postMessage({ channel, thread_ts, text });
      return "said";
    },
  };
  const host = await startSlackHost(
    { reply: { mode: "agent" } },
    scripted([[{ call: "say", input: { text: "hello from a tool" } }], [{ text: "I told them." }]], {
      tools: { say } as never,
    }),
  );
  await sendEvent(host.events, envelope(mention("go")));
  await expect.poll(() => host.slack.methods().at(-1)).toBe("assistant.threads.setStatus");
  await expect.poll(() => host.slack.of("assistant.threads.setStatus").at(-1)?.args.status).toBe("");
  expect(host.slack.of("chat.postMessage").map(args)).toEqual([{ ...inThread, text: "hello from a tool" }]);
});

test("a reply too long for one message comes in several, in order", async () => {
  const long = Array.from({ length: 300 }, (_each, n) => `line ${n} of the report`).join("\n");
  const host = await startSlackHost({ reply: { status: false } }, scripted([[{ text: long }]]));
  await sendEvent(host.events, envelope(mention("report")));
  await posted(host, 2);
  const texts = host.slack.of("chat.postMessage").map(({ args: { text } }) => String(text));
  expect(texts.join("\n")).toBe(long);
  expect(host.slack.of("chat.postMessage").every(({ args: { thread_ts: ts } }) => ts === inThread.thread_ts)).toBe(
    true,
  );
});

test("a turn that fails says so, without the error's text; Slack's refusals of status lines are told once", async () => {
  const host = await startSlackHost({}, scripted([[{ fail: "key sk-123 was refused", code: "model_unavailable" }]]));
  host.slack.answer("assistant.threads.setStatus", () => ({ ok: false, error: "missing_scope", needed: "chat:write" }));
  await sendEvent(host.events, envelope(mention("one")));
  await posted(host, 1);
  await sendEvent(host.events, envelope(mention("two", { ts: "1700000009.000001" })));
  await posted(host, 2);
  const text = String(host.slack.of("chat.postMessage")[0]?.args.text);
  expect(text).toMatch(/^:warning: Something went wrong \(model_unavailable\)\. Session `ses_\w+`$/);
  expect(host.slack.of("assistant.threads.setStatus")).toHaveLength(1);
  expect(host.lines.filter(({ message: line }) => line.includes("missing_scope"))).toHaveLength(1);
});

test("an approval is a question with two buttons; pressed, the call runs, and the question says who decided", async () => {
  const ran: unknown[] = [];
  const tools = {
    pay: {
      description: "Pays.",
      inputSchema: z.object({ amount: z.number() }),
      needsApproval: true,
      execute: (input: unknown) => {
        ran.push(input);
        return "paid";
      },
    },
  };
  const host = await startSlackHost(
    { reply: { status: false } },
    scripted([[{ call: "pay", input: { amount: 7 } }], [{ text: "All paid." }]], { tools: tools as never }),
  );
  await sendEvent(host.events, envelope(mention("pay")));
  await posted(host, 1);
  const [question] = host.slack.posted;
  expect(question).toMatchObject({ ...inThread, text: "Approval needed: pay" });
  const blocks = question?.blocks as {
    type: string;
    text?: { text: string };
    elements?: { action_id: string; value: string }[];
  }[];
  expect(blocks[0]?.text?.text).toContain('"amount": 7');
  const [approve, deny] = blocks[1]?.elements ?? [];
  expect([approve?.action_id, deny?.action_id]).toEqual(["bdk:approve", "bdk:deny"]);
  expect(ran).toEqual([]);

  const press = { value: approve?.value ?? "", actionId: "bdk:approve", ts: String(question?.ts) };
  expect(await pressButton(host.events, press)).toBe(200);
  await posted(host, 2);
  expect(ran).toEqual([{ amount: 7 }]);
  const update = host.slack.of("chat.update")[0]?.args;
  expect(update).toMatchObject({ channel: "C0OPS", ts: question?.ts, text: "Approved: pay" });
  expect(JSON.stringify(update?.blocks)).toContain("by <@U0ADA>");
  expect(JSON.stringify(update?.blocks)).not.toContain("bdk:approve");
  expect(host.slack.methods()).toEqual(["chat.postMessage", "chat.update", "chat.postMessage"]);
  expect(host.slack.posted[1]?.text).toBe("All paid.");

  // A second press, from a view that was not refreshed.
  await pressButton(host.events, { ...press, actionId: "bdk:deny" });
  await expect.poll(() => host.slack.of("chat.postEphemeral").length).toBe(1);
  expect(host.slack.of("chat.postEphemeral")[0]?.args).toMatchObject({ channel: "C0OPS", user: "U0ADA" });
  // A button that another channel's message, or nobody, ever had.
  await pressButton(host.events, { ...press, value: `ses_other ${press.value.split(" ")[1]}` });
  await expect.poll(() => host.slack.of("chat.postEphemeral").length).toBe(2);
  const events = await readEvents(host.base, await sessionId(host));
  expect(events.find(({ type }) => type === "action.approval_resolved")).toMatchObject({
    data: { decision: "approve", by: "channel:slack:T1:U0ADA" },
  });
});

test("denied: the call does not run; decided over HTTP: the question is settled all the same", async () => {
  const ran: unknown[] = [];
  const pay = { description: "Pays.", needsApproval: true, execute: () => ran.push(1) };
  const host = await startSlackHost(
    { reply: { status: false } },
    scripted([[{ call: "pay" }], [{ text: "As you wish." }]], { tools: { pay } as never }),
  );
  const ask = async (ts: string, count: number) => {
    await sendEvent(host.events, envelope(mention("pay", { ts })));
    await posted(host, count);
    const question = host.slack.posted.at(-1);
    const blocks = question?.blocks as { elements?: { value: string }[] }[];
    const value = blocks[1]?.elements?.[0]?.value ?? "";
    return { ts: String(question?.ts), value, session: value.split(" ")[0], callId: value.split(" ")[1] };
  };
  const first = await ask("1700000001.000001", 1);
  await pressButton(host.events, { ...first, actionId: "bdk:deny" });
  await posted(host, 2);
  expect(host.slack.of("chat.update").at(-1)?.args).toMatchObject({ ts: first.ts, text: "Denied: pay" });
  const second = await ask("1700000002.000001", 3);
  const url = `${host.base}/v1/session/${second.session}/approvals/${second.callId}`;
  expect((await call(url, { body: { decision: "deny" } })).status).toBe(200);
  await posted(host, 4);
  expect(host.slack.of("chat.update").at(-1)?.args).toMatchObject({ ts: second.ts, text: "Denied: pay" });
  expect(ran).toEqual([]);
});

test("the bot was updated while a call waited: the question is put once more before an approval counts", async () => {
  const ran: unknown[] = [];
  const pay = { description: "Pays.", needsApproval: true, execute: () => ran.push(1) };
  const parts = scripted([[{ call: "pay" }], [{ text: "Paid." }]], { tools: { pay } as never });
  const options: SlackChannelOptions = { reply: { status: false } };
  const first = await startSlackHost(options, parts);
  await sendEvent(first.events, envelope(mention("pay")));
  await posted(first, 1);
  const { slack, stateRoot } = first;
  await first.close();
  const host = await startSlackHost(options, parts, { slack, stateRoot, hash: "sha256:two" });
  const question = slack.posted[0];
  const blocks = question?.blocks as { elements?: { value: string }[] }[];
  const press = { value: blocks[1]?.elements?.[0]?.value ?? "", ts: String(question?.ts) };
  await pressButton(host.events, { ...press, actionId: "bdk:approve" });
  await expect.poll(() => slack.of("chat.update").length).toBe(1);
  expect(JSON.stringify(slack.of("chat.update")[0]?.args.blocks)).toContain("Approve anyway");
  expect(ran).toEqual([]);
  await pressButton(host.events, { ...press, actionId: "bdk:approve-changed" });
  await posted(host, 2);
  expect(ran).toEqual([1]);
  expect(slack.of("chat.update").at(-1)?.args.text).toBe("Approved: pay");
});

test("stop: said alone, with the mention or without, it ends the turn and what waits behind it", async () => {
  const host = await startSlackHost({ reply: { status: false } }, scripted([[{ delay: 60_000 }, { text: "never" }]]));
  await sendEvent(host.events, envelope(mention("work")));
  await sendEvent(
    host.events,
    envelope(mention("and more", { ts: "1700000003.000001", thread_ts: inThread.thread_ts })),
  );
  await expect
    .poll(
      async () =>
        (await readEvents(host.base, await sessionId(host)).catch(() => [])).filter(
          ({ type }) => type === "message.received",
        ).length,
    )
    .toBe(2);
  await sendEvent(
    host.events,
    envelope(message("please stop that", { thread_ts: inThread.thread_ts, ts: "1700000004.1" })),
  );
  await sendEvent(host.events, envelope(message("Stop!", { thread_ts: inThread.thread_ts, ts: "1700000004.000001" })));
  await posted(host, 1);
  expect(calls(host)).toEqual([["chat.postMessage", { ...inThread, text: "Stopped." }]]);
  const events = await readEvents(host.base, await sessionId(host));
  expect(
    events
      .filter(({ type }) => type === "turn.failed")
      .every((event) => event.type === "turn.failed" && event.data.status === "cancelled"),
  ).toBe(true);
  expect(events.filter(({ type }) => type === "turn.failed").length).toBeGreaterThan(0);
  expect(events.at(-1)?.type).toBe("session.waiting");
  // Elsewhere nothing is going on, and a person who says it to another is not answered.
  await sendEvent(host.events, envelope(message("stop", { ts: "1700000005.000001" })));
  await sendEvent(host.events, envelope(mention("stop", { ts: "1700000006.000001" })));
  await posted(host, 2);
  expect(host.slack.posted.at(-1)).toMatchObject({ thread_ts: "1700000006.000001", text: "There is nothing to stop." });
});
