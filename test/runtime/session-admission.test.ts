import { expect, test } from "vitest";
import type { OfflineScript } from "../../runtime/harness/offline/script.js";
import type { Caller } from "../../runtime/session/service.js";
import { alice, bob, eventsOf, only, openSessions, run, tempDir, typesOf, waitFor } from "./support/sessions.js";

/** "slow" talks and then waits to be interrupted; anything else is answered at once. */
const slowly: OfflineScript = {
  rules: [{ when: "slow", steps: [[{ text: "Thinking" }, { delay: 60_000 }, { text: " done" }]] }],
};

test("a follow-up continues the conversation and rotates the token; the old one is stale", async () => {
  const sessions = await openSessions();
  const { sessionId, continuationToken } = await run(sessions, "one");
  const next = await sessions.followUp(alice, { sessionId, continuationToken, message: "two" });
  expect(next.continuationToken).not.toBe(continuationToken);
  await sessions.settled(sessionId);
  await expect(sessions.followUp(alice, { sessionId, continuationToken, message: "again" })).rejects.toMatchObject({
    code: "stale_continuation_token",
    status: 409,
  });
  expect(await sessions.get(alice, sessionId)).toMatchObject({ turns: 2, continuationToken: next.continuationToken });
});

test("of two simultaneous follow-ups exactly one wins, also after a restart", async () => {
  const root = tempDir();
  const first = await openSessions({ root });
  const { sessionId, continuationToken } = await run(first, "one");
  await first.close();
  const sessions = await openSessions({ root });
  const send = () => sessions.followUp(alice, { sessionId, continuationToken, message: "two" });
  const outcomes = await Promise.allSettled([send(), send(), send()]);
  expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected", "rejected"]);
  await sessions.settled(sessionId);
  expect(only(await eventsOf(sessions, sessionId), "message.received")).toHaveLength(2);
  await sessions.close();
  const third = await openSessions({ root });
  await expect(third.followUp(alice, { sessionId, continuationToken, message: "x" })).rejects.toMatchObject({
    code: "stale_continuation_token",
  });
});

test("preempt interrupts the turn, records it as cancelled, then runs the new message", async () => {
  const sessions = await openSessions({ script: slowly });
  const { sessionId, continuationToken } = await sessions.create(alice, { message: "slow", channelId: "http" });
  await waitFor(sessions, sessionId, (event) => event.type === "message.appended");
  await sessions.followUp(alice, { sessionId, continuationToken, message: "quick" });
  await sessions.settled(sessionId);
  expect((await typesOf(sessions, sessionId)).slice(5)).toEqual([
    "message.received",
    "message.completed",
    "turn.failed",
    "turn.started",
    "step.started",
    "message.appended",
    "message.completed",
    "step.completed",
    "turn.completed",
    "session.waiting",
  ]);
  const events = await eventsOf(sessions, sessionId);
  expect(only(events, "turn.failed")[0]?.data).toEqual({
    message: "interrupted by a new message",
    status: "cancelled",
  });
  const received = only(events, "message.received");
  const started = only(events, "turn.started");
  expect(received.map(({ turnId }) => turnId)).toEqual(started.map(({ turnId }) => turnId));
});

test("coalesce leaves the turn running; the message is delivered at a tool boundary", async () => {
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const sessions = await openSessions({
    tools: { wait: { effect: "read", execute: () => held } },
    script: { rules: [{ when: "start", steps: [[{ call: "wait" }]] }] },
  });
  const { sessionId, continuationToken } = await sessions.create(alice, { message: "start", channelId: "http" });
  await waitFor(sessions, sessionId, (event) => event.type === "actions.requested");
  await sessions.followUp(alice, { sessionId, continuationToken, message: "also this", admission: "coalesce" });
  release();
  await sessions.settled(sessionId);
  const events = await eventsOf(sessions, sessionId);
  expect(only(events, "turn.started")).toHaveLength(1);
  expect(only(events, "turn.completed")).toHaveLength(1);
  expect(new Set(only(events, "message.received").map(({ turnId }) => turnId)).size).toBe(1);
});

