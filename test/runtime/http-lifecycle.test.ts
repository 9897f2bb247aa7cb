/** Starting, swapping and closing a host. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { defineTool } from "../../runtime/authoring/tools.js";
import { createHost } from "../../runtime/host/index.js";
import { makeBundle } from "./support/bundle.js";
import { call, followUntil, isWaiting, nth, startHost, startSession, temporaryFolder } from "./support/host.js";
import { createGate, createTester } from "./support/tester.js";

const parts = () => createTester().parts;

/** A generation whose only tool says which one it is. */
function generation(name: string, slug = "tester") {
  const version = defineTool({ description: `Version ${name}.`, effect: "read", execute: () => name });
  return makeBundle([{ slug, tools: { version } }], { hash: `sha256:${name}` });
}

test("a start without required variables names every missing one at once", async () => {
  const bundle = makeBundle([parts()], { required: ["BDK_TEST_NOT_SET", "PATH", "BDK_TEST_NEITHER"] });
  await expect(createHost(bundle, { port: 0, stateRoot: temporaryFolder(), log: () => undefined })).rejects.toThrow(
    "variables BDK_TEST_NOT_SET, BDK_TEST_NEITHER are required and not set",
  );
});

test("options that contradict each other refuse to start", async () => {
  const two = makeBundle([
    { ...parts(), slug: "one" },
    { ...parts(), slug: "two" },
  ]);
  const start = (options: Parameters<typeof createHost>[1]) =>
    createHost(two, { port: 0, stateRoot: temporaryFolder(), log: () => undefined, ...options });
  await expect(start({ mode: "single" })).rejects.toThrow("--mode single serves one agent, and there are 2: one, two");
  await expect(start({ authToken: "token-1", allowAnonymous: true })).rejects.toThrow("exclude each other");
});

test("a taken port is told as such, and leaves the state root free", async () => {
  const first = await startHost(makeBundle([parts()]));
  const stateRoot = temporaryFolder();
  await expect(
    createHost(makeBundle([parts()]), { port: first.port, stateRoot, log: () => undefined }),
  ).rejects.toThrow(`port ${first.port} on 127.0.0.1 is taken`);
  const second = await startHost(makeBundle([parts()]), { stateRoot });
  expect((await call(`${second.base}/v1/health`)).status).toBe(200);
});

test("server.json names url and pid, is private, and goes with the server", async () => {
  const host = await startHost(makeBundle([parts()]));
  const file = join(host.stateRoot, "server.json");
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ url: host.url, pid: process.pid });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  await host.close();
  expect(existsSync(file)).toBe(false);
});

