/** Real models behind the port, over real HTTP: sessions on our side, a stand-in for the provider on the other. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { LLMock } from "@copilotkit/aimock";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { allSections } from "../../cli/api/sections.js";
import type { SessionEvent, SessionEventData, SessionEventType } from "../../runtime/session/event.js";
import { makeBundle } from "./support/bundle.js";
import { call, followUntil, isWaiting, nth, startHost, startSession } from "./support/host.js";
import { createTester } from "./support/tester.js";

const providers = [
  { name: "xAI", model: "grok-4.5", key: "XAI_API_KEY", url: "XAI_BASE_URL" },
  { name: "OpenAI", model: "openai/gpt-5", key: "OPENAI_API_KEY", url: "OPENAI_BASE_URL" },
  { name: "Anthropic", model: "anthropic/claude-sonnet-4-5", key: "ANTHROPIC_API_KEY", url: "ANTHROPIC_BASE_URL" },
  {
    name: "OpenAI-compatible",
    model: "openai-compatible/llama",
    key: "BDK_OPENAI_COMPATIBLE_API_KEY",
    url: "BDK_OPENAI_COMPATIBLE_BASE_URL",
  },
] as const;

const secret = "sk-test-0123456789";
const variables = providers.flatMap(({ key, url }) => [key, url]);
const saved = new Map(variables.map((name) => [name, process.env[name]]));
const closers: (() => Promise<unknown>)[] = [];

function pointTo(baseUrl: string): void {
  for (const { key, url } of providers) {
    process.env[key] = secret;
    process.env[url] = `${baseUrl}/v1`;
  }
}

afterEach(async () => {
  for (const [name, value] of saved) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
  await Promise.all(closers.splice(0).map((close) => close()));
});

async function serveAgent(model: string, params: { id: string; value: string }[] = []) {
  const tester = createTester({ model, params, instructions: "Answer briefly." });
  return { tester, ...(await startHost(makeBundle([tester.parts]), {}, allSections)) };
}

const dataOf = <T extends SessionEventType>(events: readonly SessionEvent[], type: T): SessionEventData[T][] =>
  events.flatMap((event) => (event.type === type ? [event.data as SessionEventData[T]] : []));

describe.each(providers)("$name", ({ model }) => {
  let mock: LLMock;

  beforeEach(async () => {
    mock = new LLMock({ port: 0, host: "127.0.0.1" });
    const usage = (prompt: number, completion: number) => ({
      prompt_tokens: prompt,
      completion_tokens: completion,
      total_tokens: prompt + completion,
    });
    mock.on(
      { userMessage: "sum", hasToolResult: false },
      { toolCalls: [{ name: "add", arguments: '{"a":2,"b":3}' }], usage: usage(111, 22) },
    );
    mock.on({ userMessage: "sum", hasToolResult: true }, { content: "The sum is 5.", usage: usage(150, 7) });
    mock.onMessage("think", { reasoning: "because reasons", content: "42", usage: usage(10, 5) });
    mock.onMessage("again", { content: "Still 42.", usage: usage(20, 4) });
    await mock.start();
    closers.push(() => mock.stop());
    pointTo(mock.url);
  });

  test("a tool call makes the round trip, with usage of both steps", async () => {
    const { base } = await serveAgent(model);
    const { sessionId } = await startSession(base, { message: "sum please" });
    const events = await followUntil(base, sessionId, isWaiting);
    expect(dataOf(events, "actions.requested")).toMatchObject([{ calls: [{ toolName: "add", args: { a: 2, b: 3 } }] }]);
    expect(dataOf(events, "action.result")).toMatchObject([{ toolName: "add", output: { sum: 5 }, isError: false }]);
    expect(dataOf(events, "message.completed").at(-1)).toMatchObject({ text: "The sum is 5.", finishReason: "stop" });
    expect(
      dataOf(events, "message.appended")
        .map((data) => data.delta)
        .join(""),
    ).toBe("The sum is 5.");
    expect(dataOf(events, "step.completed")).toMatchObject([
      { step: 1, finishReason: "tool-calls", usage: { inputTokens: 111, outputTokens: 22 } },
      { step: 2, finishReason: "stop", usage: { inputTokens: 150, outputTokens: 7 } },
    ]);
    expect(dataOf(events, "turn.completed")).toMatchObject([{ usage: { inputTokens: 261, outputTokens: 29 } }]);
    const [first, second] = mock.getRequests();
    expect(JSON.stringify(first?.body)).toContain("Answer briefly.");
    expect(JSON.stringify(second?.body)).toContain('{\\"sum\\":5}');
  });

  test("reasoning streams apart from the reply, and the next turn goes on from it", async () => {
    const { base } = await serveAgent(model);
    const { sessionId, continuationToken } = await startSession(base, { message: "think hard" });
    const events = await followUntil(base, sessionId, isWaiting);
    expect(dataOf(events, "reasoning.completed")).toEqual([{ text: "because reasons" }]);
    expect(dataOf(events, "message.completed")).toMatchObject([{ text: "42" }]);
    await call(`${base}/v1/session/${sessionId}`, { body: { continuationToken, message: "again" } });
    const all = await followUntil(base, sessionId, nth("session.waiting", 2));
    expect(dataOf(all, "message.completed").at(-1)).toMatchObject({ text: "Still 42." });
    expect(JSON.stringify(mock.getLastRequest()?.body)).toContain("42");
  });

  test("a refusal of the provider fails the turn with what to do, and without the key", async () => {
    mock.prependFixture({
      match: { userMessage: "refuse" },
      response: { error: { message: `bad key ${secret}`, type: "authentication_error" }, status: 401 },
    });
    const { base, lines } = await serveAgent(model);
    const { sessionId } = await startSession(base, { message: "refuse me" });
    const events = await followUntil(base, sessionId, isWaiting);
    const [failure] = dataOf(events, "turn.failed");
    expect(failure).toMatchObject({ status: "error", code: "model_unavailable" });
    expect(failure?.message).toContain("(401)");
    expect(failure?.message).toMatch(/_API_KEY/);
    expect(JSON.stringify([events, lines])).not.toContain(secret);
  });
});

/** A provider of our own making, where the test writes every byte. */
async function serveProvider(
  answer: (
    request: { url: string; headers: IncomingHttpHeaders; body: Record<string, unknown> },
    response: ServerResponse,
  ) => void,
) {
  const bodies: Record<string, unknown>[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>;
      bodies.push(body);
      answer({ url: request.url ?? "", headers: request.headers, body }, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  pointTo(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return { bodies };
}

/** Chunks of xAI's Responses API for a short reply. */
function xaiReply(text: string, usage: Record<string, unknown>): string {
  const response = { id: "resp_1", object: "response", created_at: 1, model: "grok-4.5", output: [] };
  const chunks = [
    { type: "response.created", response: { ...response, status: "in_progress" } },
    { type: "response.output_text.delta", item_id: "msg_1", output_index: 0, content_index: 0, delta: text },
    { type: "response.completed", response: { ...response, status: "completed", usage } },
  ];
  return chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("");
}

const sampleUsage = {
  input_tokens: 125,
  output_tokens: 48,
  total_tokens: 173,
  input_tokens_details: { cached_tokens: 98 },
  output_tokens_details: { reasoning_tokens: 16 },
  cost_in_usd_ticks: 37_756_000,
};

function sendStream(response: ServerResponse, text: string): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end(text);
}

test("xAI's own charge and cached tokens are what the turn reports", async () => {
  await serveProvider((_request, response) => sendStream(response, xaiReply("hi", sampleUsage)));
  const { base } = await serveAgent("grok-4.5");
  const { sessionId } = await startSession(base, { message: "hello" });
  const events = await followUntil(base, sessionId, isWaiting);
  expect(dataOf(events, "turn.completed")).toMatchObject([
    {
      usage: { inputTokens: 125, outputTokens: 48, cacheReadTokens: 98, cacheWriteTokens: 0, reasoningTokens: 16 },
      cost: { totalUsd: 0.0037756, model: "grok-4.5" },
    },
  ]);
});

test("effort reaches the provider, fast does not, and nothing is stored there", async () => {
  const { bodies } = await serveProvider((_request, response) => sendStream(response, xaiReply("hi", sampleUsage)));
  const params = [
    { id: "effort", value: "high" },
    { id: "fast", value: "true" },
  ];
  const { base } = await serveAgent("grok-4.5", params);
  const { sessionId } = await startSession(base, { message: "hello" });
  await followUntil(base, sessionId, isWaiting);
  expect(bodies[0]).toMatchObject({ model: "grok-4.5", stream: true, store: false, reasoning: { effort: "high" } });
  expect(JSON.stringify(bodies[0])).not.toContain("fast");
});

test("429 and 5xx are tried again, then answered", async () => {
  let requests = 0;
  await serveProvider((_request, response) => {
    requests += 1;
    if (requests === 3) return sendStream(response, xaiReply("at last", sampleUsage));
    response.writeHead(requests === 1 ? 429 : 503, { "content-type": "application/json", "retry-after": "0" });
    response.end('{"error":{"message":"later"}}');
  });
  const { base } = await serveAgent("grok-4.5");
  const { sessionId } = await startSession(base, { message: "hello" });
  const events = await followUntil(base, sessionId, isWaiting);
  expect(dataOf(events, "message.completed")).toMatchObject([{ text: "at last" }]);
  expect(requests).toBe(3);
});

test("a provider that stays away fails the turn after a few tries; a bad request is tried once", async () => {
  let requests = 0;
  let status = 503;
  await serveProvider((_request, response) => {
    requests += 1;
    response.writeHead(status, { "content-type": "application/json", "retry-after": "0" });
    response.end('{"error":{"message":"no such luck"}}');
  });
  const { base } = await serveAgent("grok-4.5");
  const away = await startSession(base, { message: "hello" });
  const events = await followUntil(base, away.sessionId, isWaiting);
  expect(dataOf(events, "turn.failed")).toMatchObject([
    { code: "model_unavailable", message: expect.stringMatching(/xAI answered 503 after 4 tries: .*no such luck/) },
  ]);
  expect(requests).toBe(4);
  status = 400;
  const bad = await startSession(base, { message: "hello" });
  await followUntil(base, bad.sessionId, isWaiting);
  expect(requests).toBe(5);
});

test("a provider that cannot be reached is told with its address", async () => {
  pointTo("http://127.0.0.1:1");
  const { base } = await serveAgent("openai/gpt-5");
  const { sessionId } = await startSession(base, { message: "hello" });
  const events = await followUntil(base, sessionId, isWaiting);
  expect(dataOf(events, "turn.failed")[0]?.message).toContain("OpenAI could not be reached at http://127.0.0.1:1/v1");
});

test("stop closes the connection to the provider at once", async () => {
  let left: () => void = () => undefined;
  const closed = new Promise<void>((resolve) => {
    left = resolve;
  });
  await serveProvider((_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(`${xaiReply("one moment", sampleUsage).split("\n\n").slice(0, 2).join("\n\n")}\n\n`);
    response.on("close", left);
  });
  const { base } = await serveAgent("grok-4.5");
  const { sessionId } = await startSession(base, { message: "hello" });
  await followUntil(base, sessionId, (event) => event.type === "message.appended");
  const { body } = await call(`${base}/v1/session/${sessionId}/stop`, { method: "POST" });
  expect(body.stopped).toBe(true);
  await closed;
  const events = await followUntil(base, sessionId, isWaiting);
  expect(dataOf(events, "turn.failed")).toMatchObject([{ status: "cancelled" }]);
});

test("a chunk of a shape nobody knows loses nothing", async () => {
  const odd = { type: "response.output_item.added", output_index: 0, item: { type: "hologram", id: "h" } };
  const ending = { type: "response.completed", response: { status: 7, usage: sampleUsage } };
  await serveProvider((_request, response) => {
    const chunks = xaiReply("hi", sampleUsage).split("\n\n");
    const [created, delta] = chunks;
    sendStream(
      response,
      [created, `data: ${JSON.stringify(odd)}`, delta, `data: ${JSON.stringify(ending)}`, ""].join("\n\n"),
    );
  });
  const { base } = await serveAgent("grok-4.5");
  const { sessionId } = await startSession(base, { message: "hello" });
  const events = await followUntil(base, sessionId, isWaiting);
  expect(dataOf(events, "message.completed")).toMatchObject([{ text: "hi", finishReason: "stop" }]);
  expect(dataOf(events, "turn.completed")).toMatchObject([{ usage: { inputTokens: 125, outputTokens: 48 } }]);
});

test("completion tokens that leave reasoning out are put right", async () => {
  await serveProvider((_request, response) => {
    const chunk = (fields: object) => `data: ${JSON.stringify({ id: "c", created: 1, model: "m", ...fields })}\n\n`;
    const usage = {
      prompt_tokens: 30,
      completion_tokens: 12,
      total_tokens: 142,
      completion_tokens_details: { reasoning_tokens: 100 },
    };
    sendStream(
      response,
      chunk({ choices: [{ index: 0, delta: { role: "assistant", content: "hi" } }] }) +
        chunk({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }) +
        chunk({ choices: [], usage }) +
        "data: [DONE]\n\n",
    );
  });
  const { base } = await serveAgent("openai-compatible/m");
  const { sessionId } = await startSession(base, { message: "hello" });
  const events = await followUntil(base, sessionId, isWaiting);
  expect(dataOf(events, "turn.completed")).toMatchObject([{ usage: { outputTokens: 112, reasoningTokens: 100 } }]);
});

test("an OpenAI-compatible endpoint needs an address, and no key", async () => {
  const seen: (string | undefined)[] = [];
  await serveProvider(({ headers }, response) => {
    seen.push(headers.authorization);
    response.writeHead(400).end();
  });
  delete process.env.BDK_OPENAI_COMPATIBLE_API_KEY;
  const open = await serveAgent("openai-compatible/m");
  const { sessionId } = await startSession(open.base, { message: "hello" });
  await followUntil(open.base, sessionId, isWaiting);
  expect(seen).toEqual([undefined]);
  delete process.env.BDK_OPENAI_COMPATIBLE_BASE_URL;
  const { lines } = await serveAgent("openai-compatible/m");
  expect(lines.map((line) => line.message).join()).toContain("BDK_OPENAI_COMPATIBLE_BASE_URL is not set");
});

/** What each provider's stream begins with: a piece of text, and no end. */
const beginnings = {
  chat: `data: ${JSON.stringify({ id: "c", created: 1, model: "m", choices: [{ index: 0, delta: { role: "assistant", content: "half " } }] })}\n\n`,
  responses: [
    {
      type: "response.created",
      response: { id: "r", object: "response", created_at: 1, model: "m", status: "in_progress", output: [] },
    },
    {
      type: "response.output_item.added",
      output_index: 0,
      item: { id: "i", type: "message", status: "in_progress", role: "assistant", content: [] },
    },
    { type: "response.output_text.delta", item_id: "i", output_index: 0, content_index: 0, delta: "half " },
  ]
    .map((event) => `data: ${JSON.stringify(event)}\n\n`)
    .join(""),
  messages: [
    {
      type: "message_start",
      message: {
        id: "m",
        type: "message",
        role: "assistant",
        model: "m",
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: 1, output_tokens: 1 },
      },
    },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "half " } },
  ]
    .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    .join(""),
};

