import { expect, test } from "vitest";
import { RuntimeError } from "../../runtime/errors.js";
import type { JsonObject } from "../../runtime/session/event.js";
import type { StepRequest } from "../../runtime/session/model.js";
import { alice, eventsOf, only, openSessions, run, typesOf, waitFor } from "./support/sessions.js";

test("a first message becomes a whole turn on the stream", async () => {
  const sessions = await openSessions();
  const { sessionId, continuationToken } = await run(sessions, "hello", { title: "Greeting", purpose: "eval" });
  expect(sessionId).toMatch(/^ses_[0-9A-HJKMNP-TV-Z]{26}$/);
  expect(continuationToken).toMatch(/^http:[\w-]{43}$/);
  const events = await eventsOf(sessions, sessionId);
  expect(events.map((event) => event.type)).toEqual([
    "session.started",
    "message.received",
    "turn.started",
    "step.started",
    "message.appended",
    "message.completed",
    "step.completed",
    "turn.completed",
    "session.waiting",
  ]);
  expect(events.map((event) => event.index)).toEqual(events.map((_, position) => position));
  expect(events[0]?.data).toEqual({
    mode: "chat",
    purpose: "eval",
    channelId: "http",
    title: "Greeting",
    model: "offline",
    agent: "Bot",
    manifestHash: "sha256:test",
  });
  const turnIds = new Set(events.slice(1, -1).map((event) => event.turnId));
  expect([...turnIds]).toEqual([expect.stringMatching(/^turn_[0-9A-HJKMNP-TV-Z]{26}$/)]);
  expect(only(events, "message.completed")[0]?.data).toMatchObject({ finishReason: "stop" });
  expect(only(events, "turn.completed")[0]?.data.usage).toMatchObject({ inputTokens: expect.any(Number) });
  expect(await sessions.get(alice, sessionId)).toMatchObject({
    status: "waiting",
    turns: 1,
    continuationToken,
    title: "Greeting",
    purpose: "eval",
    owner: "bearer:alice",
  });
});

test("the offline model says what it is, and calls the tools that the message spells out", async () => {
  const sessions = await openSessions({
    tools: {
      add: { effect: "read", execute: ({ a, b }: { a: number; b: number }) => ({ sum: a + b }) },
      fail: {
        execute: () => {
          throw new Error("no such thing");
        },
      },
    },
  });
  const { sessionId } = await run(sessions, '/add {"a":1,"b":2}\n/fail {}');
  const events = await eventsOf(sessions, sessionId);
  const requested = only(events, "actions.requested")[0]?.data.calls;
  expect(requested?.map(({ toolName, args }) => [toolName, args])).toEqual([
    ["add", { a: 1, b: 2 }],
    ["fail", {}],
  ]);
  const results = only(events, "action.result");
  expect(results.map(({ data }) => [data.toolName, data.output, data.isError])).toEqual([
    ["add", { sum: 3 }, false],
    ["fail", { message: "no such thing" }, true],
  ]);
  expect(results.map(({ data }) => data.callId)).toEqual(requested?.map(({ callId }) => callId));
  const reply = only(events, "message.completed").at(-1)?.data;
  expect(reply?.text).toContain("offline model");
  expect(reply?.text).toContain('add returned {"sum":3}');
  expect(only(events, "turn.completed")[0]?.data.result).toBe(reply?.text);

  const { sessionId: other } = await run(sessions, "/missing {}\n/add not json");
  const told = only(await eventsOf(sessions, other), "message.completed")[0]?.data.text;
  expect(told).toContain('no tool named "missing"');
  expect(told).toContain("What follows /add is not JSON");
});

test("a script drives reasoning, text, calls, usage and cost step by step", async () => {
  const sessions = await openSessions({
    tools: { look: { effect: "read", execute: () => 42 } },
    script: {
      rules: [
        { when: "nothing", steps: [] },
        {
          steps: [
            [
              { reasoning: "Let me " },
              { reasoning: "look." },
              { text: "Looking." },
              { call: "look", input: { at: "{{message}}" } },
            ],
            [{ text: ["It is ", "{{results}}."] }, { usage: { inputTokens: 7, outputTokens: 3 }, costUsd: 0.5 }],
          ],
        },
      ],
    },
  });
  const { sessionId } = await run(sessions, "the sky");
  const events = await eventsOf(sessions, sessionId);
  expect(events.map((event) => event.type).filter((type) => !type.endsWith(".appended"))).toEqual([
    "session.started",
    "message.received",
    "turn.started",
    "step.started",
    "reasoning.completed",
    "message.completed",
    "actions.requested",
    "step.completed",
    "action.result",
    "step.started",
    "message.completed",
    "step.completed",
    "turn.completed",
    "session.waiting",
  ]);
  expect(only(events, "reasoning.completed")[0]?.data.text).toBe("Let me look.");
  expect(only(events, "message.completed").map(({ data }) => [data.text, data.finishReason])).toEqual([
    ["Looking.", "tool-calls"],
    ["It is [42].", "stop"],
  ]);
  expect(only(events, "actions.requested")[0]?.data.calls[0]?.args).toEqual({ at: "the sky" });
  expect(only(events, "turn.completed")[0]?.data.cost).toEqual({ totalUsd: 0.5, model: "offline" });
  const steps = only(events, "step.completed").map(({ data }) => data.usage?.inputTokens ?? 0);
  expect(only(events, "turn.completed")[0]?.data.usage?.inputTokens).toBe((steps[0] ?? 0) + 7);
});