test("startup warns of what will not work", async () => {
  const warned = async (model: string, options = {}) => {
    const { lines } = await startHost(makeBundle([{ ...parts(), model }]), options, { "model-xai": () => ({}) });
    return lines
      .filter((line) => line.level === "warn")
      .map((line) => line.message)
      .join("\n");
  };
  const key = process.env.XAI_API_KEY;
  delete process.env.XAI_API_KEY;
  try {
    const missing = await warned("grok-4.5");
    expect(missing).toContain("XAI_API_KEY is not set");
    expect(missing).toContain("--model offline");
  } finally {
    if (key !== undefined) process.env.XAI_API_KEY = key;
  }
  expect(await warned("grok-4.5", { model: "offline" })).toContain("built-in offline model");
  expect(await warned("grok-4.5-fast")).toContain('use id "grok-4.5" with fast=true');
  expect(await warned("openai/gpt-5")).toContain("bdk build --include model-openai");
  const subagents = ["sonnet", "offline"].map((id) => ({
    ...{ id: `subagent:${id}`, name: id, source: "bot/subagents/x/agent.ts:3", layer: "project" as const },
    ...{ description: "Helps.", instructions: "", model: { id, params: [] } },
  }));
  const helped = await startHost(makeBundle([{ ...parts(), model: "offline", manifest: { subagents } }]));
  const told = helped.lines.map((line) => line.message).filter((line) => line.startsWith("subagent"));
  expect(told).toEqual([
    expect.stringMatching(/^subagent "sonnet" of agent "\w+" can't answer with sonnet: "sonnet" names no/),
  ]);
  expect(await warned("offline", { host: "0.0.0.0" })).toContain("nobody else will be let in");
  expect(await warned("offline", { allowAnonymous: true })).toContain("--allow-anonymous");
});

test("a missing key fails the turn as model_unavailable, and nothing else", async () => {
  const { base } = await startHost(makeBundle([{ ...parts(), model: "openai/gpt-5" }]));
  const { sessionId } = await startSession(base, { message: "hello" });
  const events = await followUntil(base, sessionId, isWaiting);
  expect(events.find((event) => event.type === "turn.failed")).toMatchObject({ data: { code: "model_unavailable" } });
  expect((await call(`${base}/v1/tools/add`, { body: { input: { a: 1 } } })).status).toBe(200);
});

test("close lets a running turn settle, ends streams and refuses new work", async () => {
  const tester = createTester();
  const host = await startHost(makeBundle([tester.parts]));
  const { sessionId } = await startSession(host.base, { message: "/wait {}" });
  await tester.begun.opened;
  const stream = await fetch(`${host.base}/v1/session/${sessionId}/stream`);
  const closed = host.close();
  await expect(fetch(`${host.base}/v1/health`)).rejects.toThrow();
  tester.gate.open();
  await closed;
  const types = (await stream.text())
    .trimEnd()
    .split("\n")
    .map((line) => (JSON.parse(line) as { type: string }).type);
  expect(types).toContain("turn.completed");
  expect(types.at(-1)).toBe("session.waiting");
});

test("sessions survive a restart", async () => {
  const first = await startHost(makeBundle([parts()]));
  const { sessionId, continuationToken } = await startSession(first.base, { message: "one" });
  await followUntil(first.base, sessionId, isWaiting);
  await first.close();
  const second = await startHost(makeBundle([parts()]), { stateRoot: first.stateRoot });
  const next = await call(`${second.base}/v1/session/${sessionId}`, { body: { continuationToken, message: "two" } });
  expect(next.status).toBe(200);
  await followUntil(second.base, sessionId, nth("session.waiting", 2));
});

test("a swap changes code, info and catalog at once", async () => {
  const host = await startHost(generation("one"));
  const answer = async () => [
    (await call(`${host.base}/v1/tools/version`, { body: {} })).body.result,
    (await call(`${host.base}/v1/tools/version`)).body.description,
    (await call(`${host.base}/v1/health`)).body.manifestHash,
  ];
  expect(await answer()).toEqual(["one", "Version one.", "sha256:one"]);
  await host.swap(generation("two"));
  expect(await answer()).toEqual(["two", "Version two.", "sha256:two"]);
});

test("a swap brings and removes agents", async () => {
  const host = await startHost(generation("one", "first"));
  await host.swap(generation("two", "second"));
  expect((await call(`${host.url}/first/v1/info`)).status).toBe(404);
  expect((await call(`${host.url}/second/v1/tools/version`, { body: {} })).body.result).toBe("two");
  expect(host.agents.map((agent) => agent.slug)).toEqual(["second"]);
});

test("a swap that can't be taken leaves the old code running", async () => {
  const host = await startHost(generation("one"));
  const broken = makeBundle([{ tools: {} }], { required: ["BDK_TEST_NOT_SET"] });
  await expect(host.swap(broken)).rejects.toThrow("BDK_TEST_NOT_SET");
  expect((await call(`${host.base}/v1/tools/version`, { body: {} })).body.result).toBe("one");
});

test("a turn in flight ends on the code it began with", async () => {
  const gate = createGate();
  const begun = createGate();
  const make = (name: string) => {
    const hold = defineTool({
      description: "Holds.",
      effect: "read",
      execute: async () => {
        begun.open();
        await gate.opened;
        return `held by ${name}`;
      },
    });
    const version = defineTool({ description: "Which.", effect: "read", execute: () => name });
    return makeBundle([{ tools: { hold, version } }], { hash: `sha256:${name}` });
  };
  const host = await startHost(make("one"));
  const { sessionId, continuationToken } = await startSession(host.base, { message: "/hold {}" });
  await begun.opened;
  await host.swap(make("two"));
  gate.open();
  const events = await followUntil(host.base, sessionId, isWaiting);
  expect(events.find((event) => event.type === "action.result")).toMatchObject({ data: { output: "held by one" } });
  await call(`${host.base}/v1/session/${sessionId}`, { body: { continuationToken, message: "/version {}" } });
  const later = await followUntil(host.base, sessionId, nth("session.waiting", 2));
  expect(later.filter((event) => event.type === "action.result").at(-1)).toMatchObject({ data: { output: "two" } });
});

test("swapping under load drops no request, no stream and no session", async () => {
  const host = await startHost(generation("0"));
  const { sessionId } = await startSession(host.base, { message: "hello" });
  await followUntil(host.base, sessionId, isWaiting);
  const leave = new AbortController();
  const stream = await fetch(`${host.base}/v1/session/${sessionId}/stream`, { signal: leave.signal });
  let isDone = false;
  const seen = new Set<unknown>();
  const client = async () => {
    while (!isDone) {
      const { status, body } = await call(`${host.base}/v1/tools/version`, { body: {} });
      expect([status, body.isError]).toEqual([200, false]);
      seen.add(body.result);
    }
  };
  const clients = Promise.all(Array.from({ length: 8 }, client));
  for (let count = 1; count <= 30; count += 1) {
    await host.swap(generation(String(count)));
    await expect.poll(() => seen.has(String(count)), { interval: 1 }).toBe(true);
  }
  isDone = true;
  await clients;
  expect(stream.ok).toBe(true);
  const reader = stream.body?.getReader();
  expect((await reader?.read())?.done).toBe(false);
  leave.abort();
});
