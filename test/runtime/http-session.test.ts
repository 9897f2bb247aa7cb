/** Creating, continuing, stopping and listing sessions over real HTTP. */
import { expect, test } from "vitest";
import { makeBundle } from "./support/bundle.js";
import {
  call,
  followUntil,
  isWaiting,
  nth,
  playgroundFolder,
  readEvents,
  startHost,
  startSession,
} from "./support/host.js";
import { createTester } from "./support/tester.js";

test("a session is opened with the fields that wire.md names", async () => {
  const { base } = await startHost(makeBundle([createTester().parts]), { assets: playgroundFolder() });
  const { status, body } = await call(`${base}/v1/session`, {
    body: { message: "hello", title: "Greeting", unknown: 1 },
  });
  expect(status).toBe(200);
  const { sessionId } = body as { sessionId: string };
  expect(body).toEqual({
    ok: true,
    sessionId: expect.stringMatching(/^ses_[0-9A-HJKMNP-TV-Z]{26}$/),
    continuationToken: expect.stringMatching(/^http:[A-Za-z0-9_-]{43}$/),
    playgroundUrl: `${base}/playground?sessionId=${sessionId}`,
    traceUrl: `${base}/v1/session/${sessionId}/events`,
  });
  const events = await followUntil(base, sessionId, isWaiting);
  expect(events[0]).toMatchObject({
    type: "session.started",
    index: 0,
    sessionId,
    data: { mode: "chat", purpose: "live", channelId: "http", title: "Greeting", model: "offline", agent: "tester" },
  });
  expect(events.map((event) => event.index)).toEqual(events.map((_event, index) => index));
});

test("--public-url shapes the links, and --no-playground leaves one out", async () => {
  const bundle = makeBundle([createTester().parts]);
  const shown = await startHost(bundle, { publicUrl: "https://bots.example.com/", playground: false });
  const { body } = await call(`${shown.url}/tester/v1/session`, { body: { message: "hello" } });
  expect(body.traceUrl).toBe(`https://bots.example.com/tester/v1/session/${body.sessionId}/events`);
  expect(body).not.toHaveProperty("playgroundUrl");
});

test.each([
  ["no message", {}],
  ["a blank message", { message: "  " }],
  ["a message that is no text", { message: 7 }],
  ["a title that is no text", { message: "x", title: [] }],
  ["dryRun that is no boolean", { message: "x", dryRun: "yes" }],
  ["an unknown purpose", { message: "x", purpose: "fun" }],
  ["files that are no object", { message: "x", workspaceFiles: ["a"] }],
  ["a file that is no text", { message: "x", workspaceFiles: { a: 1 } }],
  ["a file above the workspace", { message: "x", workspaceFiles: { "../a": "" } }],
  ["an absolute file", { message: "x", workspaceFiles: { "/etc/passwd": "" } }],
  ["a body that is a list", [1]],
])("%s is 400", async (_name, body) => {
  const { base } = await startHost(makeBundle([createTester().parts]));
  const answer = await call(`${base}/v1/session`, { body });
  expect([answer.status, answer.body.ok, answer.body.error]).toEqual([400, false, "invalid_request"]);
});

test.each(["tomorrow", "2026-01-01", "2026-01-01T00:00:00", "2026-02-30T00:00:00Z", 5])(
  "asOf %j is 400 invalid_as_of",
  async (asOf) => {
    const { base } = await startHost(makeBundle([createTester().parts]));
    const { status, body } = await call(`${base}/v1/session`, { body: { message: "x", asOf } });
    expect([status, body.error]).toEqual([400, "invalid_as_of"]);
  },
);

test("each accepted follow-up rotates the token; a stale one is 409", async () => {
  const { base } = await startHost(makeBundle([createTester().parts]));
  const first = await startSession(base, { message: "one" });
  await followUntil(base, first.sessionId, isWaiting);
  const url = `${base}/v1/session/${first.sessionId}`;
  const second = await call(url, { body: { continuationToken: first.continuationToken, message: "two" } });
  expect(second.status).toBe(200);
  expect(second.body.continuationToken).not.toBe(first.continuationToken);
  const stale = await call(url, { body: { continuationToken: first.continuationToken, message: "three" } });
  expect([stale.status, stale.body.error]).toEqual([409, "stale_continuation_token"]);
  expect((await call(url, { body: { message: "no token" } })).status).toBe(400);
  const events = await followUntil(base, first.sessionId, nth("session.waiting", 2));
  expect(events.filter((event) => event.type === "message.received").map((event) => event.data)).toMatchObject([
    { text: "one" },
    { text: "two" },
  ]);
});

test("a follow-up to a busy session interrupts the turn", async () => {
  const tester = createTester();
  const { base } = await startHost(makeBundle([tester.parts]));
  const { sessionId, continuationToken } = await startSession(base, { message: "/wait {}" });
  await tester.begun.opened;
  const next = await call(`${base}/v1/session/${sessionId}`, { body: { continuationToken, message: "instead" } });
  expect(next.status).toBe(200);
  const events = await followUntil(base, sessionId, (event) => event.type === "turn.completed");
  expect(events.find((event) => event.type === "turn.failed")).toMatchObject({ data: { status: "cancelled" } });
});

