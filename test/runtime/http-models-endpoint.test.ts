/** Endpoints of models that misbehave: ones that lead elsewhere, and ones that say nothing. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { allSections } from "../../cli/api/sections.js";
import { makeBundle } from "./support/bundle.js";
import { followUntil, isWaiting, startHost, startSession } from "./support/host.js";
import { createTester } from "./support/tester.js";

const providers = [
  { label: "xAI", model: "grok-4.5", prefix: "XAI" },
  { label: "OpenAI", model: "openai/gpt-5", prefix: "OPENAI" },
  { label: "Anthropic", model: "anthropic/claude-sonnet-4-5", prefix: "ANTHROPIC" },
  { label: "openai-compatible", model: "openai-compatible/m", prefix: "BDK_OPENAI_COMPATIBLE" },
] as const;

afterEach(() => {
  vi.unstubAllEnvs();
});

async function listen(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function nameOf({ label }: (typeof providers)[number]): string {
  return label === "openai-compatible" ? "the OpenAI-compatible endpoint" : label;
}

async function failedTurn({ model, prefix }: (typeof providers)[number], url: string) {
  vi.stubEnv(`${prefix}_API_KEY`, "sk-test-0123456789");
  vi.stubEnv(`${prefix}_BASE_URL`, `${url}/v1`);
  const { base } = await startHost(makeBundle([createTester({ model }).parts]), {}, allSections);
  const { sessionId } = await startSession(base, { message: "hello" });
  const events = await followUntil(base, sessionId, isWaiting);
  return events.flatMap((event) => (event.type === "turn.failed" ? [event.data] : []));
}

test.each(providers)("$label: a redirect to another origin gets neither key nor prompt", async (provider) => {
  const seen: IncomingMessage[] = [];
  const elsewhere = await listen((request, response) => {
    seen.push(request);
    response.end();
  });
  let requests = 0;
  const url = await listen((_request, response) => {
    requests += 1;
    response.writeHead(307, { location: `${elsewhere}/v1/steal` }).end();
  });
  expect(await failedTurn(provider, url)).toMatchObject([
    {
      code: "model_unavailable",
      message: expect.stringContaining(`redirects from ${url} to ${elsewhere}/v1/steal (307), and is not followed`),
    },
  ]);
  expect({ seen: seen.length, requests }).toEqual({ seen: 0, requests: 1 });
});

test("a redirect within the origin is followed with the request as it was", async () => {
  const seen: string[] = [];
  const url = await listen((request, response) => {
    seen.push(`${request.method} ${request.url} ${request.headers.authorization}`);
    if (request.url?.startsWith("/v1/") === true) response.writeHead(308, { location: `/v2${request.url}` }).end();
    else response.writeHead(400).end();
  });
  await failedTurn(providers[3], url);
  expect(seen).toEqual([
    "POST /v1/chat/completions Bearer sk-test-0123456789",
    "POST /v2/v1/chat/completions Bearer sk-test-0123456789",
  ]);
});

test.each(providers)("$label: one that says nothing fails the turn, at once and in the middle", async (provider) => {
  vi.stubEnv("BDK_MODEL_TIMEOUT_MS", "200");
  let requests = 0;
  const silent = await listen(() => {
    requests += 1;
  });
  expect(await failedTurn(provider, silent)).toMatchObject([
    { code: "model_unavailable", message: expect.stringContaining(`at ${silent}/v1 said nothing for 0.2 s`) },
  ]);
  // Not tried again; on a busy machine it may be given up before it was even heard.
  expect(requests).toBeLessThanOrEqual(1);
  const stuck = await listen((_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(": ping\n\n");
  });
  expect(await failedTurn(provider, stuck)).toMatchObject([
    { code: "model_unavailable", message: expect.stringContaining("said nothing for 0.2 s") },
  ]);
});

// Anthropic's package makes a status 500 of it.
const plain = providers.filter(({ label }) => label !== "Anthropic");
test.each(plain)("$label: one that speaks another language is told with what it said", async (provider) => {
  const url = await listen((_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).end("data: {{ 502 from the proxy\n\n");
  });
  const [failure] = await failedTurn(provider, url);
  expect(failure).toEqual({
    code: "model_unavailable",
    status: "error",
    message: `${nameOf(provider)} at ${url}/v1 sent something that is none of its answers: {{ 502 from the proxy`,
  });
});

test("a time limit that is none is told", async () => {
  vi.stubEnv("BDK_MODEL_TIMEOUT_MS", "soon");
  expect(await failedTurn(providers[0], "http://127.0.0.1:1")).toMatchObject([
    { code: "model_unavailable", message: "BDK_MODEL_TIMEOUT_MS is not a number of milliseconds: soon" },
  ]);
});