test("deltas are coalesced, carry only new text, and add up to the completed message", async () => {
  const pieces = Array.from({ length: 200 }, (_, at) => `${at} `);
  const sessions = await openSessions({ script: { rules: [{ steps: [[{ text: pieces }]] }] } });
  const { sessionId } = await run(sessions, "count");
  const events = await eventsOf(sessions, sessionId);
  const deltas = only(events, "message.appended");
  expect(deltas.length).toBeLessThan(20);
  expect(deltas.map(({ data }) => data.delta).join("")).toBe(pieces.join(""));
  expect(only(events, "message.completed")[0]?.data.text).toBe(pieces.join(""));
  expect(new Set(deltas.map(({ data }) => data.messageId))).toEqual(
    new Set([only(events, "message.completed")[0]?.data.messageId]),
  );
});

test("a failing model fails the turn with its code, and the text shown so far is closed", async () => {
  const sessions = await openSessions({
    script: {
      rules: [
        { when: "key", steps: [[{ fail: "XAI_API_KEY is not set", code: "model_unavailable" }]] },
        { steps: [[{ text: "Half of a" }, { fail: "the line broke" }]] },
      ],
    },
  });
  const first = await eventsOf(sessions, (await run(sessions, "key")).sessionId);
  expect(only(first, "turn.failed")[0]?.data).toEqual({
    message: "XAI_API_KEY is not set",
    status: "error",
    code: "model_unavailable",
  });
  const { sessionId } = await run(sessions, "talk");
  const second = await eventsOf(sessions, sessionId);
  expect(second.slice(-3).map((event) => event.type)).toEqual(["message.completed", "turn.failed", "session.waiting"]);
  expect(only(second, "message.completed")[0]?.data).toMatchObject({ text: "Half of a", finishReason: "other" });
  expect(await sessions.get(alice, sessionId)).toMatchObject({ status: "waiting" });
});

test("a model that never stops calling is stopped", async () => {
  const steps = Array.from({ length: 10 }, () => [{ call: "again" }]);
  const sessions = await openSessions({
    tools: { again: { effect: "read", execute: () => "once more" } },
    script: { rules: [{ steps }] },
    options: { maxSteps: 3 },
  });
  const { sessionId } = await run(sessions, "go");
  const events = await eventsOf(sessions, sessionId);
  expect(only(events, "step.started")).toHaveLength(3);
  expect(only(events, "turn.failed")[0]?.data).toMatchObject({ code: "step_limit", status: "error" });
});

test("a task session runs once and ends", async () => {
  const sessions = await openSessions({ script: { rules: [{ when: "bad", steps: [[{ fail: "no" }]] }] } });
  const { sessionId, continuationToken } = await run(sessions, "report", { mode: "task" });
  const events = await eventsOf(sessions, sessionId);
  expect(events.at(-1)).toMatchObject({
    type: "session.completed",
    data: { result: only(events, "message.completed")[0]?.data.text },
  });
  expect(await sessions.get(alice, sessionId)).toMatchObject({ status: "completed", continuationToken: null });
  await expect(sessions.followUp(alice, { sessionId, continuationToken, message: "more" })).rejects.toMatchObject({
    code: "session_not_followable",
    status: 409,
  });
  const failed = await eventsOf(sessions, (await run(sessions, "bad", { mode: "task" })).sessionId);
  expect(failed.at(-1)).toMatchObject({ type: "session.failed", data: { message: "no" } });
});

