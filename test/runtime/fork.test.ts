/** Forks over HTTP: edit and resend, try again, cut in the middle of a turn; with a restart on the emitted bundle. */
import { expect, test } from "vitest";
import type { SessionEvent } from "../../runtime/session/event.js";
import { makeBundle } from "./support/bundle.js";
import { emitProject } from "./support/emitted.js";
import {
  call,
  followUntil,
  isWaiting,
  nth,
  readEvents,
  type Started,
  startHost,
  startSession,
  type TestHost,
} from "./support/host.js";
import { createTester } from "./support/tester.js";

const fork = (base: string, sessionId: string, body: unknown, headers?: Record<string, string>) =>
  call(`${base}/v1/session/${sessionId}/fork`, { body, ...(headers && { headers }) });

const replies = (events: readonly SessionEvent[]) =>
  events.flatMap((event) => (event.type === "message.completed" ? [event.data.text] : []));

/** Events of a copy read as the original's, but for what names the session. */
const bare = (events: readonly SessionEvent[]) => events.slice(1).map(({ sessionId: _, ...event }) => event);

async function twoTurns(host: TestHost): Promise<Started & { readonly events: SessionEvent[] }> {
  const { sessionId, continuationToken } = await startSession(host.base, { message: "first", title: "Talk" });
  await followUntil(host.base, sessionId, isWaiting);
  const { body } = await call(`${host.base}/v1/session/${sessionId}`, {
    body: { continuationToken, message: "second" },
  });
  const events = await followUntil(host.base, sessionId, nth("session.waiting", 2));
  return { sessionId, continuationToken: String(body.continuationToken), events };
}

test("edit and resend: the copy has what came before and answers the new message; the original stays", async () => {
  const seen: SessionEvent[] = [];
  const hook = { events: { "*": (event: SessionEvent) => void seen.push(event) } };
  const host = await startHost(makeBundle([{ ...createTester().parts, hooks: { hook } }]));
  const { sessionId, continuationToken, events } = await twoTurns(host);
  const at = events.findIndex((event) => event.type === "message.received" && event.data.text === "second");
  const answer = await fork(host.base, sessionId, { atIndex: at, message: "another second" });
  expect(answer.status).toBe(200);
  expect(answer.body).toMatchObject({ ok: true, continuationToken: expect.stringMatching(/^http:/) });
  const copy = String(answer.body.sessionId);
  const copied = await followUntil(host.base, copy, nth("session.waiting", 2));
  expect(bare(copied.slice(0, at))).toEqual(bare(events.slice(0, at)));
  expect(copied[0]).toMatchObject({
    type: "session.started",
    data: { title: "Talk", forkedFrom: { sessionId, atIndex: at } },
  });
  expect(copied.every((event, index) => event.sessionId === copy && event.index === index)).toBe(true);
  expect(replies(copied).at(-1)).toContain("another second");
  expect(await readEvents(host.base, sessionId)).toEqual(events);
  // Hooks saw the copy's own events only.
  await expect.poll(() => seen.filter((event) => event.sessionId === copy).at(-1)?.type).toBe("session.waiting");
  expect(seen.filter((event) => event.sessionId === copy)[0]?.index).toBe(at);
  for (const [id, token] of [
    [copy, answer.body.continuationToken],
    [sessionId, continuationToken],
  ] as const) {
    const next = await call(`${host.base}/v1/session/${id}`, { body: { continuationToken: token, message: "third" } });
    expect(next.status).toBe(200);
  }
});

test("without a message the copy waits, or runs the turn that its last message asked for", async () => {
  const host = await startHost(makeBundle([createTester().parts]));
  const { sessionId, events } = await twoTurns(host);
  const rest = await fork(host.base, sessionId, { atIndex: events.length });
  expect(await readEvents(host.base, String(rest.body.sessionId))).toHaveLength(events.length);
  const { body } = await call(`${host.base}/v1/sessions`);
  expect(body.sessions).toMatchObject([{ id: rest.body.sessionId, status: "waiting", turns: 2 }, { id: sessionId }]);
  const said = events.findIndex((event) => event.type === "message.received" && event.data.text === "second");
  const again = await fork(host.base, sessionId, { atIndex: said + 1 });
  const rerun = await followUntil(host.base, String(again.body.sessionId), nth("session.waiting", 2));
  expect(replies(rerun)).toEqual(replies(events));
});

