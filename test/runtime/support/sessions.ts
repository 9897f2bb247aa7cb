/** Opens real session services over the real file store in a temporary folder. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { createOfflineHarness } from "../../../runtime/harness/offline/offline.js";
import type { OfflineScript } from "../../../runtime/harness/offline/script.js";
import type { AgentGeneration } from "../../../runtime/manifest/bundle.js";
import type { AgentManifest, ToolEntry } from "../../../runtime/manifest/schema.js";
import type { SessionEvent, SessionEventType } from "../../../runtime/session/event.js";
import type { Harness } from "../../../runtime/session/model.js";
import type { Accepted, Caller, CreateSession } from "../../../runtime/session/service.js";
import {
  type AgentSessions,
  type AgentSessionsOptions,
  openAgentSessions,
} from "../../../runtime/storage/agent-sessions.js";

export const alice: Caller = { owner: "bearer:alice", seesAll: false, auth: { kind: "bearer", id: "alice" } };
export const bob: Caller = { owner: "bearer:bob", seesAll: false, auth: { kind: "bearer", id: "bob" } };

/** A tool as a test writes it: the definition's fields, and the manifest's where they differ from the defaults. */
export interface TestTool {
  readonly execute: (input: never, ctx: never) => unknown;
  readonly effect?: "read" | "write" | ((input: never) => "read" | "write");
  readonly entry?: Partial<ToolEntry>;
  readonly [field: string]: unknown;
}

export interface TestAgent {
  readonly tools?: Readonly<Record<string, TestTool>>;
  readonly hooks?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly manifest?: Partial<AgentManifest>;
  readonly files?: Readonly<Record<string, string>>;
}

const origin = { source: "bot/x.ts:1", layer: "project" } as const;

/** The code of an agent, as the compiler would hand it over. */
export function agentOf({ tools = {}, hooks = {}, manifest = {}, files = {} }: TestAgent): AgentGeneration {
  const toolEntries = Object.entries(tools).map(
    ([name, { effect = "write", needsApproval, inputSchema, entry }]): ToolEntry => ({
      ...origin,
      id: `tool:${name}`,
      name,
      description: `Tool ${name}.`,
      execution: "server",
      effect: typeof effect === "function" ? "dynamic" : effect,
      needsApproval: needsApproval !== undefined && needsApproval !== false,
      validates: inputSchema === undefined ? "none" : "standard",
      inputSchema: { type: "object" },
      ...entry,
    }),
  );
  const agent: AgentManifest = {
    slug: "bot",
    name: "Bot",
    model: { id: "offline", params: [] },
    instructions: { text: "Be brief.", parts: [] },
    tools: toolEntries,
    skills: [],
    subagents: [],
    hooks: Object.keys(hooks).map((name) => ({ ...origin, id: `hook:${name}`, name, events: [] })),
    mcpConnections: [],
    hostConnections: [],
    channels: [],
    schedules: [],
    reminders: [],
    extensions: [],
    seeds: [],
    ...manifest,
  };
  const definitions: Record<string, unknown> = {};
  for (const [name, { entry: _, ...definition }] of Object.entries(tools)) definitions[`tool:${name}`] = definition;
  for (const [name, events] of Object.entries(hooks)) definitions[`hook:${name}`] = { events };
  return { agent, manifestHash: "sha256:test", definitions, files };
}

export interface OpenOptions extends TestAgent {
  readonly root?: string;
  readonly script?: OfflineScript;
  readonly harness?: Harness;
  readonly options?: Partial<AgentSessionsOptions>;
}

/** A temporary folder that is removed when the test is over. */
export function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), "bdk-test-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

export interface OpenSessions extends AgentSessions {
  readonly root: string;
  readonly logged: string[];
}

/** Opens a service; it is closed when the test is over. */
export async function openSessions({
  root = tempDir(),
  script,
  harness,
  options,
  ...agent
}: OpenOptions = {}): Promise<OpenSessions> {
  const logged: string[] = [];
  const generation = agentOf(agent);
  const model = harness ?? createOfflineHarness(script === undefined ? {} : { script });
  const sessions = await openAgentSessions({
    slug: "bot",
    stateRoot: join(root, "state"),
    workspaceDir: join(root, "workspaces"),
    generation: () => generation,
    harnesses: { resolve: async () => model, problem: () => undefined },
    sections: { "json-schema": () => import("../../../runtime/tools/json-schema.js") },
    log: (level, message) => logged.push(`${level} ${message}`),
    ...options,
  });
  let isClosed = false;
  const close = async (graceMs?: number) => {
    if (!isClosed) await sessions.close(graceMs);
    isClosed = true;
  };
  onTestFinished(() => close(0));
  return { ...sessions, close, root, logged };
}

/** Starts a session and waits until its turn is over or parked. */
export async function run(
  sessions: AgentSessions,
  message: string,
  request: Partial<CreateSession> = {},
): Promise<Accepted> {
  const accepted = await sessions.create(alice, { message, channelId: "http", ...request });
  await sessions.settled(accepted.sessionId);
  return accepted;
}

/** Everything recorded of a session. */
export async function eventsOf(sessions: AgentSessions, sessionId: string, startIndex = 0): Promise<SessionEvent[]> {
  const events: SessionEvent[] = [];
  for await (const lines of await sessions.read(alice, sessionId, startIndex)) {
    for (const line of lines) events.push(JSON.parse(line) as SessionEvent);
  }
  return events;
}

export async function typesOf(sessions: AgentSessions, sessionId: string): Promise<string[]> {
  return (await eventsOf(sessions, sessionId)).map((event) => event.type);
}

export function only<T extends SessionEventType>(events: readonly SessionEvent[], type: T): SessionEvent<T>[] {
  return events.flatMap((event) => (event.type === type ? [event as SessionEvent<T>] : []));
}

/** Waits for the first event that fits, following the session from its start. */
export async function waitFor(
  sessions: AgentSessions,
  sessionId: string,
  fits: (event: SessionEvent) => boolean,
): Promise<SessionEvent> {
  const stop = new AbortController();
  try {
    for await (const lines of await sessions.follow(alice, sessionId, 0, stop.signal)) {
      for (const line of lines) {
        const event = JSON.parse(line) as SessionEvent;
        if (fits(event)) return event;
      }
    }
  } finally {
    stop.abort();
  }
  throw new Error("the stream ended first");
}
