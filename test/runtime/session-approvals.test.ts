import { expect, test } from "vitest";
import {
  alice,
  eventsOf,
  type OpenOptions,
  only,
  openSessions,
  run,
  tempDir,
  typesOf,
  waitFor,
} from "./support/sessions.js";

/** An agent whose `pay` needs a human; `paid` tells how often it really ran. */
function payingAgent(paid: string[]): OpenOptions {
  return {
    tools: {
      pay: {
        needsApproval: (input: { to: string }) => input.to !== "me",
        execute: ({ to }: { to: string }) => {
          paid.push(to);
          return { paid: to };
        },
      },
      look: { effect: "read", execute: () => "seen" },
    },
  };
}

test("a gated call is parked, listed, approved and then run; the turn goes on", async () => {
  const paid: string[] = [];
  const sessions = await openSessions(payingAgent(paid));
  const { sessionId } = await run(sessions, '/pay {"to":"bob"}\n/look {}\n/pay {"to":"me"}');
  expect(paid).toEqual(["me"]);
  expect(await sessions.get(alice, sessionId)).toMatchObject({ status: "awaiting_approval" });
  const [pending, ...others] = await sessions.approvals(alice, sessionId);
  expect(others).toEqual([]);
  expect(pending).toMatchObject({ toolName: "pay", args: { to: "bob" }, requestedAt: expect.any(String) });
  const callId = pending?.callId ?? "";
  await sessions.resolveApproval(alice, sessionId, callId, "approve", false);
  await sessions.settled(sessionId);
  expect(paid).toEqual(["me", "bob"]);
  const events = await eventsOf(sessions, sessionId);
  expect(only(events, "action.approval_resolved")[0]?.data).toEqual({
    callId,
    decision: "approve",
    by: "bearer:alice",
  });
  expect(only(events, "turn.completed")).toHaveLength(1);
  expect(await sessions.approvals(alice, sessionId)).toEqual([]);
  await expect(sessions.resolveApproval(alice, sessionId, callId, "deny", false)).rejects.toMatchObject({
    code: "approval_resolved",
    status: 409,
  });
  await expect(sessions.resolveApproval(alice, sessionId, "call_other", "deny", false)).rejects.toMatchObject({
    code: "not_found",
  });
});

test("several parked calls are decided in any order; a denied one is told to the model and not run", async () => {
  const paid: string[] = [];
  const sessions = await openSessions(payingAgent(paid));
  const { sessionId } = await run(sessions, '/pay {"to":"a"}\n/pay {"to":"b"}\n/pay {"to":"c"}');
  const [a, b, c] = (await sessions.approvals(alice, sessionId)).map(({ callId }) => callId);
  await sessions.resolveApproval(alice, sessionId, c ?? "", "approve", false);
  await sessions.resolveApproval(alice, sessionId, a ?? "", "deny", false);
  await sessions.settled(sessionId);
  expect(paid).toEqual(["c"]);
  expect(await sessions.get(alice, sessionId)).toMatchObject({ status: "awaiting_approval" });
  await sessions.resolveApproval(alice, sessionId, b ?? "", "approve", false);
  await sessions.settled(sessionId);
  expect(paid).toEqual(["c", "b"]);
  const results = only(await eventsOf(sessions, sessionId), "action.result").map(({ data }) => data);
  expect(results.find(({ callId }) => callId === a)).toMatchObject({ isError: true });
  expect(await sessions.get(alice, sessionId)).toMatchObject({ status: "waiting" });
});

test("a parked call survives a restart with the same id, and can then be approved", async () => {
  const root = tempDir();
  const paid: string[] = [];
  const first = await openSessions({ root, ...payingAgent(paid) });
  const { sessionId } = await run(first, '/pay {"to":"bob"}');
  const before = await first.approvals(alice, sessionId);
  await first.close();
  const second = await openSessions({ root, ...payingAgent(paid) });
  await second.recover();
  expect(await second.approvals(alice, sessionId)).toEqual(before);
  expect(await second.get(alice, sessionId)).toMatchObject({ status: "awaiting_approval" });
  await second.resolveApproval(alice, sessionId, before[0]?.callId ?? "", "approve", false);
  await second.settled(sessionId);
  expect(paid).toEqual(["bob"]);
  expect(only(await eventsOf(second, sessionId), "action.approval_requested")).toHaveLength(1);
});

test("a new message and a stop cancel a parked call", async () => {
  const paid: string[] = [];
  const sessions = await openSessions(payingAgent(paid));
  const { sessionId, continuationToken } = await run(sessions, '/pay {"to":"bob"}');
  const next = await sessions.followUp(alice, { sessionId, continuationToken, message: '/pay {"to":"eve"}' });
  await waitFor(
    sessions,
    sessionId,
    ({ type, data }) => type === "action.approval_requested" && JSON.stringify(data).includes("eve"),
  );
  expect(await sessions.stop(alice, sessionId)).toEqual({ stopped: true });
  await sessions.settled(sessionId);
  const events = await eventsOf(sessions, sessionId);
  expect(only(events, "action.approval_resolved").map(({ data }) => data.decision)).toEqual(["cancelled", "cancelled"]);
  expect(only(events, "turn.failed").map(({ data }) => data.status)).toEqual(["cancelled", "cancelled"]);
  expect(only(events, "action.result")).toHaveLength(2);
  expect(paid).toEqual([]);
  await sessions.followUp(alice, { sessionId, continuationToken: next.continuationToken, message: "hello" });
  await sessions.settled(sessionId);
  expect((await typesOf(sessions, sessionId)).at(-1)).toBe("session.waiting");
});

test("a coalesced message while parked waits for the decision and is delivered with it", async () => {
  const sessions = await openSessions(payingAgent([]));
  const { sessionId, continuationToken } = await run(sessions, '/pay {"to":"bob"}');
  await sessions.followUp(alice, { sessionId, continuationToken, message: "hurry", admission: "coalesce" });
  await sessions.settled(sessionId);
  const [pending] = await sessions.approvals(alice, sessionId);
  await sessions.resolveApproval(alice, sessionId, pending?.callId ?? "", "approve", false);
  await sessions.settled(sessionId);
  const events = await eventsOf(sessions, sessionId);
  expect(only(events, "action.approval_requested")).toHaveLength(1);
  expect(only(events, "turn.started")).toHaveLength(1);
});

test("a parked turn frees its running slot and takes one again", async () => {
  const sessions = await openSessions({ ...payingAgent([]), manifest: { concurrency: { maxRunningTurns: 1 } } });
  const parked = await run(sessions, '/pay {"to":"bob"}');
  const other = await run(sessions, "hello");
  expect(await sessions.get(alice, other.sessionId)).toMatchObject({ status: "waiting" });
  const [pending] = await sessions.approvals(alice, parked.sessionId);
  await sessions.resolveApproval(alice, parked.sessionId, pending?.callId ?? "", "approve", false);
  await sessions.settled(parked.sessionId);
  expect(await sessions.get(alice, parked.sessionId)).toMatchObject({ status: "waiting" });
});

test("a question that throws counts as yes; direct calls ask nobody", async () => {
  const sessions = await openSessions({
    tools: {
      odd: {
        needsApproval: () => {
          throw new Error("no idea");
        },
        execute: () => "ran",
      },
    },
  });
  const { sessionId } = await run(sessions, "/odd {}");
  expect(await sessions.approvals(alice, sessionId)).toHaveLength(1);
  expect(await sessions.callTool(alice, { toolName: "odd", input: {} })).toMatchObject({ result: "ran" });
});
