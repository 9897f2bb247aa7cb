import { expect, test } from "vitest";
import { z } from "zod";
import { z as z3 } from "zod/v3";
import type { ToolContext } from "../../runtime/authoring/tools.js";
import {
  agentOf,
  alice,
  bob,
  eventsOf,
  only,
  openSessions,
  run,
  type TestTool,
  tempDir,
  typesOf,
  waitFor,
} from "./support/sessions.js";
import { createGate } from "./support/tester.js";

function returning(value: unknown): TestTool {
  return { effect: "read", execute: () => value };
}

test("input is checked by zod 3, zod 4, any Standard Schema, a bare safeParse and JSON Schema, with paths", async () => {
  const echo = (input: unknown) => input;
  const jsonSchema = {
    type: "object",
    properties: { user: { type: "object", properties: { age: { type: "integer" } }, required: ["age"] } },
    additionalProperties: false,
  };
  const sessions = await openSessions({
    tools: {
      four: { inputSchema: z.object({ user: z.object({ age: z.number().default(1) }) }), execute: echo },
      three: { inputSchema: z3.object({ user: z3.object({ age: z3.number().default(1) }) }), execute: echo },
      own: {
        inputSchema: {
          "~standard": {
            version: 1,
            vendor: "own",
            validate: async (value: unknown) =>
              JSON.stringify(value).includes("age")
                ? { value }
                : { issues: [{ message: "no age", path: ["user", { key: "age" }] }] },
          },
        },
        execute: echo,
      },
      old: {
        inputSchema: {
          safeParse: (value: unknown) =>
            JSON.stringify(value).includes("age")
              ? { success: true, data: value }
              : { success: false, error: { issues: [{ message: "no age", path: ["user", "age"] }] } },
        },
        execute: echo,
      },
      plain: { execute: echo, entry: { validates: "json-schema", inputSchema: jsonSchema } },
      bare: { execute: echo },
    },
  });
  const call = async (toolName: string, input: unknown) => (await sessions.callTool(alice, { toolName, input })).result;
  const user = { user: { age: 5 } };
  for (const name of ["four", "three", "own", "old", "plain", "bare"]) expect(await call(name, user)).toEqual(user);
  for (const name of ["four", "three"]) expect(await call(name, { user: {} })).toEqual({ user: { age: 1 } });
  const issuesOf = (toolName: string, input: unknown) =>
    call(toolName, input).catch((error: { code: string; details: { issues: unknown } }) => [
      error.code,
      error.details.issues,
    ]);
  for (const name of ["four", "three"]) {
    expect(await issuesOf(name, { user: { age: "x" } })).toEqual([
      "invalid_input",
      [{ path: "user.age", message: expect.stringMatching(/number/) }],
    ]);
  }
  for (const name of ["own", "old"]) {
    expect(await issuesOf(name, {})).toEqual(["invalid_input", [{ path: "user.age", message: "no age" }]]);
  }
  expect(await issuesOf("plain", { user: {}, extra: 1 })).toEqual([
    "invalid_input",
    [
      { path: "extra", message: "is not known" },
      { path: "user.age", message: "is required" },
    ],
  ]);
  expect(await issuesOf("bare", [1])).toEqual(["invalid_input", [{ path: "", message: "must be an object" }]]);
});