test("the model sees the conversation, the prompt and the tools", async () => {
  const requests: StepRequest[] = [];
  const sessions = await openSessions({
    tools: { look: { effect: "read", execute: () => ({ found: true }) } },
    harness: {
      async *step(request) {
        requests.push({ ...request, messages: [...request.messages] });
        if (request.step === 1 && requests.length === 1) yield { type: "call", toolName: "look", args: { a: 1 } };
        else yield { type: "text", delta: "done" };
        yield { type: "finish", reason: "stop", provider: { id: requests.length } };
      },
    },
  });
  const { sessionId, continuationToken } = await run(sessions, "first");
  await sessions.followUp(alice, { sessionId, continuationToken, message: "second" });
  await sessions.settled(sessionId);
  const callId = only(await eventsOf(sessions, sessionId), "actions.requested")[0]?.data.calls[0]?.callId;
  expect(callId).toMatch(/^call_[0-9A-HJKMNP-TV-Z]{26}$/);
  expect(requests.at(-1)?.messages).toEqual([
    { role: "user", text: "first" },
    { role: "assistant", calls: [{ callId, toolName: "look", args: { a: 1 } }], provider: { id: 1 } },
    { role: "tool", callId, toolName: "look", output: { found: true }, isError: false },
    { role: "assistant", text: "done", provider: { id: 2 } },
    { role: "user", text: "second" },
  ]);
  expect(requests[0]).toMatchObject({
    system: "Be brief.",
    tools: [{ name: "look", inputSchema: { type: "object" } }],
  });
});

test("a tool that the model makes up is answered, not run", async () => {
  const sessions = await openSessions({ script: { rules: [{ steps: [[{ call: "nope" }], [{ text: "sorry" }]] }] } });
  const { sessionId } = await run(sessions, "go");
  const [result] = only(await eventsOf(sessions, sessionId), "action.result");
  expect(result?.data).toMatchObject({
    isError: true,
    output: { message: expect.stringContaining('no tool named "nope"') },
  });
  expect(await typesOf(sessions, sessionId)).toContain("turn.completed");
});

test("a harness that neither listens nor ends can be stopped", async () => {
  const sessions = await openSessions({
    harness: {
      async *step() {
        yield { type: "text", delta: "hm" };
        await new Promise(() => undefined);
      },
    },
  });
  const { sessionId } = await sessions.create(alice, { message: "go", channelId: "http" });
  await waitFor(sessions, sessionId, (event) => event.type === "message.appended");
  expect(await sessions.stop(alice, sessionId)).toEqual({ stopped: true });
  const events = await eventsOf(sessions, sessionId);
  expect(only(events, "turn.failed")[0]?.data).toMatchObject({ status: "cancelled" });
  expect(only(events, "message.completed")[0]?.data).toMatchObject({ text: "hm", finishReason: "other" });
});

test("an instant without a time zone is refused as asOf; a good one is told to the model and is the tools' now", async () => {
  const systems: string[] = [];
  const sessions = await openSessions({
    tools: {
      clock: { effect: "read", execute: (_: never, ctx: { now(): Date }) => ctx.now() },
      since: {
        effect: "read",
        execute: () => "ran",
        entry: { inputSchema: { type: "object", properties: { from: { type: "string", format: "date-time" } } } },
      },
    },
    harness: {
      async *step(request) {
        systems.push(request.system);
        if (request.step === 1) {
          yield { type: "call", toolName: "clock", args: {} };
          for (const from of ["2026-02-01T00:00:00Z", "2026-04-01T00:00:00Z", "yesterday", undefined]) {
            yield { type: "call", toolName: "since", args: from === undefined ? {} : { from } };
          }
        }
        yield { type: "finish", reason: "stop" };
      },
    },
  });
  for (const asOf of ["2026-03-01", "2026-03-01T09:00:00", "tomorrow", "2026-13-01T00:00:00Z"]) {
    const refused = sessions.create(alice, { message: "x", channelId: "http", asOf });
    await expect(refused).rejects.toMatchObject({ code: "invalid_as_of", status: 400 });
    await expect(refused).rejects.toBeInstanceOf(RuntimeError);
  }
  const { sessionId } = await run(sessions, "when", { asOf: "2026-03-01T09:00:00+01:00" });
  expect(systems[0]).toContain("2026-03-01T09:00:00+01:00");
  const results = only(await eventsOf(sessions, sessionId), "action.result").map(({ data }) => data);
  expect(results[0]?.output).toBe("2026-03-01T08:00:00.000Z");
  expect(results.slice(1).map(({ isError }) => isError)).toEqual([false, true, true, true]);
  expect(await sessions.get(alice, sessionId)).toMatchObject({ asOf: "2026-03-01T09:00:00+01:00" });
});

