import { beforeAll, expect, test } from "vitest";
import type { OfflineScript, ScriptAct } from "../../runtime/harness/offline/script.js";
import type { SessionEvent } from "../../runtime/session/event.js";
import { call, followUntil, isWaiting, nth, startSession } from "./support/host.js";
import { buildProject, converse, goOn, makeFolder, only, results, startServer } from "./support/worker-project.js";

let out = "";
beforeAll(async () => {
  out = await buildProject({
    "bot/subagents/checker/agent.ts": `import { defineAgent } from "@cursor/bdk";
export default defineAgent({ description: "Checks facts.", model: "grok-4.5", tools: ["read"] });\n`,
    "bot/subagents/checker/instructions.md": "You check facts.\n",
    "bot/subagents/scribe/agent.ts": `import { defineAgent } from "@cursor/bdk";
export default defineAgent({ description: "Writes\\nthings down.", instructions: "You write." });\n`,
    "bot/sandbox/workspace/facts.md": "Water is wet.\n",
    "bot/tools/note.ts": `import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { defineTool } from "@cursor/bdk/tools";
export default defineTool({
  description: "Notes something.",
  inputSchema: { type: "object", properties: { text: { type: "string" }, at: { type: "string", format: "date-time" } } },
  execute: async ({ text }: { text?: string }, ctx) => {
    appendFileSync(join(process.env.NOTES ?? "", "notes.txt"), ctx.session.id + " " + text + "\\n");
    await new Promise((done) => setTimeout(done, 20));
    return "noted";
  },
});\n`,
    "bot/tools/pay.ts": `import { defineTool } from "@cursor/bdk/tools";
export default defineTool({ description: "Pays.", needsApproval: true, execute: () => "paid" });\n`,
  });
});

const task = (subagent: string, prompt: string): ScriptAct => ({ call: "task", input: { subagent, prompt } });
const rule = (when: string, ...steps: ScriptAct[][]) => ({ when, steps });

/** Status of the newest session. */
async function statusOf(url: string): Promise<string | undefined> {
  const { sessions } = (await call(`${url}/v1/sessions`)).body as { sessions: { status: string }[] };
  return sessions[0]?.status;
}

/** Calls that wait for a decision. */
async function approvalsOf(url: string, sessionId: string): Promise<readonly string[]> {
  const { body } = await call(`${url}/v1/session/${sessionId}/approvals`);
  return (body as { approvals: { callId: string }[] }).approvals.map(({ callId }) => callId);
}

async function decide(url: string, sessionId: string, callId: string, decision: "approve" | "deny"): Promise<number> {
  return (await call(`${url}/v1/session/${sessionId}/approvals/${callId}`, { body: { decision } })).status;
}

/** The kinds of events with their calls left out, those of subagents marked. */
function outline(events: readonly SessionEvent[]): string[] {
  return events.map(({ type, data }) =>
    "parentCallId" in data && data.parentCallId !== undefined ? `  ${type}` : type,
  );
}

test("a task: the child's own prompt, model and tools; its work marked; its usage part of the turn's", async () => {
  const usage = (inputTokens: number, outputTokens: number): ScriptAct => ({
    usage: { inputTokens, outputTokens },
    costUsd: inputTokens,
  });
  const script: OfflineScript = {
    rules: [
      rule(
        "please verify",
        [{ reasoning: "whom?" }, task("checker", "Check facts.md: wet?"), usage(1, 1)],
        [{ text: "So: {{results}}" }, usage(2, 2)],
      ),
      rule(
        "Check facts.md",
        [{ reasoning: "look" }, { call: "read", input: { path: "facts.md" } }, usage(10, 10)],
        [{ text: ["It is ", "so: {{results}}"] }, usage(20, 20)],
      ),
    ],
  };
  const { url } = await startServer(out, { script });
  const { events } = await converse(url, "please verify");
  expect(outline(events.filter(({ type }) => !type.endsWith(".appended")))).toEqual([
    "session.started",
    "message.received",
    "turn.started",
    "step.started",
    "reasoning.completed",
    "actions.requested",
    "step.completed",
    "subagent.called",
    "  step.started",
    "  reasoning.completed",
    "  actions.requested",
    "  step.completed",
    "  action.result",
    "  step.started",
    "  message.completed",
    "  step.completed",
    "subagent.completed",
    "action.result",
    "step.started",
    "message.completed",
    "step.completed",
    "turn.completed",
    "session.waiting",
  ]);
  const [called] = only(events, "subagent.called");
  const [requested, inner] = only(events, "actions.requested");
  const taskId = requested?.data.calls[0]?.callId;
  expect(called?.data).toEqual({
    callId: taskId,
    subagent: "checker",
    prompt: "Check facts.md: wet?",
    model: "offline",
  });
  expect(inner?.data).toMatchObject({ parentCallId: taskId, calls: [{ toolName: "read", parentCallId: taskId }] });
  expect(only(events, "message.appended").filter(({ data }) => data.parentCallId === taskId).length).toBeGreaterThan(0);
  const [done] = only(events, "subagent.completed");
  expect(done?.data).toMatchObject({
    callId: taskId,
    subagent: "checker",
    isError: false,
    usage: { inputTokens: 30, outputTokens: 30 },
  });
  expect(done?.data.result).toContain("It is so: ");
  expect(done?.data.result).toContain("Water is wet.");
  const answer = only(events, "action.result").find(({ data }) => data.callId === taskId);
  expect(answer?.data).toMatchObject({ toolName: "task", isError: false, output: done?.data.result });
  expect(answer?.data.parentCallId).toBeUndefined();
  const [completed] = only(events, "turn.completed");
  expect(completed?.data.usage).toMatchObject({ inputTokens: 33, outputTokens: 33 });
  expect(completed?.data.result).toContain("Water is wet.");
});

