/** `kill -9`: reminders survive, and none fires twice for a due time. */
import { spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { createInterface } from "node:readline";
import { beforeAll, expect, test } from "vitest";
import { allSections } from "../../cli/api/sections.js";
import type { AgentGeneration } from "../../runtime/manifest/bundle.js";
import { clockAt } from "./support/clock.js";
import { agentOf, alice, eventsOf, only, openSessions, run, tempDir } from "./support/sessions.js";
import { bundleWorker } from "./support/worker.js";

/** Kills at random points in one go; `BDK_CRASH_RUNS=50` for the long run. */
const runs = Number(process.env.BDK_CRASH_RUNS ?? 12);

interface Said {
  readonly made: string[];
  readonly ran: string[];
  calls?: number;
}

let worker = "";
const code: AgentGeneration = agentOf({
  manifest: {
    reminders: [{ id: "reminder:note", name: "note", source: "bot/reminders/note.ts:1", layer: "project" }],
  },
});

beforeAll(async () => {
  worker = await bundleWorker("reminders-worker");
});

/** Runs a worker to its end, which a kill may be: a moment after it said its `killAtLine`-th line. */
async function runWorker(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  said: Said,
  killAtLine?: number,
): Promise<string> {
  const flags = env.KILL_AT === undefined ? [] : ["--import", new URL("kill-at.mjs", import.meta.url).href];
  const child = spawn(process.execPath, [...flags, worker, ...args, JSON.stringify({ agent: code.agent })], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env },
  });
  const errors: string[] = [];
  child.stderr.on("data", (chunk: Buffer) => errors.push(chunk.toString()));
  const exited = new Promise((resolve) => child.once("exit", resolve));
  let count = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    count += 1;
    if (count === killAtLine) setTimeout(() => child.kill("SIGKILL"), Math.random() * 15);
    if (!line.endsWith("}")) continue; // cut off by the kill
    const fact = JSON.parse(line) as { made?: string; ran?: string; calls?: number };
    if (fact.made !== undefined) said.made.push(fact.made);
    if (fact.ran !== undefined) said.ran.push(fact.ran);
    if (fact.calls !== undefined) said.calls = fact.calls;
  }
  await exited;
  return errors.join("");
}

function openAt(root: string, at: string | undefined, said: Said) {
  const note = {
    run: ({ args }: { args: { name: string } }) => {
      said.ran.push(args.name);
      return { action: "delivered" };
    },
  };
  return openSessions({
    root,
    options: {
      sections: allSections,
      generation: () => ({ ...code, definitions: { "reminder:note": note } }),
      ...(at !== undefined && { clock: clockAt(at) }),
    },
  });
}

function counted(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

test(`kill -9 at ${runs} random points: what was made fires, each once`, {
  timeout: 20_000 + runs * 3_000,
}, async () => {
  const root = tempDir();
  const said: Said = { made: [], ran: [] };
  for (let at = 0; at < runs; at += 1) {
    const errors = await runWorker(["random", root], {}, said, 1 + randomInt(120));
    expect(errors.replaceAll(/^warn .*(?:cut off|cut short).*\n/gm, "")).toBe("");
  }
  const sessions = await openAt(root, undefined, said);
  await sessions.recover();
  await sessions.reminders.start();
  await expect.poll(() => sessions.reminders.api(undefined).list()).toEqual([]);
  const [session] = (await sessions.list(alice, { limit: 2 })).sessions;
  if (session === undefined) throw new Error("no session");
  await sessions.settled(session.id);
  const heard = only(await eventsOf(sessions, session.id), "message.received").map(({ data }) => data.text);
  const fired = counted([...heard.slice(1), ...said.ran]);
  expect([...fired].filter(([, count]) => count > 1)).toEqual([]);
  // A handler that was begun when its process died may not have said so: it is not begun again.
  const lost = said.made.filter((name) => !fired.has(name));
  expect(lost.filter((name) => name.startsWith("prompt"))).toEqual([]);
  expect(lost.length).toBeLessThanOrEqual(runs);
  expect(said.made.length).toBeGreaterThan(runs);
});

test("kill -9 at every step of a firing: a prompt is sent once, a handler runs at most once, the rhythm stays", {
  timeout: 180_000,
}, async () => {
  let killed = 0;
  for (let step = 1; ; step += 1) {
    const root = tempDir();
    const said: Said = { made: [], ran: [] };
    const before = await openAt(root, "2026-03-02T09:00:00Z", said);
    const { sessionId } = await run(before, "hello", { channelId: "drive", continuationKey: "pr:1" });
    const api = before.reminders.api(undefined);
    const target = { purpose: "p", channelId: "drive", continuationToken: "pr:1" };
    await api.create({ ...target, delay: "1h", prompt: "once" });
    await api.create({ ...target, every: "1h", prompt: "again" });
    await api.create({ ...target, delay: "1h", handler: "note", args: { name: "note" } });
    await before.close();

    await runWorker(["steps", root], { NOW: "2026-03-02T10:00:30Z", KILL_AT: String(step) }, said);
    if (said.calls === undefined) killed += 1;

    const after = await openAt(root, "2026-03-02T10:00:40Z", said);
    await after.recover();
    await after.reminders.start();
    await expect
      .poll(async () => (await after.reminders.api(undefined).list()).map(({ nextAt }) => nextAt))
      .toEqual(["2026-03-02T11:00:00.000Z"]);
    await after.settled(sessionId);
    const heard = only(await eventsOf(after, sessionId), "message.received").map(({ data }) => data.text);
    expect({ step, heard: heard.slice(1).sort() }).toEqual({ step, heard: ["again", "once"] });
    expect(said.ran.length).toBeLessThanOrEqual(1);
    await after.close();
    if (said.calls !== undefined) break;
  }
  expect(killed).toBeGreaterThan(8);
});