test("under asOf times are looked for at any depth, and nobody is asked about a call that they forbid", async () => {
  const at = { type: "string", format: "date-time" };
  const maybe = { anyOf: [at, { type: "null" }] };
  const object = (properties: JsonObject, required: string[] = []): JsonObject => ({
    type: "object",
    properties,
    required,
  });
  const move = object({ kind: { const: "move" }, to: at }, ["kind", "to"]);
  const stay = object({ kind: { const: "stay" } }, ["kind"]);
  const tree: JsonObject = {
    $ref: "#/$defs/Node",
    $defs: {
      Node: object({ at, next: { $ref: "#/$defs/Node" }, all: { type: "array", items: { $ref: "#/$defs/Node" } } }),
    },
  };
  const tool = (inputSchema: JsonObject) => ({ needsApproval: true, execute: () => "ran", entry: { inputSchema } });
  const sessions = await openSessions({
    tools: {
      list: tool(object({ days: { type: "array", items: { type: "string", format: "date" } } })),
      map: tool(object({ by: { type: "object", additionalProperties: at } })),
      maybe: tool(object({ maybe })),
      union: tool(object({ act: { oneOf: [move, stay] } })),
      mixed: tool(object({ until: { anyOf: [at, { type: "number" }] } })),
      both: tool({ allOf: [object({ at })] }),
      tree: tool(tree),
    },
  });
  const early = "2026-02-28T23:59:59Z";
  const late = "2026-03-02T00:00:00Z";
  const asked = async (call: string) => {
    const { sessionId } = await sessions.create(alice, {
      message: call,
      channelId: "http",
      asOf: "2026-03-01T09:00:00Z",
    });
    await sessions.settled(sessionId);
    const events = await eventsOf(sessions, sessionId);
    return only(events, "action.approval_requested").length === 1
      ? "asked"
      : only(events, "action.result")[0]?.data.output;
  };
  const allowed = [
    `/list {"days":["2026-03-01"]}`,
    `/list {}`,
    `/map {"by":{"a":"${early}"}}`,
    `/maybe {"maybe":"${early}"}`,
    `/union {"act":{"kind":"stay"}}`,
    `/union {"act":{"kind":"move","to":"${early}"}}`,
    `/mixed {"until":"${early}"}`,
    `/both {"at":"${early}"}`,
    `/tree {"at":"${early}","next":{"at":"${early}","next":{"at":"${early}"}}}`,
  ];
  for (const call of allowed) expect(await asked(call), call).toBe("asked");
  const refused: readonly (readonly [string, string])[] = [
    [`/list {"days":["2026-03-01","2026-03-02"]}`, "days.1 (2026-03-02) is later"],
    [`/list {"days":["2026-02-30"]}`, "days.0 is not an absolute time"],
    [`/map {"by":{"a":"${late}"}}`, "by.a"],
    [`/maybe {"maybe":"${late}"}`, "maybe (2026"],
    [`/maybe {}`, "maybe is left out"],
    [`/maybe {"maybe":null}`, "maybe is left out"],
    [`/union {"act":{"kind":"move","to":"${late}"}}`, "act.to"],
    [`/mixed {"until":1}`, "until is not an absolute time"],
    [`/both {"at":"${late}"}`, "at (2026"],
    [`/tree {"at":"${early}","next":{"at":"${late}"}}`, "next.at (2026"],
    [`/tree {"at":"${early}","all":[{"at":"tomorrow"}]}`, "all.0.at is not"],
  ];
  for (const [call, told] of refused) {
    expect(await asked(call), call).toMatchObject({ message: expect.stringContaining(told) });
  }
});

test("a clock that is set back meanwhile makes no time negative", async () => {
  let offset = 0;
  const clock = {
    now: () => Date.now() + offset,
    after: (ms: number, callback: () => void) => {
      const timer = setTimeout(callback, ms);
      return () => clearTimeout(timer);
    },
  };
  const back = () => {
    offset -= 3_600_000;
    return "done";
  };
  const sessions = await openSessions({ options: { clock }, tools: { back: { execute: back } } });
  const { sessionId } = await run(sessions, "/back {}");
  const { durationMs } = await sessions.callTool(alice, { toolName: "back", input: {}, sessionId });
  const direct = await sessions.callTool(alice, { toolName: "back", input: {} });
  const events = await eventsOf(sessions, sessionId);
  const recorded = events.flatMap(({ data }) => ("durationMs" in data ? [data.durationMs] : []));
  expect(recorded).toHaveLength(4);
  expect(Math.min(durationMs, direct.durationMs, ...recorded)).toBeGreaterThanOrEqual(0);
});
