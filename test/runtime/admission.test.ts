/** Admission on the emitted bundle over HTTP: coalesce, the turn cap, idempotency across kill -9, races, file limits. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import type { SessionEvent } from "../../runtime/session/event.js";
import { type Emitted, emitProject } from "./support/emitted.js";
import { call, followUntil, isWaiting, nth, readEvents, type Started, startSession } from "./support/host.js";

/** Waits for a file of the test's making. */
const hold = `import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { defineTool } from "@cursor/bdk/tools";

export default defineTool({
  description: "Waits until it may go on.",
  effect: "read",
  async execute(input, ctx) {
    const gate = join(process.env.GATES ?? "", String(input.gate));
    while (!existsSync(gate)) await setTimeout(10, undefined, { signal: ctx.signal });
    return "went on";
  },
});
`;

let emitted: Emitted;
let base: string;
let env: { GATES: string };

beforeAll(async () => {
  emitted = await emitProject({
    "bot/agent.ts":
      'import { defineAgent } from "@cursor/bdk";\n\nexport default defineAgent({ model: "offline", concurrency: { maxRunningTurns: 2 } });\n',
    "bot/tools/hold.ts": hold,
  });
  env = { GATES: emitted.work };
  base = await emitted.start(env);
});

const open = (gate: string) => writeFileSync(join(emitted.work, gate), "");
const send = (id: string, body: Record<string, unknown>, key?: string) =>
  call(`${base}/v1/session/${id}`, { body, ...(key !== undefined && { headers: { "idempotency-key": key } }) });
const types = (events: readonly SessionEvent[]) => events.map(({ type }) => type);

async function held(gate: string): Promise<Started> {
  const started = await startSession(base, { message: `/hold {"gate":"${gate}"}` });
  await followUntil(base, started.sessionId, nth("actions.requested", 1));
  return started;
}

test("coalesced messages reach the running turn at a tool boundary, in order", async () => {
  const { sessionId, continuationToken } = await held("one");
  const second = await send(sessionId, { continuationToken, message: "and this", admission: "coalesce" });
  expect(second.status).toBe(200);
  const third = await send(sessionId, {
    continuationToken: second.body.continuationToken,
    message: "and that",
    admission: "coalesce",
  });
  expect(third.status).toBe(200);
  open("one");
  const events = await followUntil(base, sessionId, isWaiting);
  expect(types(events).filter((type) => type === "turn.started")).toHaveLength(1);
  expect(types(events)).not.toContain("turn.failed");
  expect(events.filter(({ type }) => type === "message.received").map(({ turnId }) => turnId)).toEqual(
    new Array(3).fill(events.find(({ type }) => type === "turn.started")?.turnId),
  );
});

test("turns beyond the cap are queued with their position, and run when one is free; also after kill -9", async () => {
  const running = [await held("two"), await held("three")];
  const queued: Started[] = [];
  for (const message of ["first in line", "second in line"]) {
    const started = await startSession(base, { message });
    await followUntil(base, started.sessionId, nth("turn.queued", 1));
    queued.push(started);
  }
  const positions = await Promise.all(queued.map(({ sessionId }) => readEvents(base, sessionId)));
  expect(positions.flat().flatMap((event) => (event.type === "turn.queued" ? [event.data.position] : []))).toEqual([
    1, 2,
  ]);
  const { body } = await call(`${base}/v1/sessions?limit=4`);
  expect(body.sessions).toMatchObject([
    { status: "queued" },
    { status: "queued" },
    { status: "running" },
    { status: "running" },
  ]);
  await emitted.kill();
  base = await emitted.start(env);
  open("two");
  open("three");
  for (const { sessionId } of [...running, ...queued]) {
    const events = await followUntil(base, sessionId, isWaiting);
    expect(types(events).filter((type) => type === "turn.completed")).toHaveLength(1);
  }
});

test("of many follow-ups with one token exactly one is taken", async () => {
  const { sessionId, continuationToken } = await startSession(base, { message: "hello" });
  await followUntil(base, sessionId, isWaiting);
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, at) => send(sessionId, { continuationToken, message: `number ${at}` })),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([200, ...new Array(7).fill(409)]);
  const events = await followUntil(base, sessionId, nth("session.waiting", 2));
  expect(types(events).filter((type) => type === "message.received")).toHaveLength(2);
});

test("a repeated key gets the first answer, at once and after kill -9, for creates and follow-ups", async () => {
  const create = () =>
    call(`${base}/v1/session`, { body: { message: "hello" }, headers: { "idempotency-key": "create-1" } });
  const [one, two] = await Promise.all([create(), create()]);
  expect(two?.body).toEqual(one?.body);
  const sessionId = String(one?.body.sessionId);
  const { continuationToken } = one?.body ?? {};
  await followUntil(base, sessionId, isWaiting);
  const follow = () => send(sessionId, { continuationToken, message: "again" }, "follow-1");
  const [first, second] = await Promise.all([follow(), follow()]);
  expect([first?.status, second?.body]).toEqual([200, first?.body]);
  await emitted.kill();
  base = await emitted.start(env);
  const later = await follow();
  expect(later.body).toMatchObject({ sessionId, continuationToken: first?.body.continuationToken });
  expect((await create()).body).toMatchObject({ sessionId, continuationToken });
  const events = await followUntil(base, sessionId, nth("session.waiting", 2));
  expect(types(events).filter((type) => type === "message.received")).toHaveLength(2);
  expect((await send(sessionId, { continuationToken, message: "no key" })).status).toBe(409);
});

test("files are contained and limited, and a refused message leaves nothing", async () => {
  for (const path of ["../up.txt", "/abs.txt", "a/../../b", "a\\b", "", "C:/x", "a//b", "./a"]) {
    const refused = await call(`${base}/v1/session`, { body: { message: "x", workspaceFiles: { [path]: "t" } } });
    expect([refused.status, refused.body.error], path).toEqual([400, "invalid_request"]);
  }
  const before = (await call(`${base}/v1/sessions`)).body;
  const half = "x".repeat(13 * 1024 * 1024);
  const large = await call(`${base}/v1/session`, { body: { message: "x", workspaceFiles: { a: half, b: half } } });
  expect([large.status, large.body.error]).toEqual([413, "payload_too_large"]);
  expect((await call(`${base}/v1/sessions`)).body).toEqual(before);
  const { sessionId, continuationToken } = await startSession(base, { message: "hello" });
  await followUntil(base, sessionId, isWaiting);
  const refused = await send(sessionId, { continuationToken, message: "x", workspaceFiles: { "../a": "t" } });
  expect(refused.status).toBe(400);
  expect((await send(sessionId, { continuationToken, message: "x", workspaceFiles: { "a/b.txt": "t" } })).status).toBe(
    200,
  );
});
