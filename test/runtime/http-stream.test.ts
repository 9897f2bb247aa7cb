/** The live feed, the dump, and reconnecting to both. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { SessionEvent } from "../../runtime/session/event.js";
import { makeBundle } from "./support/bundle.js";
import { emitProject } from "./support/emitted.js";
import { call, followUntil, isWaiting, nth, playgroundFolder, startHost, startSession } from "./support/host.js";
import { createTester } from "./support/tester.js";

async function finishedSession() {
  const host = await startHost(makeBundle([createTester().parts]), { assets: playgroundFolder() });
  const session = await startSession(host.base, { message: '/add {"a":1}' });
  const events = await followUntil(host.base, session.sessionId, isWaiting);
  return { ...host, ...session, events, url: `${host.base}/v1/session/${session.sessionId}` };
}

test("replay equals live", async () => {
  const { url, events } = await finishedSession();
  const response = await fetch(`${url}/events`);
  expect(response.headers.get("content-type")).toBe("application/x-ndjson; charset=utf-8");
  const lines = (await response.text()).trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line))).toEqual(events);
});

test("?format=json is one document", async () => {
  const { url, base, sessionId, events } = await finishedSession();
  const { body } = await call(`${url}/events?format=json`);
  expect(body).toEqual({ sessionId, events, playgroundUrl: `${base}/playground?sessionId=${sessionId}` });
  expect((await call(`${url}/events?format=xml`)).status).toBe(400);
});

test("reconnecting with the last index plus one gives neither gap nor repetition", async () => {
  const { base, sessionId, continuationToken, events } = await finishedSession();
  const next = events.length;
  const rest = followUntil(base, sessionId, nth("session.waiting", 1), { startIndex: next });
  await call(`${base}/v1/session/${sessionId}`, { body: { continuationToken, message: "again" } });
  const later = await rest;
  expect(later[0]?.index).toBe(next);
  expect(later.map((event) => event.index)).toEqual(later.map((_event, offset) => next + offset));
});

test("a start index beyond the end waits; one that is no whole number is 400", async () => {
  const { base, url, sessionId, continuationToken, events } = await finishedSession();
  const beyond = events.length + 2;
  const waiting = followUntil(base, sessionId, () => true, { startIndex: beyond });
  await call(url, { body: { continuationToken, message: "again" } });
  expect((await waiting)[0]?.index).toBe(beyond);
  for (const startIndex of ["-1", "1.5", "x", "", "9".repeat(20)]) {
    const { status, body } = await call(`${url}/stream?startIndex=${startIndex}`);
    expect([startIndex, status, body.error]).toEqual([startIndex, 400, "invalid_request"]);
  }
});

test("text/event-stream gives the same events with their index as id", async () => {
  const { url, events } = await finishedSession();
  const received = await readServerSentEvents(`${url}/stream`, {}, events.length);
  expect(received).toEqual(events.map((event) => ({ id: String(event.index), event })));
});

test("Last-Event-ID goes on after that event, whatever the URL says", async () => {
  const { url, events } = await finishedSession();
  const received = await readServerSentEvents(
    `${url}/stream?startIndex=0`,
    { "last-event-id": "2" },
    events.length - 3,
  );
  expect(received[0]?.id).toBe("3");
  expect((await call(`${url}/stream`, { headers: { "last-event-id": "x" } })).status).toBe(400);
});

test("HEAD answers with the head alone", async () => {
  const { url } = await finishedSession();
  const response = await fetch(`${url}/stream`, { method: "HEAD" });
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("application/x-ndjson; charset=utf-8");
  expect(await response.text()).toBe("");
});

test("deltas stream while the turn runs, and the stream stays open between turns", async () => {
  const tester = createTester();
  const { base } = await startHost(makeBundle([tester.parts]));
  const { sessionId } = await startSession(base, { message: "/wait {}" });
  const early = await followUntil(base, sessionId, (event) => event.type === "actions.requested");
  expect(early.some((event) => event.type === "action.result")).toBe(false);
  tester.gate.open();
  const all = await followUntil(base, sessionId, isWaiting);
  expect(all.slice(0, early.length)).toEqual(early);
});

test("a client that stops reading holds nothing up", async () => {
  const { base } = await startHost(makeBundle([createTester().parts]));
  const { sessionId, continuationToken } = await startSession(base, { message: "x".repeat(500_000) });
  const lazy = request(`${base}/v1/session/${sessionId}/stream`);
  lazy.end();
  const response = await new Promise<import("node:http").IncomingMessage>((resolve) => lazy.once("response", resolve));
  response.pause();
  await followUntil(base, sessionId, isWaiting);
  const next = await call(`${base}/v1/session/${sessionId}`, { body: { continuationToken, message: "still there?" } });
  expect(next.status).toBe(200);
  await followUntil(base, sessionId, nth("session.waiting", 2));
  lazy.destroy();
});

test("a damaged log is a clear 503 on the emitted bundle, also where its source map can't be read", async () => {
  const { start, kill, stateRoot, work } = await emitProject({});
  let base = await start();
  const { sessionId } = await startSession(base, { message: "hello" });
  await followUntil(base, sessionId, isWaiting);
  await kill();
  const trace = join(stateRoot, "traces", `${sessionId}.ndjson`);
  writeFileSync(trace, readFileSync(trace, "utf8").replace(/\{"type":"turn.started".*/, "\0".repeat(64)));
  rmSync(join(work, "out/server.mjs.map"));
  mkdirSync(join(work, "out/server.mjs.map"));
  base = await start();
  const message = expect.stringContaining(`traces/${sessionId}.ndjson is damaged`);
  for (const path of ["events", "events?format=json", "cost", "approvals"]) {
    const { status, body } = await call(`${base}/v1/session/${sessionId}/${path}`);
    expect([path, status, body]).toEqual([path, 503, { ok: false, error: "storage_unavailable", message }]);
  }
  expect((await fetch(`${base}/v1/session/${sessionId}/events`, { method: "HEAD" })).status).toBe(200);
});

async function readServerSentEvents(url: string, headers: Record<string, string>, count: number) {
  const leave = new AbortController();
  const response = await fetch(url, { headers: { accept: "text/event-stream", ...headers }, signal: leave.signal });
  expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
  const received: { id: string | undefined; event: SessionEvent }[] = [];
  let rest = "";
  for await (const chunk of response.body ?? []) {
    rest += Buffer.from(chunk).toString();
    const blocks = rest.split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const fields = new Map(
        block.split("\n").map((line) => [line.slice(0, line.indexOf(": ")), line.slice(line.indexOf(": ") + 2)]),
      );
      received.push({ id: fields.get("id"), event: JSON.parse(fields.get("data") ?? "") });
    }
    if (received.length >= count) break;
  }
  leave.abort();
  return received;
}