test("coalesced messages that no step has seen become one follow-up turn; stop drops them", async () => {
  let release = (): void => undefined;
  let held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const seen: string[][] = [];
  const sessions = await openSessions({
    harness: {
      async *step({ messages, signal }) {
        seen.push(messages.flatMap((message) => (message.role === "user" ? [message.text] : [])));
        yield { type: "text", delta: "hm" };
        await Promise.race([held, new Promise((resolve) => signal.addEventListener("abort", resolve))]);
        yield { type: "finish", reason: "stop" };
      },
    },
  });
  let { sessionId, continuationToken } = await sessions.create(alice, { message: "a", channelId: "http" });
  const coalesce = async (message: string) => {
    const answer = await sessions.followUp(alice, { sessionId, continuationToken, message, admission: "coalesce" });
    continuationToken = answer.continuationToken;
  };
  await waitFor(sessions, sessionId, (event) => event.type === "message.appended");
  await coalesce("b");
  await coalesce("c");
  release();
  await sessions.settled(sessionId);
  expect(seen).toEqual([["a"], ["a", "b", "c"]]);
  expect(only(await eventsOf(sessions, sessionId), "turn.started")).toHaveLength(2);

  held = new Promise(() => undefined);
  ({ continuationToken } = await sessions.followUp(alice, { sessionId, continuationToken, message: "d" }));
  await waitFor(sessions, sessionId, (event) => event.type === "message.received" && event.data.text === "d");
  await coalesce("e");
  expect(await sessions.stop(alice, sessionId)).toEqual({ stopped: true });
  await sessions.settled(sessionId);
  expect(only(await eventsOf(sessions, sessionId), "turn.started")).toHaveLength(3);
  expect(await sessions.get(alice, sessionId)).toMatchObject({ status: "waiting" });
});

test("stop interrupts a turn and leaves the session ready; with nothing running it stops nothing", async () => {
  const sessions = await openSessions({ script: slowly });
  const { sessionId, continuationToken } = await sessions.create(alice, { message: "slow", channelId: "http" });
  await waitFor(sessions, sessionId, (event) => event.type === "message.appended");
  expect(await sessions.get(alice, sessionId)).toMatchObject({ status: "running" });
  expect(await sessions.stop(alice, sessionId)).toEqual({ stopped: true });
  expect(await sessions.stop(alice, sessionId)).toEqual({ stopped: false });
  await sessions.settled(sessionId);
  expect((await typesOf(sessions, sessionId)).slice(-3)).toEqual([
    "message.completed",
    "turn.failed",
    "session.waiting",
  ]);
  await sessions.followUp(alice, { sessionId, continuationToken, message: "quick" });
  await sessions.settled(sessionId);
  expect(await sessions.get(alice, sessionId)).toMatchObject({ status: "waiting", turns: 2 });
});

test("turns beyond maxRunningTurns wait with their position, and run in order", async () => {
  const sessions = await openSessions({ script: slowly, manifest: { concurrency: { maxRunningTurns: 1 } } });
  const running = await sessions.create(alice, { message: "slow", channelId: "http" });
  await waitFor(sessions, running.sessionId, (event) => event.type === "message.appended");
  const queued = [];
  for (const message of ["a", "b", "c"]) {
    const { sessionId } = await sessions.create(alice, { message, channelId: "http" });
    await waitFor(sessions, sessionId, (event) => event.type === "turn.queued");
    queued.push(sessionId);
  }
  const positions = [];
  for (const id of queued) positions.push(only(await eventsOf(sessions, id), "turn.queued")[0]?.data.position);
  expect(positions).toEqual([1, 2, 3]);
  const [first = "", second = "", third = ""] = queued;
  expect(await sessions.get(alice, first)).toMatchObject({ status: "queued", turns: 0 });
  expect(await sessions.stop(alice, second)).toEqual({ stopped: true });
  await sessions.stop(alice, running.sessionId);
  for (const id of queued) await sessions.settled(id);
  expect(await typesOf(sessions, second)).not.toContain("turn.started");
  const ends = [];
  for (const id of [first, third]) ends.push(only(await eventsOf(sessions, id), "turn.completed")[0]?.at ?? "");
  expect([...ends].sort()).toEqual(ends);
});

