/** Parked calls across `kill -9` and another bundle, over HTTP: changed, confirm, tools that are gone, inputs that no longer fit. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import type { SessionEvent } from "../../runtime/session/event.js";
import { type Emitted, emitProject } from "./support/emitted.js";
import { call, followUntil, isWaiting, readEvents, startSession } from "./support/host.js";

const pay = (mark: string, schema = "z.object({ to: z.string() })") => `import { appendFileSync } from "node:fs";
import { defineTool } from "@cursor/bdk/tools";
import { z } from "zod";

export default defineTool({
  description: "Pays.",
  inputSchema: ${schema},
  needsApproval: (input) => JSON.stringify(input) !== '{"to":"me"}',
  execute(input) {
    appendFileSync(process.env.PAID ?? "", JSON.stringify(input) + "\\n");
    return { paid: input, mark: "${mark}" };
  },
});
`;

const sign = `import { defineTool } from "@cursor/bdk/tools";
import { z } from "zod";
import { signature } from "../lib/signature.js";

export default defineTool({
  description: "Signs.",
  inputSchema: z.object({ name: z.string() }),
  needsApproval: true,
  execute: ({ name }) => \`\${name}, \${signature}\`,
});
`;

interface Pending {
  readonly callId: string;
  readonly args: unknown;
  readonly changed?: boolean;
}

let emitted: Emitted;
let base: string;
let env: { PAID: string };

beforeAll(async () => {
  emitted = await emitProject({
    "bot/tools/pay.ts": pay("one"),
    "bot/tools/fire.ts": pay("fire"),
    "bot/tools/sign.ts": sign,
    "bot/lib/signature.ts": 'export const signature = "one";\n',
  });
  env = { PAID: join(emitted.work, "paid") };
  base = await emitted.start(env);
});

const paid = () => (existsSync(env.PAID) ? readFileSync(env.PAID, "utf8").trimEnd().split("\n") : []);
const pending = async (sessionId: string) =>
  (await call(`${base}/v1/session/${sessionId}/approvals`)).body.approvals as Pending[];
const decide = (sessionId: string, callId: string, body: Record<string, unknown>) =>
  call(`${base}/v1/session/${sessionId}/approvals/${callId}`, { body });

async function park(message: string, count = 1): Promise<{ sessionId: string; continuationToken: string }> {
  const started = await startSession(base, { message });
  await expect.poll(async () => (await pending(started.sessionId)).length).toBe(count);
  return started;
}

async function results(sessionId: string): Promise<SessionEvent<"action.result">["data"][]> {
  const events = await followUntil(base, sessionId, isWaiting);
  return events.flatMap((event) => (event.type === "action.result" ? [event.data] : []));
}

test("several at once, in any order, across kill -9, with the same ids; 409 on the second decision", async () => {
  const { sessionId } = await park('/pay {"to":"a"}\n/pay {"to":"b"}\n/pay {"to":"c"}\n/pay {"to":"me"}', 3);
  expect(paid()).toEqual(['{"to":"me"}']);
  const before = await pending(sessionId);
  await emitted.kill();
  base = await emitted.start(env);
  expect(await pending(sessionId)).toEqual(before);
  const [a = "", b = "", c = ""] = before.map(({ callId }) => callId);
  expect((await decide(sessionId, c, { decision: "approve" })).body).toEqual({
    ok: true,
    callId: c,
    decision: "approve",
  });
  expect((await decide(sessionId, a, { decision: "deny" })).status).toBe(200);
  const again = await decide(sessionId, c, { decision: "deny" });
  expect([again.status, again.body.error]).toEqual([409, "approval_resolved"]);
  await expect.poll(() => paid()).toContain('{"to":"c"}');
  await emitted.kill();
  base = await emitted.start(env);
  expect((await pending(sessionId)).map(({ callId }) => callId)).toEqual([b]);
  await decide(sessionId, b, { decision: "approve" });
  const told = await results(sessionId);
  expect(told.filter(({ isError }) => isError).map(({ callId }) => callId)).toEqual([a]);
  expect(paid()).toEqual(['{"to":"me"}', '{"to":"c"}', '{"to":"b"}']);
  const events = await readEvents(base, sessionId);
  expect(events.filter(({ type }) => type === "action.approval_requested")).toHaveLength(3);
  expect((await decide(sessionId, b, { decision: "approve" })).status).toBe(409);
});

test("two decisions at once: exactly one counts", async () => {
  const { sessionId } = await park('/pay {"to":"twice"}');
  const [one] = await pending(sessionId);
  const answers = await Promise.all([1, 2, 3].map(() => decide(sessionId, one?.callId ?? "", { decision: "approve" })));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
  await results(sessionId);
  expect(paid().filter((line) => line.includes("twice"))).toHaveLength(1);
});

test("a follow-up while parked cancels the call, or waits for the decision; it never asks twice", async () => {
  const first = await park('/pay {"to":"x"}');
  const { callId = "" } = (await pending(first.sessionId))[0] ?? {};
  const url = `${base}/v1/session/${first.sessionId}`;
  const { continuationToken } = first;
  const sent = await call(url, { body: { continuationToken, message: "never mind", admission: "coalesce" } });
  expect(sent.status).toBe(200);
  expect((await pending(first.sessionId)).map((each) => each.callId)).toEqual([callId]);
  const next = sent.body.continuationToken;
  expect((await call(url, { body: { continuationToken: next, message: "really" } })).status).toBe(200);
  const events = await followUntil(base, first.sessionId, isWaiting);
  expect(events.filter(({ type }) => type === "action.approval_requested")).toHaveLength(1);
  const resolved = events.find(({ type }) => type === "action.approval_resolved");
  expect(resolved?.data).toMatchObject({ callId, decision: "cancelled" });
  expect(await pending(first.sessionId)).toEqual([]);
  expect((await decide(first.sessionId, callId, { decision: "approve" })).status).toBe(409);
});

test("a direct call asks nobody", async () => {
  const { body } = await call(`${base}/v1/tools/pay`, { body: { input: { to: "direct" } } });
  expect(body).toMatchObject({ isError: false, result: { paid: { to: "direct" } } });
});

test("an upgrade of something else leaves a parked call as it is; one of a helper counts", async () => {
  const { sessionId } = await park('/sign {"name":"a"}');
  const waiting = await pending(sessionId);
  await emitted.kill();
  await emitted.build({
    "bot/instructions.md": "Be briefer.\n",
    "bot/tools/other.ts": pay("other"),
  });
  base = await emitted.start(env);
  expect(await pending(sessionId)).toEqual(waiting);
  expect(waiting).toMatchObject([{ toolName: "sign" }]);
  await emitted.kill();
  await emitted.build({ "bot/lib/signature.ts": 'export const signature = "two";\n' });
  base = await emitted.start(env);
  expect(await pending(sessionId)).toEqual(waiting.map((each) => ({ ...each, changed: true })));
  const [{ callId } = { callId: "" }] = waiting;
  expect((await decide(sessionId, callId, { decision: "approve" })).status).toBe(400);
  expect((await decide(sessionId, callId, { decision: "approve", confirm: true })).status).toBe(200);
  expect(await results(sessionId)).toMatchObject([{ isError: false, output: "a, two" }]);
});

test("after an upgrade a parked call is marked as changed and needs confirm; it runs the new code", async () => {
  const { sessionId } = await park('/pay {"to":"late"}');
  const denied = await park('/pay {"to":"denied"}');
  const gone = await park('/fire {"to":"gone"}');
  const [one] = await pending(sessionId);
  const { callId = "" } = one ?? {};
  expect(one?.changed).toBeUndefined();
  await emitted.kill();
  base = await emitted.start(env);
  expect(await pending(sessionId)).toEqual([one]);
  await emitted.kill();
  await emitted.build({ "bot/tools/pay.ts": pay("two") });
  base = await emitted.start(env);
  expect(await pending(sessionId)).toEqual([{ ...one, changed: true }]);
  const refused = await decide(sessionId, callId, { decision: "approve" });
  expect([refused.status, refused.body.error, refused.body.changed]).toEqual([400, "invalid_request", true]);
  expect((await decide(sessionId, callId, { decision: "approve", confirm: true })).status).toBe(200);
  expect(await results(sessionId)).toMatchObject([{ isError: false, output: { paid: { to: "late" }, mark: "two" } }]);
  const other = (await pending(denied.sessionId))[0];
  expect((await decide(denied.sessionId, other?.callId ?? "", { decision: "deny" })).status).toBe(200);

  // The tool is gone, and the other one takes something else now.
  const stale = await park('/pay {"to":"stale"}');
  await emitted.kill();
  emitted.remove("bot/tools/fire.ts");
  await emitted.build({ "bot/tools/pay.ts": pay("three", "z.object({ account: z.number() })") });
  base = await emitted.start(env);
  for (const [id, told] of [
    [gone.sessionId, 'no tool named "fire"'],
    [stale.sessionId, "account"],
  ] as const) {
    const [waiting] = await pending(id);
    expect(waiting?.changed).toBe(true);
    await decide(id, waiting?.callId ?? "", { decision: "approve", confirm: true });
    const [result] = await results(id);
    expect(result?.isError).toBe(true);
    expect(JSON.stringify(result?.output)).toContain(told.replaceAll('"', '\\"'));
    const events = await readEvents(base, id);
    expect(events.some(({ type }) => type === "turn.completed")).toBe(true);
  }
  expect(paid().some((line) => /denied|gone|stale/.test(line))).toBe(false);
});