test("a cut within a turn ends that turn and never runs its calls again", async () => {
  const tester = createTester();
  const host = await startHost(makeBundle([tester.parts]));
  const { sessionId } = await startSession(host.base, { message: '/note {"text":"once"}\n/gated {"text":"held"}' });
  const parked = await followUntil(host.base, sessionId, nth("action.approval_requested", 1));
  for (const type of ["step.started", "actions.requested", "action.approval_requested"] as const) {
    const at = parked.findIndex((event) => event.type === type) + 1;
    const { body } = await fork(host.base, sessionId, { atIndex: at });
    const copied = await followUntil(host.base, String(body.sessionId), isWaiting);
    expect(copied.find(({ type }) => type === "turn.failed")?.data).toMatchObject({ status: "cancelled" });
    const approvals = await call(`${host.base}/v1/session/${body.sessionId}/approvals`);
    expect(approvals.body).toEqual({ approvals: [] });
  }
  expect(tester.notes).toEqual(["once"]);
  expect((await call(`${host.base}/v1/session/${sessionId}/approvals`)).body.approvals).toHaveLength(1);
});

test("refuses what it can't cut, and other people's sessions", async () => {
  const stranger = "a-token-that-is-long-enough";
  const bundle = makeBundle([createTester().parts]);
  const host = await startHost(bundle);
  const { sessionId, events } = await twoTurns(host);
  for (const atIndex of [undefined, -1, 1.5, "3", events.length + 1]) {
    expect((await fork(host.base, sessionId, { atIndex, message: "x" })).status, String(atIndex)).toBe(400);
  }
  expect((await fork(host.base, sessionId, { atIndex: 1 })).status).toBe(400);
  expect((await fork(host.base, sessionId, { atIndex: 1, message: "anew" })).status).toBe(200);
  expect((await fork(host.base, "ses_none", { atIndex: 1, message: "x" })).status).toBe(404);
  const key = { "idempotency-key": "once" };
  const [one, two] = await Promise.all([1, 2].map(() => fork(host.base, sessionId, { atIndex: 1, message: "x" }, key)));
  expect(one?.body).toEqual(two?.body);
  const { stateRoot } = host;
  await host.close();
  const other = await startHost(bundle, { stateRoot, authToken: stranger });
  const headers = { authorization: `Bearer ${stranger}` };
  expect((await fork(other.base, sessionId, { atIndex: 1, message: "x" }, headers)).status).toBe(403);
});

test("a copy survives kill -9 and has the files of the original's workspace", async () => {
  const emitted = await emitProject({
    "bot/tools/read_note.ts": `import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { defineTool } from "@cursor/bdk/tools";

export default defineTool({
  description: "Reads the note, and writes one.",
  execute(input, ctx) {
    const file = join(ctx.workspaceDir, "note.txt");
    const text = readFileSync(file, "utf8");
    if (typeof input.text === "string") writeFileSync(file, input.text);
    return text;
  },
});
`,
  });
  let base = await emitted.start();
  const { sessionId } = await startSession(base, { message: "/read_note {}", workspaceFiles: { "note.txt": "laid" } });
  const events = await followUntil(base, sessionId, isWaiting);
  const { body } = await fork(base, sessionId, { atIndex: events.length, message: '/read_note {"text":"changed"}' });
  const copy = String(body.sessionId);
  const copied = await followUntil(base, copy, nth("session.waiting", 2));
  const outputs = copied.flatMap((event) => (event.type === "action.result" ? [event.data.output] : []));
  expect(outputs).toEqual(["laid", "laid"]);
  await emitted.kill();
  base = await emitted.start();
  expect(await readEvents(base, copy)).toEqual(copied);
  const url = `${base}/v1/session/${copy}`;
  const { continuationToken } = body;
  expect((await call(url, { body: { continuationToken, message: "/read_note {}" } })).status).toBe(200);
  expect(replies(await followUntil(base, copy, nth("session.waiting", 3))).at(-1)).toContain("changed");
});
