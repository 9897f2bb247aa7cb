import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { SessionEvent } from "../../runtime/session/event.js";
import { alice, eventsOf, openSessions, run } from "./support/sessions.js";

test("a follower replays from any index and then goes on live, without gap or duplicate", async () => {
  const pieces = Array.from({ length: 30 }, (_, at) => [{ text: `${at} ` }, { delay: 3 }]).flat();
  const sessions = await openSessions({ script: { rules: [{ steps: [pieces] }] } });
  let { sessionId, continuationToken } = await sessions.create(alice, { message: "one", channelId: "http" });
  const stop = new AbortController();
  const follow = async (startIndex: number) => {
    const indexes: number[] = [];
    for await (const lines of await sessions.follow(alice, sessionId, startIndex, stop.signal)) {
      for (const line of lines) indexes.push((JSON.parse(line) as SessionEvent).index);
    }
    return indexes;
  };
  const starts = [0, 1, 4, 7, 15];
  const followers = starts.map(follow);
  await sessions.settled(sessionId);
  ({ continuationToken } = await sessions.followUp(alice, { sessionId, continuationToken, message: "two" }));
  const late = follow(3);
  await sessions.settled(sessionId);
  const all = (await eventsOf(sessions, sessionId)).map(({ index }) => index);
  expect(all.length).toBeGreaterThan(20);
  const last = all.length - 1;
  await expect.poll(async () => (await eventsOf(sessions, sessionId, last)).length).toBe(1);
  stop.abort();
  expect(await Promise.all(followers)).toEqual(starts.map((start) => all.slice(start)));
  expect(await late).toEqual(all.slice(3));
});

test("reading from any index gives exactly the rest, in a long session too, and byte for byte the file", async () => {
  const text = "ä".repeat(3_000);
  const sessions = await openSessions({ script: { rules: [{ steps: [[{ text }]] }] } });
  let { sessionId, continuationToken } = await run(sessions, "start");
  for (let turn = 0; turn < 60; turn += 1) {
    ({ continuationToken } = await sessions.followUp(alice, { sessionId, continuationToken, message: `${turn}` }));
    await sessions.settled(sessionId);
  }
  const lines: string[] = [];
  for await (const batch of await sessions.read(alice, sessionId, 0)) lines.push(...batch);
  expect(`${lines.join("\n")}\n`).toBe(
    readFileSync(join(sessions.root, "state", "traces", `${sessionId}.ndjson`), "utf8"),
  );
  const all = await eventsOf(sessions, sessionId);
  for (const start of [0, 1, 17, 100, 333, all.length - 1, all.length, all.length + 5]) {
    expect(await eventsOf(sessions, sessionId, start)).toEqual(all.slice(start));
  }
});

test("a line longer than any buffer is read whole", async () => {
  const sessions = await openSessions();
  const message = "x".repeat(300_000);
  const { sessionId } = await run(sessions, message);
  const events = await eventsOf(sessions, sessionId);
  expect(events[1]?.data).toEqual({ text: message });
  await sessions.close();
});

test("a slow follower holds nothing: it finds everything later", async () => {
  const sessions = await openSessions();
  let { sessionId, continuationToken } = await run(sessions, "start");
  const stop = new AbortController();
  const slow = (await sessions.follow(alice, sessionId, 0, stop.signal))[Symbol.asyncIterator]();
  const first = await slow.next();
  for (let turn = 0; turn < 20; turn += 1) {
    ({ continuationToken } = await sessions.followUp(alice, {
      sessionId,
      continuationToken,
      message: "x".repeat(20_000),
    }));
    await sessions.settled(sessionId);
  }
  const expected = await eventsOf(sessions, sessionId);
  const lines = [...(first.value ?? [])];
  while (lines.length < expected.length) lines.push(...((await slow.next()).value ?? []));
  expect(lines.map((line) => (JSON.parse(line) as SessionEvent).index)).toEqual(expected.map(({ index }) => index));
  const pending = slow.next();
  stop.abort();
  expect((await pending).done).toBe(true);
});

test("the stream of a task session ends with it, also when it has ended before", async () => {
  const sessions = await openSessions();
  const { sessionId } = await sessions.create(alice, { message: "report", channelId: "http", mode: "task" });
  const read = async () => {
    const types: string[] = [];
    for await (const lines of await sessions.follow(alice, sessionId, 0, new AbortController().signal)) {
      types.push(...lines.map((line) => (JSON.parse(line) as SessionEvent).type));
    }
    return types;
  };
  const live = await read();
  expect(live.at(-1)).toBe("session.completed");
  expect(await read()).toEqual(live);
});

test("closing the service ends every stream", async () => {
  const sessions = await openSessions();
  const { sessionId } = await run(sessions, "hello");
  const follower = (async () => {
    for await (const _ of await sessions.follow(alice, sessionId, 0, new AbortController().signal));
    return "ended";
  })();
  await sessions.close();
  expect(await follower).toBe("ended");
  await expect(sessions.create(alice, { message: "late", channelId: "http" })).rejects.toMatchObject({ status: 503 });
});
