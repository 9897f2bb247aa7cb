/** Direct tool calls and the tool catalog over real HTTP. */
import { expect, test } from "vitest";
import { makeBundle } from "./support/bundle.js";
import { call, followUntil, isWaiting, readEvents, startHost, startSession } from "./support/host.js";
import { createTester } from "./support/tester.js";

test("an unbound call runs the tool and says how long it took", async () => {
  const { base } = await startHost(makeBundle([createTester().parts]));
  const { status, body } = await call(`${base}/v1/tools/add`, { body: { input: { a: 2, b: 3 }, surplus: true } });
  expect(status).toBe(200);
  expect(body).toEqual({
    ok: true,
    toolName: "add",
    callId: expect.stringMatching(/^tool_add_[0-9A-HJKMNP-TV-Z]{26}$/),
    isError: false,
    result: { sum: 5 },
    durationMs: expect.any(Number),
  });
});

test("defaults of the schema apply, and input defaults to {}", async () => {
  const { base } = await startHost(makeBundle([createTester().parts]));
  expect((await call(`${base}/v1/tools/add`, { body: { input: { a: 2 } } })).body.result).toEqual({ sum: 3 });
  expect((await call(`${base}/v1/tools/boom`, { method: "POST" })).body).toMatchObject({ ok: true, isError: true });
});

test("a thrown error is a result, not a failure of the request", async () => {
  const { base } = await startHost(makeBundle([createTester().parts]));
  const { status, body } = await call(`${base}/v1/tools/boom`, { body: {} });
  expect(status).toBe(200);
  expect(body).toMatchObject({ ok: true, isError: true, result: { message: "the fuse is gone" } });
  expect(JSON.stringify(body)).not.toContain("tester.ts");
});

test("input that fails its schema is 400 with the issues", async () => {
  const { base } = await startHost(makeBundle([createTester().parts]));
  const { status, body } = await call(`${base}/v1/tools/add`, { body: { input: { a: "two" } } });
  expect(status).toBe(400);
  expect(body).toMatchObject({ ok: false, error: "invalid_input" });
  expect(JSON.stringify(body.issues)).toContain("a");
});

test("an unknown tool is 404 with the names that there are", async () => {
  const { base } = await startHost(makeBundle([createTester().parts]));
  for (const method of ["POST", "GET"]) {
    const { status, body } = await call(`${base}/v1/tools/subtract`, { method });
    expect(status).toBe(404);
    expect(body).toMatchObject({ ok: false, error: "unknown_tool" });
    expect(body.available).toContain("add");
  }
});

test("an agent-execution tool can't be called on the host", async () => {
  const { base } = await startHost(makeBundle([createTester().parts]));
  const { status, body } = await call(`${base}/v1/tools/script`, { body: {} });
  expect(status).toBe(400);
  expect(body).toMatchObject({ ok: false, error: "invalid_request" });
});

test("sessionId and continuationToken exclude each other", async () => {
  const { base } = await startHost(makeBundle([createTester().parts]));
  const { sessionId, continuationToken } = await startSession(base, { message: "hello" });
  const { status, body } = await call(`${base}/v1/tools/add`, {
    body: { input: { a: 1 }, sessionId, continuationToken },
  });
  expect(status).toBe(400);
  expect(body.error).toBe("invalid_request");
});

test("a malformed continuation token is 400", async () => {
  const { base } = await startHost(makeBundle([createTester().parts]));
  const { status, body } = await call(`${base}/v1/tools/add`, { body: { input: { a: 1 }, continuationToken: "nope" } });
  expect(status).toBe(400);
  expect(body.error).toBe("invalid_continuation_token");
});

test("a bound call is recorded on the session's stream", async () => {
  const { base } = await startHost(makeBundle([createTester().parts]));
  const { sessionId } = await startSession(base, { message: "hello" });
  await followUntil(base, sessionId, isWaiting);
  const { body } = await call(`${base}/v1/tools/note`, { body: { input: { text: "milk" }, sessionId } });
  expect(body).toMatchObject({ ok: true, isError: false });
  const events = await readEvents(base, sessionId);
  expect(events.filter((event) => event.type === "action.result")).toMatchObject([
    { data: { callId: body.callId, toolName: "note", isError: false } },
  ]);
});

test("a bound write while a turn runs is 409, a read runs beside it", async () => {
  const tester = createTester();
  const { base } = await startHost(makeBundle([tester.parts]));
  const { sessionId } = await startSession(base, { message: "/wait {}" });
  await tester.begun.opened;
  const write = await call(`${base}/v1/tools/note`, { body: { input: { text: "x" }, sessionId } });
  expect([write.status, write.body.error]).toEqual([409, "session_busy"]);
  const read = await call(`${base}/v1/tools/add`, { body: { input: { a: 1 }, sessionId } });
  expect(read.status).toBe(200);
  expect(tester.notes).toEqual([]);
  tester.gate.open();
  await followUntil(base, sessionId, isWaiting);
});

test("the catalog lists server tools in light entries, and one tool in full", async () => {
  const { base } = await startHost(makeBundle([createTester().parts]));
  const { body } = await call(`${base}/v1/tools`);
  expect(body.tools).toContainEqual({ name: "add", title: "Add numbers" });
  expect(body.tools).not.toContainEqual(expect.objectContaining({ name: "script" }));
  expect(body.connectionErrors).toEqual([]);
  const one = await call(`${base}/v1/tools/add`);
  expect(one.body).toMatchObject({
    name: "add",
    title: "Add numbers",
    description: "Adds two numbers.",
    execution: "server",
    effect: "read",
    needsApproval: false,
    inputSchema: { type: "object", required: ["a"] },
    source: "bot/tools/add.ts:1",
  });
});

test("a catalog bound to a session needs that session", async () => {
  const { base } = await startHost(makeBundle([createTester().parts]));
  const { sessionId, continuationToken } = await startSession(base, { message: "hello" });
  const query = (text: string) => call(`${base}/v1/tools?${text}`);
  expect((await query(`session=${sessionId}`)).status).toBe(200);
  expect((await query("session=ses_nobody")).status).toBe(404);
  const bound = (token: string) => query(`continuationToken=${encodeURIComponent(token)}`);
  expect((await bound(continuationToken)).status).toBe(200);
  for (const unknown of ["nope", "http:nobody", `${continuationToken}x`, "slack:C1/1.2"]) {
    expect(await bound(unknown)).toMatchObject({ status: 400, body: { error: "invalid_continuation_token" } });
  }
  const answer = await call(`${base}/v1/session/${sessionId}`, { body: { continuationToken, message: "again" } });
  expect((await bound(continuationToken)).status).toBe(400);
  expect((await bound(String(answer.body.continuationToken))).status).toBe(200);
  expect((await query(`session=${sessionId}&continuationToken=${encodeURIComponent(continuationToken)}`)).status).toBe(
    400,
  );
});
