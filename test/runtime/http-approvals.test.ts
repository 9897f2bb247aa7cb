/** Tool calls that wait for a human. */
import { expect, test } from "vitest";
import { makeBundle } from "./support/bundle.js";
import { call, followUntil, isWaiting, startHost, startSession } from "./support/host.js";
import { createTester } from "./support/tester.js";

async function parkedCall() {
  const tester = createTester();
  const host = await startHost(makeBundle([tester.parts]));
  const { sessionId } = await startSession(host.base, { message: '/gated {"text":"ship it"}' });
  await followUntil(host.base, sessionId, (event) => event.type === "action.approval_requested");
  const url = `${host.base}/v1/session/${sessionId}/approvals`;
  const { body } = await call(url);
  const approvals = body.approvals as { callId: string; toolName: string; args: unknown; requestedAt: string }[];
  const [pending] = approvals;
  if (pending === undefined) throw new Error("nothing is pending");
  return { ...host, tester, sessionId, url, pending, approvals };
}

test("a gated call is listed and runs once it is approved", async () => {
  const { base, tester, sessionId, url, pending, approvals } = await parkedCall();
  expect(approvals).toEqual([
    {
      callId: pending.callId,
      toolName: "gated",
      args: { text: "ship it" },
      requestedAt: expect.stringMatching(/^\d{4}-/),
    },
  ]);
  expect(tester.notes).toEqual([]);
  const { status, body } = await call(`${url}/${pending.callId}`, { body: { decision: "approve" } });
  expect([status, body]).toEqual([200, { ok: true, callId: pending.callId, decision: "approve" }]);
  const events = await followUntil(base, sessionId, isWaiting);
  expect(tester.notes).toEqual(["ship it"]);
  expect(events.find((event) => event.type === "action.approval_resolved")).toMatchObject({
    data: { callId: pending.callId, decision: "approve", by: "loopback:local" },
  });
  expect((await call(url)).body.approvals).toEqual([]);
});

test("a denied call does not run", async () => {
  const { base, tester, sessionId, url, pending } = await parkedCall();
  await call(`${url}/${pending.callId}`, { body: { decision: "deny" } });
  const events = await followUntil(base, sessionId, isWaiting);
  expect(tester.notes).toEqual([]);
  expect(events.find((event) => event.type === "action.result")).toMatchObject({ data: { isError: true } });
});

test("a second decision is 409, an unknown call 404, an unknown decision 400", async () => {
  const { url, pending } = await parkedCall();
  for (const body of [{}, { decision: "maybe" }, { decision: "approve", confirm: "yes" }]) {
    const answer = await call(`${url}/${pending.callId}`, { body });
    expect([answer.status, answer.body.error]).toEqual([400, "invalid_request"]);
  }
  expect((await call(`${url}/call_nothing`, { body: { decision: "approve" } })).status).toBe(404);
  expect((await call(`${url}/${pending.callId}`, { body: { decision: "approve" } })).status).toBe(200);
  const again = await call(`${url}/${pending.callId}`, { body: { decision: "deny" } });
  expect([again.status, again.body.error]).toEqual([409, "approval_resolved"]);
});

test("a parked call is still parked after a restart, under the same id", async () => {
  const { sessionId, pending, stateRoot, close } = await parkedCall();
  await close();
  const tester = createTester();
  const { base } = await startHost(makeBundle([tester.parts]), { stateRoot });
  const url = `${base}/v1/session/${sessionId}/approvals`;
  expect((await call(url)).body.approvals).toMatchObject([{ callId: pending.callId }]);
  await call(`${url}/${pending.callId}`, { body: { decision: "approve" } });
  await followUntil(base, sessionId, isWaiting);
  expect(tester.notes).toEqual(["ship it"]);
});