test("stop interrupts the turn and leaves the session open", async () => {
  const tester = createTester();
  const { base } = await startHost(makeBundle([tester.parts]));
  const { sessionId, continuationToken } = await startSession(base, { message: "/wait {}" });
  await tester.begun.opened;
  const stopped = await call(`${base}/v1/session/${sessionId}/stop`, { method: "POST" });
  expect([stopped.status, stopped.body]).toEqual([200, { ok: true, sessionId, stopped: true }]);
  await followUntil(base, sessionId, isWaiting);
  const idle = await call(`${base}/v1/session/${sessionId}/stop`, { body: {} });
  expect(idle.body).toEqual({ ok: true, sessionId, stopped: false });
  const next = await call(`${base}/v1/session/${sessionId}`, { body: { continuationToken, message: "more" } });
  expect(next.status).toBe(200);
});

test("sessions are listed newest first, a page at a time", async () => {
  const { base } = await startHost(makeBundle([createTester().parts]));
  const ids: string[] = [];
  for (const title of ["a", "b", "c"]) ids.unshift((await startSession(base, { message: "x", title })).sessionId);
  const page = await call(`${base}/v1/sessions?limit=2`);
  const rows = page.body.sessions as { id: string }[];
  expect(rows.map((row) => row.id)).toEqual(ids.slice(0, 2));
  expect(rows[0]).toMatchObject({
    title: "c",
    channelId: "http",
    mode: "chat",
    purpose: "live",
    owner: "loopback:local",
  });
  const rest = await call(`${base}/v1/sessions?limit=2&cursor=${page.body.nextCursor}`);
  expect((rest.body.sessions as { id: string }[]).map((row) => row.id)).toEqual(ids.slice(2));
  expect(rest.body).not.toHaveProperty("nextCursor");
  for (const limit of ["0", "501", "x", "1.5", "-1"]) {
    expect((await call(`${base}/v1/sessions?limit=${limit}`)).status).toBe(400);
  }
});

test("an unknown session is 404 on every route", async () => {
  const { base } = await startHost(makeBundle([createTester().parts]));
  for (const id of ["ses_01ARZ3NDEKTSV4RRFFQ69G5FAV", "nope", "..%2f..%2fetc", "ses_%00"]) {
    const url = `${base}/v1/session/${id}`;
    const answers = await Promise.all([
      call(url, { body: { message: "x", continuationToken: "http:x" } }),
      call(`${url}/stream`),
      call(`${url}/events`),
      call(`${url}/stop`, { method: "POST" }),
      call(`${url}/approvals`),
      call(`${url}/approvals/call_1`, { body: { decision: "approve" } }),
    ]);
    for (const answer of answers) expect([answer.status, answer.body.error]).toEqual([404, "not_found"]);
  }
});

test("a repeated Idempotency-Key gets the first answer", async () => {
  const { base } = await startHost(makeBundle([createTester().parts]));
  const headers = { "idempotency-key": "order-66" };
  const first = await startSession(base, { message: "once" }, headers);
  expect(await startSession(base, { message: "once" }, headers)).toEqual(first);
  expect((await call(`${base}/v1/sessions`)).body.sessions).toHaveLength(1);
  const odd = await call(`${base}/v1/session`, { body: { message: "x" }, headers: { "idempotency-key": "a b" } });
  expect(odd.status).toBe(400);
});

test("files of a message reach the workspace", async () => {
  const { base } = await startHost(makeBundle([createTester().parts]));
  const { sessionId } = await startSession(base, { message: "x", workspaceFiles: { "notes/a.md": "hello" } });
  const events = await readEvents(base, sessionId);
  expect(events.find((event) => event.type === "message.received")).toMatchObject({ data: { files: ["notes/a.md"] } });
});

test("cost adds up the turns' usage", async () => {
  const { base } = await startHost(makeBundle([createTester().parts]));
  const { sessionId, continuationToken } = await startSession(base, { message: '/add {"a":1}' });
  const empty = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
  await followUntil(base, sessionId, isWaiting);
  await call(`${base}/v1/session/${sessionId}`, { body: { continuationToken, message: "again" } });
  const events = await followUntil(base, sessionId, nth("session.waiting", 2));
  const usages = events.flatMap((event) => (event.type === "turn.completed" ? [event.data.usage ?? empty] : []));
  const { body } = await call(`${base}/v1/session/${sessionId}/cost`);
  expect(body.sessionId).toBe(sessionId);
  expect((body.turns as { usage: unknown }[]).map((turn) => turn.usage)).toEqual(usages);
  const sum = (name: keyof typeof empty) => usages.reduce((total, usage) => total + usage[name], 0);
  expect(body.total).toMatchObject({ usage: { inputTokens: sum("inputTokens"), outputTokens: sum("outputTokens") } });
  expect(sum("inputTokens")).toBeGreaterThan(0);
  expect((await call(`${base}/v1/session/ses_nobody/cost`)).status).toBe(404);
});
