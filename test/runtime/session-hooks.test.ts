import { expect, test } from "vitest";
import type { HookContext } from "../../runtime/authoring/hooks.js";
import type { SessionEvent } from "../../runtime/session/event.js";
import { agentOf, alice, eventsOf, openSessions, run, tempDir } from "./support/sessions.js";

test("hooks get recorded events in order, named ones and *, one frozen object for all", async () => {
  const seen: [string, SessionEvent][] = [];
  const sessions = await openSessions({
    hooks: {
      "audit/all": { "*": async (event: SessionEvent) => void seen.push(["all", event]) },
      turns: { "turn.completed": (event: SessionEvent) => void seen.push(["turns", event]) },
    },
  });
  const { sessionId } = await run(sessions, "hello");
  const events = await eventsOf(sessions, sessionId);
  const all = seen.filter(([hook]) => hook === "all").map(([, event]) => event);
  expect(all).toEqual(events);
  const ended = seen.filter(([, event]) => event.type === "turn.completed").map(([, event]) => event);
  expect(ended).toHaveLength(2);
  expect(ended[0]).toBe(ended[1]);
  expect(Object.isFrozen(ended[0]) && Object.isFrozen(ended[0]?.data)).toBe(true);
});

test("a throwing handler is logged in the documented words and the next ones run", async () => {
  let ran = 0;
  const sessions = await openSessions({
    hooks: {
      broken: {
        "turn.completed": async () => {
          throw new Error("boom");
        },
        "message.received"(event: { data: { text: string } }) {
          event.data.text = "changed";
        },
      },
      fine: { "turn.completed": () => ran++ },
    },
  });
  const { sessionId } = await run(sessions, "hello");
  expect(sessions.logged).toContain('error hook "broken" handler for turn.completed threw: boom');
  expect(sessions.logged.join("\n")).toContain('hook "broken" handler for message.received threw: Cannot assign');
  expect(ran).toBe(1);
  expect((await eventsOf(sessions, sessionId))[1]?.data).toEqual({ text: "hello" });
});

test("a slow handler holds the next event of its session, never the model", async () => {
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const seen: string[] = [];
  const sessions = await openSessions({
    hooks: {
      slow: {
        "*": async (event: SessionEvent) => {
          if (event.type === "turn.started") await held;
          seen.push(event.type);
        },
      },
    },
  });
  const { sessionId } = await sessions.create(alice, { message: "hello", channelId: "http" });
  await expect.poll(async () => (await sessions.get(alice, sessionId)).status).toBe("waiting");
  expect(seen).toEqual(["session.started", "message.received"]);
  release();
  await sessions.settled(sessionId);
  expect(seen).toEqual((await eventsOf(sessions, sessionId)).map(({ type }) => type));
});

test("the handler's context is the documented one", async () => {
  const contexts: HookContext[] = [];
  const sessions = await openSessions({
    hooks: {
      meter: {
        "turn.completed": async (_event: SessionEvent, ctx: HookContext) => {
          contexts.push(ctx);
          ctx.host.otel.increment("turns", { channel: ctx.channel.id });
          ctx.host.otel.histogram("length", 5);
          ctx.host.otel.tag("team", "red");
          await ctx.host.kv.put(`last:${ctx.session.id}`, { ok: true });
          await ctx.host.files.write("log.txt", "mine");
          await ctx.host.files.append("all.txt", "ours", { scope: "deployment" });
        },
      },
    },
  });
  const { sessionId, continuationToken } = await run(sessions, "hello", { title: "T", purpose: "eval" });
  const [ctx] = contexts;
  expect(ctx?.session).toEqual({
    id: sessionId,
    channelId: "http",
    mode: "chat",
    purpose: "eval",
    title: "T",
    auth: { kind: "bearer", id: "alice" },
  });
  expect(ctx?.channel).toEqual({ id: "http", continuationToken });
  expect(ctx?.agent).toEqual({ name: "Bot" });
  expect(ctx?.stateRoot.startsWith(sessions.root)).toBe(true);
  expect(sessions.measurements.counters()).toEqual([{ name: "turns", tags: { channel: "http" }, value: 1 }]);
  expect(sessions.measurements.histograms()).toEqual([{ name: "length", tags: {}, count: 1, sum: 5, min: 5, max: 5 }]);
  expect(sessions.measurements.tags(sessionId)).toEqual({ team: "red" });
  expect(sessions.logged.join("\n")).toContain(`otel counter turns 1 channel=http session=${sessionId}`);
  expect(await sessions.services().kv.get(`last:${sessionId}`)).toEqual({ ok: true });
  const task = await run(sessions, "report", { mode: "task" });
  expect(contexts.find(({ session }) => session.id === task.sessionId)?.channel.continuationToken).toBeNull();
});

test("recorded events are not replayed into hooks after a restart; new code's hooks see what follows", async () => {
  const root = tempDir();
  const seen: [string, number][] = [];
  const agent = (name: string) => ({
    hooks: { all: { "*": ({ index }: SessionEvent) => void seen.push([name, index]) } },
  });
  const first = await openSessions({ root, ...agent("first") });
  const { sessionId, continuationToken } = await run(first, "one");
  await first.close();
  let current = agentOf(agent("second"));
  const second = await openSessions({ root, options: { generation: () => current } });
  await second.recover();
  const before = seen.length;
  current = agentOf(agent("third"));
  await second.followUp(alice, { sessionId, continuationToken, message: "two" });
  await second.settled(sessionId);
  expect(seen.slice(0, before).every(([name]) => name === "first")).toBe(true);
  expect(seen.slice(before).every(([name]) => name === "third")).toBe(true);
  expect(seen.map(([, index]) => index)).toEqual((await eventsOf(second, sessionId)).map(({ index }) => index));
});

test("listeners of the service see the same events until they leave; one that throws is logged", async () => {
  const sessions = await openSessions();
  const seen: string[] = [];
  const leave = sessions.onEvent(({ type }) => void seen.push(type));
  sessions.onEvent(({ type }) => {
    if (type === "turn.started") throw new Error("oops");
  });
  await run(sessions, "hello");
  leave();
  const before = seen.length;
  await run(sessions, "again");
  expect(before).toBeGreaterThan(5);
  expect(seen).toHaveLength(before);
  expect(sessions.logged.join("\n")).toContain("oops");
});