test("results of every kind become JSON, and what can't be is a tool error that says where", async () => {
  const cycle: Record<string, unknown> = { name: "a" };
  cycle.inner = { list: [cycle] };
  const sessions = await openSessions({
    tools: {
      nothing: returning(undefined),
      date: returning({ at: new Date(0) }),
      big: returning({ n: 12345678901234567890n }),
      map: returning(new Map([["a", new Set([1])]])),
      bytes: returning(new Uint8Array([1, 2])),
      odd: returning({
        f: () => 1,
        u: undefined,
        nan: Number.NaN,
        e: new Error("x"),
        proto: JSON.parse('{"__proto__":1}'),
      }),
      cycle: returning(cycle),
      shared: returning([{ a: 1 }, { a: 1 }].fill({ a: 1 })),
      text: returning({ content: [{ type: "text", text: "hi" }], structuredContent: { a: 1 } }),
      failing: returning({ content: [{ type: "text", text: "no" }], isError: true }),
      plainContent: returning({ content: "just a field", isError: "maybe" }),
      throwing: {
        execute: () => {
          throw "a string";
        },
      },
      rejecting: { execute: () => Promise.reject(new TypeError("x is not a function")) },
    },
  });
  const call = async (toolName: string) => {
    const { result, isError } = await sessions.callTool(alice, { toolName, input: {} });
    return isError ? { error: result } : JSON.parse(JSON.stringify(result));
  };
  expect(await call("nothing")).toBeNull();
  expect(await call("date")).toEqual({ at: "1970-01-01T00:00:00.000Z" });
  expect(await call("big")).toEqual({ n: "12345678901234567890" });
  expect(await call("map")).toEqual({ a: [1] });
  expect(await call("bytes")).toBe("AQI=");
  expect(await call("odd")).toEqual({
    nan: null,
    e: { name: "Error", message: "x" },
    proto: JSON.parse('{"__proto__":1}'),
  });
  expect(await call("cycle")).toEqual({ error: { message: "the result contains itself at inner.list[0]" } });
  expect(await call("shared")).toEqual([{ a: 1 }, { a: 1 }]);
  expect(await call("text")).toEqual({ content: [{ type: "text", text: "hi" }], structuredContent: { a: 1 } });
  expect(await call("failing")).toEqual({ error: { content: [{ type: "text", text: "no" }] } });
  expect(await call("plainContent")).toEqual({ content: "just a field", isError: "maybe" });
  expect(await call("throwing")).toEqual({ error: { message: "a string" } });
  expect(await call("rejecting")).toEqual({ error: { message: "x is not a function" } });
});

test("outputSchema checks and shapes what execute returns", async () => {
  const outputSchema = z.object({ id: z.string(), note: z.string().default("none") });
  const sessions = await openSessions({
    tools: {
      good: { outputSchema, execute: () => ({ id: "a", secret: 1 }) },
      bad: { outputSchema, execute: async () => ({ id: 5 }) },
    },
  });
  expect((await sessions.callTool(alice, { toolName: "good", input: {} })).result).toEqual({ id: "a", note: "none" });
  expect(await sessions.callTool(alice, { toolName: "bad", input: {} })).toMatchObject({
    isError: true,
    result: { message: expect.stringContaining("id: ") },
  });
});

test("what a call records is a copy: authors may keep and change what they returned", async () => {
  const kept = { count: 0 };
  const sessions = await openSessions({
    tools: { count: { execute: () => Object.assign(kept, { count: kept.count + 1 }) } },
    hooks: { watch: { "*": () => undefined } },
  });
  const { sessionId } = await run(sessions, "/count {}\n/count {}");
  expect(kept.count).toBe(2);
  const outputs = only(await eventsOf(sessions, sessionId), "action.result").map(({ data }) => data.output);
  expect(outputs).toEqual([{ count: 1 }, { count: 2 }]);
});

test("a tool that takes too long is given up and told to stop", async () => {
  let reason: unknown;
  const sessions = await openSessions({
    tools: {
      slow: {
        timeoutMs: 20,
        execute: (_: never, ctx: ToolContext) =>
          new Promise(() => ctx.signal.addEventListener("abort", () => (reason = ctx.signal.reason))),
      },
    },
  });
  const outcome = await sessions.callTool(alice, { toolName: "slow", input: {} });
  expect(outcome).toMatchObject({ isError: true, result: { message: expect.stringContaining("within 0.02 s") } });
  expect(reason).toBeInstanceOf(Error);
});

test("an interrupted call settles and its result is recorded before the turn ends", async () => {
  const begun = createGate();
  const sessions = await openSessions({
    tools: {
      patient: {
        execute: (_: never, ctx: ToolContext) =>
          new Promise((resolve) => {
            ctx.signal.addEventListener("abort", () => resolve("stopped in time"));
            begun.open();
          }),
      },
    },
  });
  const { sessionId } = await sessions.create(alice, { message: "/patient {}", channelId: "http" });
  await begun.opened;
  await sessions.stop(alice, sessionId);
  const events = await eventsOf(sessions, sessionId);
  expect(only(events, "action.result")[0]?.data).toMatchObject({ output: "stopped in time", isError: false });
  expect(events.at(-1)?.type === "turn.failed" || events.at(-1)?.type === "session.waiting").toBe(true);
});