test("a child has the root's tools, its own allowlist, and no task; the root's task names who there is", async () => {
  const script: OfflineScript = {
    rules: [
      rule("ask both", [task("checker", "what can you?"), task("scribe", "what can you?")]),
      rule("nest", [task("scribe", "try it")]),
      rule("try it", [task("checker", "deeper")], [{ text: "{{results}}" }]),
      rule("wrong", [task("nobody", "x"), task("checker", " "), { call: "task", input: {} }]),
    ],
  };
  const { url } = await startServer(out, { script });
  const first = await converse(url, "ask both");
  const told = Object.fromEntries(
    only(first.events, "subagent.completed").map(({ data }) => [data.subagent, String(data.result)]),
  );
  expect(told.checker).toMatch(/a tool: note, pay, read\.$/);
  expect(told.scribe).toMatch(/a tool: note, pay, read, write, edit, ls, glob, grep\.$/);
  const second = await goOn(url, first, "nest");
  expect(only(second.events, "subagent.called")).toHaveLength(3);
  expect(only(second.events, "subagent.completed").at(-1)?.data.result).toContain('no tool named \\"task\\"');
  const third = await goOn(url, second, "wrong");
  expect(results(third.events).map(({ isError, output }) => [isError, JSON.stringify(output)])).toEqual([
    [true, expect.stringContaining("must be one of checker, scribe")],
    [true, expect.stringContaining("prompt: must be a text")],
    [true, expect.stringContaining("subagent: must be one of")],
  ]);
});

test("a child that fails is a failed call, and the turn goes on", async () => {
  const script: OfflineScript = {
    rules: [
      rule("delegate", [task("checker", "break down"), task("scribe", "do well")], [{ text: "{{results}}" }]),
      rule(
        "break down",
        [{ call: "note", input: { text: "before" } }],
        [{ text: "half" }, { fail: "the model is on fire" }],
      ),
      rule("do well", [{ text: "well done" }]),
    ],
  };
  const { url } = await startServer(out, { script, env: { NOTES: makeFolder() } });
  const { events } = await converse(url, "delegate");
  expect(results(events).slice(0, 2)).toEqual([
    { isError: true, output: { message: "the model is on fire" } },
    { isError: false, output: "well done" },
  ]);
  expect(only(events, "subagent.completed").find(({ data }) => data.subagent === "checker")?.data).toMatchObject({
    isError: true,
  });
  expect(only(events, "turn.completed")).toHaveLength(1);
});

test("stopping the turn stops the child, and everything open is answered", async () => {
  const script: OfflineScript = {
    rules: [
      rule("delegate", [task("checker", "take long"), task("scribe", "pay up")]),
      rule("take long", [{ text: "…" }, { delay: 60_000 }]),
      rule("pay up", [{ call: "pay" }]),
    ],
  };
  const { url } = await startServer(out, { script });
  const { sessionId } = await startSession(url, { message: "delegate" });
  await followUntil(url, sessionId, nth("action.approval_requested", 1));
  await followUntil(url, sessionId, nth("message.appended", 1));
  expect(await statusOf(url)).toBe("running");
  expect((await call(`${url}/v1/session/${sessionId}/stop`, { method: "POST" })).body).toMatchObject({ stopped: true });
  const events = await followUntil(url, sessionId, isWaiting);
  expect(only(events, "subagent.completed").map(({ data }) => data.isError)).toEqual([true, true]);
  expect(only(events, "action.approval_resolved")[0]?.data.decision).toBe("cancelled");
  const asked = only(events, "actions.requested").flatMap(({ data }) => data.calls);
  expect(
    only(events, "action.result")
      .map(({ data }) => data.callId)
      .sort(),
  ).toEqual(asked.map(({ callId }) => callId).sort());
  expect(only(events, "turn.failed")[0]?.data).toMatchObject({ status: "cancelled" });
});