test("every method refuses another principal, and says so; an unknown session is not found", async () => {
  const sessions = await openSessions();
  const { sessionId, continuationToken } = await run(sessions, "mine");
  const never = new AbortController().signal;
  const attempts = (caller: Caller, id: string) => [
    sessions.get(caller, id),
    sessions.followUp(caller, { sessionId: id, continuationToken, message: "x" }),
    sessions.stop(caller, id),
    sessions.read(caller, id, 0),
    sessions.follow(caller, id, 0, never),
    sessions.approvals(caller, id),
    sessions.resolveApproval(caller, id, "call_x", "approve", false),
  ];
  for (const attempt of attempts(bob, sessionId)) await expect(attempt).rejects.toMatchObject({ code: "forbidden" });
  for (const attempt of attempts(alice, "ses_none")) await expect(attempt).rejects.toMatchObject({ code: "not_found" });
  expect((await sessions.list(bob, { limit: 10 })).sessions).toEqual([]);
  expect((await sessions.list({ ...bob, seesAll: true }, { limit: 10 })).sessions).toHaveLength(1);
  expect(await sessions.get({ ...bob, seesAll: true }, sessionId)).toMatchObject({ id: sessionId });
});

test("the list is newest first and pages", async () => {
  const sessions = await openSessions();
  const ids = [];
  for (const message of ["1", "2", "3", "4", "5"]) ids.unshift((await run(sessions, message)).sessionId);
  const first = await sessions.list(alice, { limit: 2 });
  const second = await sessions.list(alice, { limit: 2, cursor: first.nextCursor ?? "" });
  const third = await sessions.list(alice, { limit: 2, cursor: second.nextCursor ?? "" });
  expect([first, second, third].flatMap((page) => page.sessions.map(({ id }) => id))).toEqual(ids);
  expect(third.nextCursor).toBeUndefined();
});

test("an idempotency key gives the first answer again: at once, later, and after a restart", async () => {
  const root = tempDir();
  const sessions = await openSessions({ root });
  const create = (service = sessions) =>
    service.create(alice, { message: "once", channelId: "http", idempotencyKey: "k1" });
  const [first, second] = await Promise.all([create(), create()]);
  expect(second).toEqual(first);
  await sessions.settled(first.sessionId);
  expect(await create()).toEqual(first);
  expect((await sessions.create(bob, { message: "x", channelId: "http", idempotencyKey: "k1" })).sessionId).not.toBe(
    first.sessionId,
  );
  const followUp = (service = sessions) =>
    service.followUp(alice, {
      sessionId: first.sessionId,
      continuationToken: first.continuationToken,
      message: "twice",
      idempotencyKey: "k2",
    });
  const third = await followUp();
  expect(await followUp()).toEqual(third);
  await sessions.settled(first.sessionId);
  await sessions.close();
  const again = await openSessions({ root });
  expect(await create(again)).toEqual(first);
  expect(await followUp(again)).toEqual(third);
  expect((await again.list(alice, { limit: 10 })).sessions).toHaveLength(1);
  expect(only(await eventsOf(again, first.sessionId), "message.received")).toHaveLength(2);
});

test("a channel's key names one session, and does not rotate", async () => {
  const sessions = await openSessions();
  const request = { message: "ticket", channelId: "desk", continuationKey: "T-1" };
  const { sessionId, continuationToken } = await sessions.create(alice, request);
  expect(continuationToken).toBe("desk:T-1");
  await expect(sessions.create(alice, request)).rejects.toMatchObject({ code: "token_in_use" });
  await sessions.settled(sessionId);
  for (const message of ["a", "b"]) {
    expect((await sessions.followUp(alice, { sessionId, continuationToken, message })).continuationToken).toBe(
      "desk:T-1",
    );
    await sessions.settled(sessionId);
  }
});