test("a dry run runs reads and stubs writes; an effect that can't be told counts as a write", async () => {
  const ran: string[] = [];
  const tool = (name: string, fields: Partial<TestTool>): TestTool => ({
    execute: () => {
      ran.push(name);
      return name;
    },
    ...fields,
  });
  const sessions = await openSessions({
    tools: {
      look: tool("look", { effect: "read" }),
      write: tool("write", { needsApproval: true }),
      told: tool("told", { dryRunResult: (input: { id: number }) => ({ would: input.id }) }),
      either: tool("either", { effect: (input: { write?: boolean }) => (input.write === true ? "write" : "read") }),
      broken: tool("broken", {
        effect: () => {
          throw new Error("?");
        },
      }),
    },
  });
  const { sessionId } = await run(
    sessions,
    '/look {}\n/write {}\n/told {"id":7}\n/either {}\n/either {"write":true}\n/broken {}',
    { dryRun: true },
  );
  expect(ran).toEqual(["look", "either"]);
  const events = await eventsOf(sessions, sessionId);
  const results = only(events, "action.result").map(({ data }) => data);
  expect(
    results
      .filter(({ stubbed }) => stubbed === true)
      .map(({ toolName }) => toolName)
      .sort(),
  ).toEqual(["broken", "either", "told", "write"]);
  expect(results.find(({ toolName }) => toolName === "told")?.output).toEqual({ would: 7 });
  expect(only(events, "action.approval_requested")).toEqual([]);
});

test("a direct call outside any session knows the caller; unknown and agent-side tools are refused", async () => {
  const sessions = await openSessions({
    tools: {
      who: { effect: "read", execute: (_: never, ctx: ToolContext) => ({ ...ctx.session, agent: ctx.agent.name }) },
      script: { execute: () => 1, entry: { execution: "agent" } },
    },
  });
  const { callId, result, durationMs } = await sessions.callTool(alice, { toolName: "who", input: {} });
  expect(callId).toMatch(/^tool_who_[0-9A-HJKMNP-TV-Z]{26}$/);
  expect(result).toEqual({ id: callId, mode: "chat", auth: { kind: "bearer", id: "alice" }, agent: "Bot" });
  expect(durationMs).toBeGreaterThanOrEqual(0);
  await expect(sessions.callTool(alice, { toolName: "nope", input: {} })).rejects.toMatchObject({
    code: "unknown_tool",
    details: { available: ["who"] },
  });
  await expect(sessions.callTool(alice, { toolName: "script", input: {} })).rejects.toMatchObject({ status: 400 });
});

test("a bound call is recorded on the stream, by session id or by token, and is no part of the conversation", async () => {
  const sessions = await openSessions({
    tools: { who: { execute: (_: never, ctx: ToolContext) => ctx.session } },
  });
  const { sessionId, continuationToken } = await run(sessions, "hello", { title: "T" });
  const byId = await sessions.callTool(alice, { toolName: "who", input: {}, sessionId });
  expect(byId.result).toEqual({
    id: sessionId,
    channelId: "http",
    mode: "chat",
    purpose: "live",
    title: "T",
    auth: { kind: "bearer", id: "alice" },
  });
  const byToken = await sessions.callTool(alice, { toolName: "who", input: {}, continuationToken });
  const tail = (await eventsOf(sessions, sessionId)).slice(-4);
  expect(tail.map(({ type, turnId }) => [type, turnId])).toEqual([
    ["actions.requested", undefined],
    ["action.result", undefined],
    ["actions.requested", undefined],
    ["action.result", undefined],
  ]);
  expect(tail.map(({ data }) => JSON.stringify(data).includes(byToken.callId))).toEqual([false, false, true, true]);
  await sessions.followUp(alice, { sessionId, continuationToken, message: "go on" });
  await sessions.settled(sessionId);
  expect((await typesOf(sessions, sessionId)).at(-1)).toBe("session.waiting");

  const refused = { toolName: "who", input: {} };
  await expect(sessions.callTool(alice, { ...refused, continuationToken })).rejects.toMatchObject({
    code: "invalid_continuation_token",
  });
  for (const token of ["nonsense", ":", "http:", "http:unknown"]) {
    await expect(sessions.callTool(alice, { ...refused, continuationToken: token })).rejects.toMatchObject({
      code: "invalid_continuation_token",
      status: 400,
    });
  }
  await expect(sessions.callTool(alice, { ...refused, sessionId, continuationToken })).rejects.toMatchObject({
    status: 400,
  });
  await expect(sessions.callTool(bob, { ...refused, sessionId })).rejects.toMatchObject({ code: "forbidden" });
});