test("a child's call that needs approval parks the turn, also across kill -9, and goes on once decided", async () => {
  const script: OfflineScript = {
    rules: [
      rule("delegate", [task("scribe", "pay up")], [{ text: "{{results}}" }]),
      rule("pay up", [{ call: "pay" }], [{ text: "done: {{results}}" }]),
    ],
  };
  const first = await startServer(out, { script });
  const { sessionId } = await startSession(first.url, { message: "delegate" });
  await followUntil(first.url, sessionId, nth("action.approval_requested", 1));
  await expect.poll(() => statusOf(first.url)).toBe("awaiting_approval");
  await first.kill();
  const { url } = await startServer(out, { home: first.home, script });
  expect(await statusOf(url)).toBe("awaiting_approval");
  const { approvals } = (await call(`${url}/v1/session/${sessionId}/approvals`)).body as {
    approvals: { callId: string; toolName: string }[];
  };
  expect(approvals).toMatchObject([{ toolName: "pay" }]);
  const decided = await call(`${url}/v1/session/${sessionId}/approvals/${approvals[0]?.callId}`, {
    body: { decision: "approve" },
  });
  expect(decided.status).toBe(200);
  const events = await followUntil(url, sessionId, isWaiting);
  expect(only(events, "subagent.completed")[0]?.data).toMatchObject({ isError: false, result: 'done: ["paid"]' });
  expect(only(events, "turn.completed")).toHaveLength(1);
});

test("dry run and asOf hold for the child", async () => {
  const notes = makeFolder();
  const script: OfflineScript = {
    rules: [
      rule("delegate", [task("scribe", "write it")], [{ text: "{{results}}" }]),
      rule(
        "write it",
        [
          { call: "note", input: { text: "x", at: "2026-01-01T00:00:00Z" } },
          { call: "write", input: { path: "x", text: "x" } },
        ],
        [{ text: "{{results}}" }],
      ),
    ],
  };
  const { url } = await startServer(out, { script, env: { NOTES: notes } });
  const dry = await converse(url, "delegate", { dryRun: true });
  const stubs = only(dry.events, "action.result").filter(({ data }) => data.parentCallId !== undefined);
  expect(stubs.map(({ data }) => [data.toolName, data.stubbed])).toEqual(
    expect.arrayContaining([
      ["note", true],
      ["write", true],
    ]),
  );
  const past = await converse(url, "delegate", { asOf: "2025-12-01T00:00:00Z" });
  const refused = only(past.events, "action.result").find(({ data }) => data.toolName === "note");
  expect(refused?.data).toMatchObject({
    isError: true,
    output: { message: expect.stringContaining("frozen at 2025-12-01") },
  });
});

test("a new message stops the child's turn and gets one of its own", async () => {
  const script: OfflineScript = {
    rules: [
      rule("delegate", [task("checker", "take long")]),
      rule("take long", [{ text: "…" }, { delay: 60_000 }]),
      rule("never mind", [{ text: "{{message}}" }]),
    ],
  };
  const { url } = await startServer(out, { script });
  const { sessionId, continuationToken } = await startSession(url, { message: "delegate" });
  await followUntil(url, sessionId, nth("message.appended", 1));
  await call(`${url}/v1/session/${sessionId}`, { body: { continuationToken, message: "never mind" } });
  const events = await followUntil(url, sessionId, isWaiting);
  expect(only(events, "subagent.completed").map(({ data }) => data.isError)).toEqual([true]);
  expect(only(events, "turn.failed")[0]?.data).toMatchObject({ status: "cancelled" });
  expect(only(events, "turn.completed")[0]?.data.result).toBe("never mind");
});

test("several children at once, one parked: the others are done, and the turn waits for one decision", async () => {
  const script: OfflineScript = {
    rules: [
      rule(
        "delegate",
        [task("scribe", "pay up"), task("checker", "look"), task("scribe", "pay up")],
        [{ text: "{{results}}" }],
      ),
      rule("pay up", [{ call: "pay" }, { call: "read", input: { path: "facts.md" } }], [{ text: "paid" }]),
      rule("look", [{ call: "read", input: { path: "facts.md" } }], [{ text: "looked" }]),
    ],
  };
  const { url } = await startServer(out, { script });
  const { sessionId } = await startSession(url, { message: "delegate" });
  await expect.poll(() => statusOf(url)).toBe("awaiting_approval");
  const parked = await approvalsOf(url, sessionId);
  expect(parked).toHaveLength(2);
  await decide(url, sessionId, parked[1] ?? "", "approve");
  await expect.poll(() => statusOf(url)).toBe("awaiting_approval");
  expect(await approvalsOf(url, sessionId)).toEqual([parked[0]]);
  await decide(url, sessionId, parked[0] ?? "", "deny");
  const events = await followUntil(url, sessionId, isWaiting);
  expect(
    results(events)
      .slice(0, 3)
      .map(({ output }) => output),
  ).toEqual(["paid", "looked", "paid"]);
  const denied = only(events, "action.result").filter(({ data }) => data.toolName === "pay" && data.isError);
  expect(denied).toHaveLength(1);
  expect(only(events, "turn.completed")).toHaveLength(1);
});