test.each(providers)("$name: an answer that ends before its end fails the turn", async ({ model }) => {
  let act: (response: ServerResponse, beginning: string) => void = () => undefined;
  await serveProvider((request, response) => {
    const { url } = request;
    act(
      response,
      url.endsWith("messages")
        ? beginnings.messages
        : url.endsWith("responses")
          ? beginnings.responses
          : beginnings.chat,
    );
  });
  const { base } = await serveAgent(model);
  const failure = async (next: typeof act) => {
    act = next;
    const { sessionId } = await startSession(base, { message: "hello" });
    const events = await followUntil(base, sessionId, isWaiting);
    expect(dataOf(events, "turn.completed")).toEqual([]);
    return dataOf(events, "turn.failed")[0];
  };
  const early = /ended (before the model had finished|without a finish reason)/;
  expect(await failure((response, beginning) => sendStream(response, beginning))).toMatchObject({
    message: expect.stringMatching(early),
    code: "model_unavailable",
  });
  expect(await failure((response) => sendStream(response, ""))).toMatchObject({
    message: expect.stringMatching(early),
  });
  expect(
    await failure((response) => response.writeHead(200, { "content-type": "text/html" }).end("<html>log in</html>")),
  ).toMatchObject({ message: expect.stringMatching(early) });
  const cut = await failure((response, beginning) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(beginning, () => response.destroy());
  });
  expect(cut).toMatchObject({ code: "model_unavailable", message: expect.stringMatching(/broke off: (?!Failed)/) });
});