test("while a turn runs, a bound write is busy and a bound read runs alongside", async () => {
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const sessions = await openSessions({
    tools: {
      wait: { effect: "read", execute: () => held },
      look: { effect: "read", execute: () => "seen" },
      write: { execute: () => "written" },
    },
  });
  const { sessionId } = await sessions.create(alice, { message: "/wait {}", channelId: "http" });
  await waitFor(sessions, sessionId, (event) => event.type === "actions.requested");
  await expect(sessions.callTool(alice, { toolName: "write", input: {}, sessionId })).rejects.toMatchObject({
    code: "session_busy",
    status: 409,
  });
  expect((await sessions.callTool(alice, { toolName: "look", input: {}, sessionId })).result).toBe("seen");
  release();
  await sessions.settled(sessionId);
  expect((await sessions.callTool(alice, { toolName: "write", input: {}, sessionId })).result).toBe("written");
});

test("services whose part was not linked fail only when used, with a message", async () => {
  const sessions = await openSessions({
    tools: {
      names: { execute: (_: never, ctx: ToolContext) => ctx.host.mcp.names() },
      octokit: { execute: (_: never, ctx: ToolContext) => ctx.host.github.getOctokit() },
      list: { execute: (_: never, ctx: ToolContext) => ctx.host.reminders.list() },
      remind: {
        execute: (_: never, ctx: ToolContext) => ctx.host.reminders.create({ purpose: "p", delay: "1h", prompt: "?" }),
      },
    },
  });
  expect((await sessions.callTool(alice, { toolName: "names", input: {} })).result).toEqual([]);
  expect((await sessions.callTool(alice, { toolName: "list", input: {} })).result).toEqual([]);
  for (const toolName of ["octokit", "remind"]) {
    expect(await sessions.callTool(alice, { toolName, input: {} })).toMatchObject({
      isError: true,
      result: { message: expect.stringContaining("bdk build --include") },
    });
  }
});

test("new code serves the next call and the next turn; a turn in flight ends on the code it began with", async () => {
  const root = tempDir();
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const versions = ["old", "new"].map((version) =>
    agentOf({
      tools: {
        wait: { effect: "read", execute: () => held },
        version: { effect: "read", execute: () => version },
      },
    }),
  );
  let current = versions[0];
  const sessions = await openSessions({
    root,
    script: { rules: [{ when: "wait", steps: [[{ call: "wait" }], [{ call: "version" }]] }] },
    options: {
      generation: () => {
        if (current === undefined) throw new Error("no code");
        return current;
      },
    },
  });
  const { sessionId, continuationToken } = await sessions.create(alice, { message: "wait", channelId: "http" });
  await waitFor(sessions, sessionId, (event) => event.type === "actions.requested");
  current = versions[1];
  expect((await sessions.callTool(alice, { toolName: "version", input: {} })).result).toBe("new");
  release();
  await sessions.settled(sessionId);
  await sessions.followUp(alice, { sessionId, continuationToken, message: "/version {}" });
  await sessions.settled(sessionId);
  const outputs = only(await eventsOf(sessions, sessionId), "action.result").map(({ data }) => data.output);
  expect(outputs).toEqual([null, "old", "new"]);
});
