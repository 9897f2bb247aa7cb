/** What turns cost: list prices, charges of the provider, models without a price; over HTTP. */
import { LLMock } from "@copilotkit/aimock";
import { afterEach, expect, test } from "vitest";
import { priceOf } from "../../runtime/harness/models/prices.js";
import { makeBundle } from "./support/bundle.js";
import { call, followUntil, isWaiting, startHost, startSession } from "./support/host.js";
import { createTester } from "./support/tester.js";

const variables = ["OPENAI_API_KEY", "OPENAI_BASE_URL"] as const;
const saved = variables.map((name) => [name, process.env[name]] as const);
const mocks: LLMock[] = [];

afterEach(async () => {
  for (const [name, value] of saved) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
  await Promise.all(mocks.splice(0).map((mock) => mock.stop()));
});

async function serve(model: string): Promise<string> {
  const mock = new LLMock({ port: 0, host: "127.0.0.1" });
  mocks.push(mock);
  const usage = { prompt_tokens: 1000, completion_tokens: 500, total_tokens: 1500 };
  mock.on(
    { userMessage: "sum", hasToolResult: false },
    { toolCalls: [{ name: "add", arguments: '{"a":2,"b":3}' }], usage },
  );
  mock.on({ userMessage: "sum", hasToolResult: true }, { content: "5", usage });
  await mock.start();
  process.env.OPENAI_API_KEY = "sk-test-0123456789";
  process.env.OPENAI_BASE_URL = `${mock.url}/v1`;
  return (await startHost(makeBundle([createTester({ model }).parts]))).base;
}

async function costOf(base: string, message: string) {
  const { sessionId } = await startSession(base, { message });
  const events = await followUntil(base, sessionId, isWaiting);
  const { body } = await call(`${base}/v1/session/${sessionId}/cost`);
  const completed = events.flatMap((event) => (event.type === "turn.completed" ? [event] : []))[0];
  return { body, completed, sessionId };
}

test("the price list knows the models, and counts the cache apart", () => {
  const usage = { inputTokens: 1_000_000, outputTokens: 100_000, cacheReadTokens: 0, cacheWriteTokens: 0 };
  const price = priceOf("openai", "gpt-5", usage);
  expect(price).toBeCloseTo(1.25 + 1, 6);
  const cached = priceOf("openai", "gpt-5", { ...usage, cacheReadTokens: 1_000_000 });
  expect(cached).toBeLessThan(price ?? 0);
  for (const [provider, model] of [
    ["xai", "grok-4.5"],
    ["anthropic", "claude-sonnet-4-5"],
  ] as const) {
    expect(priceOf(provider, model, usage)).toBeGreaterThan(0);
  }
  expect(priceOf("openai", "no-such-model", usage)).toBeUndefined();
  expect(priceOf("openai-compatible", "gpt-5", usage)).toBeUndefined();
});

test("a turn costs what its steps cost by the list", async () => {
  const { body, completed, sessionId } = await costOf(await serve("openai/gpt-5"), "sum please");
  const totalUsd = 2 * ((1000 * 1.25 + 500 * 10) / 1_000_000);
  expect(completed?.data.cost?.totalUsd).toBeCloseTo(totalUsd, 9);
  expect(completed?.data.cost?.model).toBe("openai/gpt-5");
  expect(body).toEqual({
    sessionId,
    turns: [{ turnId: completed?.turnId, usage: completed?.data.usage, cost: completed?.data.cost }],
    total: { usage: completed?.data.usage, cost: { totalUsd: completed?.data.cost?.totalUsd } },
  });
});

test("a model that the list doesn't have: usage without cost, and it is said", async () => {
  const { body, completed } = await costOf(await serve("openai/homemade-1"), "sum please");
  expect(completed?.data.usage).toMatchObject({ inputTokens: 2000, outputTokens: 1000 });
  expect(completed?.data.cost).toBeUndefined();
  expect(body).toMatchObject({ unpriced: ["openai/homemade-1"], total: { usage: { inputTokens: 2000 } } });
  expect(body.total).not.toHaveProperty("cost");
});

test("a cancelled turn has cost its finished steps; the offline model is free", async () => {
  const tester = createTester();
  const { base } = await startHost(makeBundle([tester.parts]));
  const { sessionId } = await startSession(base, { message: "/wait {}" });
  await tester.begun.opened;
  await call(`${base}/v1/session/${sessionId}/stop`, { body: {} });
  const { body } = await call(`${base}/v1/session/${sessionId}/cost`);
  const [turn] = body.turns as { usage: { inputTokens: number } }[];
  expect(turn?.usage.inputTokens).toBeGreaterThan(0);
  expect(body).not.toHaveProperty("unpriced");
});
