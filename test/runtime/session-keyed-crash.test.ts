/** `kill -9` between a key's claim and its message: what took the message's place is not taken for it. */
import { spawnSync } from "node:child_process";
import { beforeAll, expect, test } from "vitest";
import type { SessionKeys } from "../../runtime/session/keys.js";
import { agentOf, alice, eventsOf, type OpenSessions, only, openSessions, run, tempDir } from "./support/sessions.js";
import { bundleWorker } from "./support/worker.js";

let worker = "";

beforeAll(async () => {
  worker = await bundleWorker("keyed-worker");
});

/** Sends "first" under a key in a process that is killed at its `step`-th write; whether it was accepted. */
function sendAndKill(how: string, root: string, sessionId: string, step: number): boolean {
  const preload = new URL("kill-at.mjs", import.meta.url).href;
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ["--import", preload, worker, how, root, sessionId, JSON.stringify({ agent: agentOf({}).agent })],
    { env: { ...process.env, KILL_AT: String(step) }, encoding: "utf8" },
  );
  expect(stderr).toBe("");
  return stdout !== "";
}

test.each(["followUp", "wake"])(
  "a kill at every step of %s, another message, the retry: each is there once",
  {
    timeout: 120_000,
  },
  async (how) => {
    let lost = 0;
    for (let step = 1; ; step += 1) {
      const root = tempDir();
      const before = await openSessions({ root });
      const channel = { channelId: "drive", continuationKey: "pr:1" };
      const { sessionId, continuationToken } = await run(before, "hello", channel);
      await before.close();
      const isAccepted = sendAndKill(how, root, sessionId, step);

      const after = await openSessions({ root });
      await after.recover();
      await after.settled(sessionId);
      const heard = async () => only(await eventsOf(after, sessionId), "message.received").map(({ data }) => data.text);
      if (!(await heard()).includes("first")) lost += 1;
      await after.followUp(alice, { sessionId, continuationToken, message: "second" });
      if (how === "wake") await (after as OpenSessions & SessionKeys).wake(sessionId, "first", "k");
      else await after.followUp(alice, { sessionId, continuationToken, message: "first", idempotencyKey: "k" });
      await after.settled(sessionId);
      expect({ step, heard: (await heard()).sort() }).toEqual({ step, heard: ["first", "hello", "second"] });
      await after.close();
      if (isAccepted) break;
    }
    expect(lost).toBeGreaterThan(1);
  },
);

test("a kill at every step of a fork, a message to what is left of it, the retry: the copy has its own message only", {
  timeout: 120_000,
}, async () => {
  for (let step = 1; ; step += 1) {
    const root = tempDir();
    const before = await openSessions({ root });
    const { sessionId } = await run(before, "hello");
    await before.close();
    const isAccepted = sendAndKill("fork", root, sessionId, step);

    const after = await openSessions({ root });
    await after.recover();
    const heard = async (id: string) => {
      await after.settled(id);
      return only(await eventsOf(after, id), "message.received").map(({ data }) => data.text);
    };
    const { sessions } = await after.list(alice, { limit: 10 });
    const halves = sessions.filter(({ id }) => id !== sessionId);
    for (const { id, continuationToken } of halves) {
      if ((await heard(id)).includes("first")) continue;
      await after.followUp(alice, { sessionId: id, continuationToken: continuationToken ?? "", message: "second" });
    }
    const { next: atIndex } = await after.position(alice, sessionId);
    const copy = await after.fork(alice, { sessionId, atIndex, message: "first", idempotencyKey: "k" });
    expect({ step, heard: await heard(copy.sessionId) }).toEqual({ step, heard: ["hello", "first"] });
    const listed = (await after.list(alice, { limit: 10 })).sessions;
    const all = (await Promise.all(listed.map(({ id }) => heard(id)))).flat();
    expect({ step, firsts: all.filter((text) => text === "first").length }).toEqual({ step, firsts: 1 });
    await after.close();
    if (isAccepted) break;
  }
});
