/** A real host on a loopback port the system picks, with a state root of its own. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, onTestFinished } from "vitest";
import { allSections } from "../../../cli/api/sections.js";
import { createHost, type Host } from "../../../runtime/host/index.js";
import type { HostOptions, LogLine } from "../../../runtime/host/options.js";
import type { Sections } from "../../../runtime/host/sections.js";
import type { AgentBundle } from "../../../runtime/manifest/bundle.js";
import type { SessionEvent } from "../../../runtime/session/event.js";

export interface TestHost extends Host {
  readonly stateRoot: string;
  readonly lines: LogLine[];
  /** URL of the first agent. */
  readonly base: string;
}

const open: Host[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((host) => host.close()));
});

/** A folder that is removed after the test, and after the processes that the test has started since are gone. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "bdk-http-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A folder of static files with a playground in it, as it stands beside `server.mjs`. */
export function playgroundFolder(): string {
  const assets = temporaryFolder();
  mkdirSync(join(assets, "playground"));
  writeFileSync(join(assets, "playground/index.html"), "<h1>play</h1>");
  return assets;
}

export async function startHost(
  bundle: AgentBundle,
  options: HostOptions = {},
  sections: Sections = allSections,
): Promise<TestHost> {
  const lines: LogLine[] = [];
  const stateRoot = options.stateRoot ?? temporaryFolder();
  const host = await createHost(bundle, { port: 0, stateRoot, log: (line) => lines.push(line), ...options }, sections);
  open.push(host);
  return Object.assign(host, { stateRoot, lines, base: host.agents[0]?.url ?? host.url });
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

/** A JSON request; `body` is sent as JSON when given. */
export async function call(url: string, init: Omit<RequestInit, "body"> & { body?: unknown } = {}): Promise<Answer> {
  const { body, headers, ...rest } = init;
  const response = await fetch(url, {
    method: body === undefined ? "GET" : "POST",
    ...rest,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === "" ? {} : JSON.parse(text) };
}

export interface Started {
  readonly sessionId: string;
  readonly continuationToken: string;
}

export async function startSession(
  base: string,
  body: Record<string, unknown>,
  headers?: HeadersInit,
): Promise<Started> {
  const answer = await call(`${base}/v1/session`, { body, ...(headers && { headers }) });
  if (answer.status !== 200)
    throw new Error(`POST /v1/session answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer.body as unknown as Started;
}

/** Events of the live stream from `startIndex` until `isLast` holds, then the connection is given up. */
export async function followUntil(
  base: string,
  sessionId: string,
  isLast: (event: SessionEvent) => boolean,
  options: { startIndex?: number; headers?: HeadersInit } = {},
): Promise<SessionEvent[]> {
  const query = options.startIndex === undefined ? "" : `?startIndex=${options.startIndex}`;
  const response = await fetch(`${base}/v1/session/${sessionId}/stream${query}`, {
    ...(options.headers && { headers: options.headers }),
  });
  if (!response.ok || response.body === null)
    throw new Error(`stream answered ${response.status}: ${await response.text()}`);
  const events: SessionEvent[] = [];
  let rest = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body) {
    rest += decoder.decode(chunk, { stream: true });
    const lines = rest.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const event = JSON.parse(line) as SessionEvent;
      events.push(event);
      if (!isLast(event)) continue;
      // Leaving the loop gives the connection up.
      return events;
    }
  }
  return events;
}

/** Whether the session can take the next message. */
export const isWaiting = (event: SessionEvent): boolean => event.type === "session.waiting";

/** The nth time a type comes by. */
export function nth(type: SessionEvent["type"], count: number): (event: SessionEvent) => boolean {
  let seen = 0;
  return (event) => event.type === type && ++seen === count;
}

/** Recorded events, once. */
export async function readEvents(base: string, sessionId: string): Promise<SessionEvent[]> {
  const { body } = await call(`${base}/v1/session/${sessionId}/events?format=json`);
  return (body as unknown as { events: SessionEvent[] }).events;
}
