import { type ChildProcess, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { beforeAll, expect, test } from "vitest";
import type { SessionEvent } from "../../runtime/session/event.js";
import { agentOf, alice, eventsOf, only, openSessions, tempDir } from "./support/sessions.js";
import { bundleWorker } from "./support/worker.js";

/** Kills in one go; `BDK_CRASH_RUNS=50` for the long run. */
const runs = Number(process.env.BDK_CRASH_RUNS ?? 12);

/** What a worker said before it died. */
interface Said {
  readonly accepted: Map<string, string[]>;
  readonly seen: Map<string, string[]>;
  readonly wrote: string[];
}

let worker = "";
const agent = agentOf({
  tools: { read: { effect: "read", execute: () => "read" }, write: { execute: () => "again" } },
});

beforeAll(async () => {
  worker = await bundleWorker("crash-worker");
});

/** Starts a worker and kills it a moment after it said its `atLine`-th line: by its own progress, whatever the machine's. */
async function runAndKill(root: string, atLine: number, said: Said): Promise<string> {
  const child: ChildProcess = spawn(process.execPath, [worker, root, JSON.stringify({ agent: agent.agent })], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const errors: string[] = [];
  child.stderr?.on("data", (chunk: Buffer) => errors.push(chunk.toString()));
  const exited = new Promise((resolve) => child.once("exit", resolve));
  if (child.stdout === null) throw new Error("no stdout");
  let count = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    count += 1;
    if (count === atLine) setTimeout(() => child.kill("SIGKILL"), Math.random() * 15);
    if (!line.endsWith("}")) continue; // cut off by the kill
    const fact = JSON.parse(line) as {
      sessionId?: string;
      accepted?: string;
      seen?: string;
      wrote?: string;
    };
    const { sessionId = "" } = fact;
    if (fact.wrote !== undefined) said.wrote.push(fact.wrote);
    if (fact.accepted !== undefined)
      said.accepted.set(sessionId, [...(said.accepted.get(sessionId) ?? []), fact.accepted]);
    if (fact.seen !== undefined) said.seen.set(sessionId, [...(said.seen.get(sessionId) ?? []), fact.seen]);
  }
  await exited;
  return errors.join("");
}

test(`kill -9 at ${runs} random points: nothing accepted or seen is lost, logs are valid, sessions go on`, {
  timeout: 10_000 + runs * 3_000,
}, async () => {
  const root = tempDir();
  const said: Said = { accepted: new Map(), seen: new Map(), wrote: [] };
  for (let run = 0; run < runs; run += 1) {
    const errors = await runAndKill(root, 1 + randomInt(160), said);
    expect(errors.replaceAll(/^warn .*cut off.*\n/gm, "")).toBe("");
  }
  expect(said.accepted.size).toBeGreaterThan(runs / 2);

  const sessions = await openSessions({
    root,
    tools: {
      read: { effect: "read", execute: () => "read" },
      write: { execute: ({ id }: { id: string }) => said.wrote.push(id) },
    },
  });
  await sessions.recover();
  for (const sessionId of said.accepted.keys()) {
    await sessions.settled(sessionId);
    const events = await eventsOf(sessions, sessionId);
    const trace = readFileSync(join(root, "state", "traces", `${sessionId}.ndjson`), "utf8");
    expect(trace.endsWith("\n")).toBe(true);
    const lines = trace.trimEnd().split("\n");
    expect(events.map(({ index }) => index)).toEqual(events.map((_, at) => at));
    expect(lines.slice(0, said.seen.get(sessionId)?.length ?? 0)).toEqual(said.seen.get(sessionId) ?? []);
    const received = only(events, "message.received").map(({ data }) => data.text);
    expect(received).toEqual(expect.arrayContaining(said.accepted.get(sessionId) ?? []));
    expect(received).toEqual([...new Set(received)]);
    checkTurns(events);
  }
  // No write ran twice: each message asks for one, named after it.
  expect(said.wrote).toEqual([...new Set(said.wrote)]);

  const [someone = ""] = said.accepted.keys();
  const { continuationToken } = await sessions.get(alice, someone);
  await sessions.followUp(alice, {
    sessionId: someone,
    continuationToken: continuationToken ?? "",
    message: "still there?",
  });
  await sessions.settled(someone);
  expect((await eventsOf(sessions, someone)).at(-1)?.type).toBe("session.waiting");
});

/** Every turn ends exactly once, every call has exactly one result, and the session waits. */
function checkTurns(events: readonly SessionEvent[]): void {
  const started = only(events, "turn.started").map(({ turnId }) => turnId);
  const ended = events
    .filter(({ type }) => type === "turn.completed" || type === "turn.failed")
    .map(({ turnId }) => turnId);
  expect(ended).toEqual(started);
  const calls = only(events, "actions.requested").flatMap(({ data }) => data.calls.map(({ callId }) => callId));
  const results = only(events, "action.result").map(({ data }) => data.callId);
  expect([...results].sort()).toEqual([...calls].sort());
  expect(events.at(-1)?.type).toBe("session.waiting");
}
