import fs, {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { alice, eventsOf, only, openSessions, run, tempDir, typesOf, waitFor } from "./support/sessions.js";

const stateOf = (root: string) => join(root, "state");

function modesBelow(dir: string): string[] {
  return readdirSync(dir, { recursive: true, withFileTypes: true }).map((entry) => {
    const mode = (statSync(join(entry.parentPath, entry.name)).mode & 0o777).toString(8);
    return `${entry.isDirectory() ? "dir" : "file"} ${mode}`;
  });
}

test("the layout is the documented one, and private", async () => {
  const root = tempDir();
  const sessions = await openSessions({ root, tools: { note: { execute: async (_: never, ctx: never) => ctx } } });
  const { sessionId } = await run(sessions, "hello", { workspaceFiles: { "a/b.txt": "x" } });
  const state = stateOf(root);
  expect(existsSync(join(state, "sessions", sessionId, "session.json"))).toBe(true);
  const trace = readFileSync(join(state, "traces", `${sessionId}.ndjson`), "utf8");
  expect(trace.endsWith("\n")).toBe(true);
  expect(
    trace
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).index),
  ).toEqual((await eventsOf(sessions, sessionId)).map(({ index }) => index));
  expect(JSON.parse(readFileSync(join(state, "sessions", sessionId, "session.json"), "utf8"))).toMatchObject({
    formatVersion: 1,
    id: sessionId,
    owner: "bearer:alice",
  });
  await sessions.close();
  expect(new Set(modesBelow(root))).toEqual(new Set(["dir 700", "file 600"]));
});

test("a session survives a restart: list, events and conversation go on", async () => {
  const root = tempDir();
  const first = await openSessions({ root });
  const { sessionId, continuationToken } = await run(first, "one");
  const before = await eventsOf(first, sessionId);
  const summary = await first.get(alice, sessionId);
  await first.close();
  const second = await openSessions({ root });
  expect(await second.get(alice, sessionId)).toEqual(summary);
  expect(await eventsOf(second, sessionId)).toEqual(before);
  await second.followUp(alice, { sessionId, continuationToken, message: "two" });
  await second.settled(sessionId);
  const after = await eventsOf(second, sessionId);
  expect(after.slice(0, before.length)).toEqual(before);
  expect(after.map(({ index }) => index)).toEqual(after.map((_, at) => at));
});

test("one process a store: a second one is refused with the reason", async () => {
  const root = tempDir();
  await openSessions({ root });
  await expect(openSessions({ root })).rejects.toMatchObject({
    code: "storage_unavailable",
    message: expect.stringContaining(`pid ${process.pid}`),
  });
});

test("a lock of a dead process, of an earlier boot or cut off by a crash is taken over", async () => {
  const root = tempDir();
  for (const lock of [
    JSON.stringify({ pid: 2 ** 22 - 1, startedAt: "1" }),
    JSON.stringify({ pid: process.pid, startedAt: "1" }),
    JSON.stringify({ pid: process.pid, bootId: "another" }),
    '{"pid":',
  ]) {
    mkdirSync(stateOf(root), { recursive: true });
    writeFileSync(join(stateOf(root), "lock"), lock);
    const sessions = await openSessions({ root });
    await sessions.close();
  }
  expect(readdirSync(stateOf(root)).filter((name) => name.startsWith("lock"))).toEqual([]);
});

test("a lock of another machine: refused while its holder touches it, taken over when that one is silent", async () => {
  const roots = { alive: tempDir(), silent: tempDir() };
  const lock = JSON.stringify({ pid: process.pid, startedAt: "1", bootId: "b", host: "elsewhere", space: "pid:[1]" });
  for (const root of Object.values(roots)) {
    mkdirSync(stateOf(root), { recursive: true });
    writeFileSync(join(stateOf(root), "lock"), lock);
  }
  let at = Date.now() / 1000;
  const beating = setInterval(() => utimesSync(join(stateOf(roots.alive), "lock"), at, at++), 50);
  const [refused, taken] = await Promise.all([
    openSessions({ root: roots.alive }).catch((error: unknown) => error),
    openSessions({ root: roots.silent }),
  ]).finally(() => clearInterval(beating));
  expect(refused).toMatchObject({ code: "storage_unavailable", message: expect.stringContaining("on elsewhere)") });
  expect(readFileSync(join(stateOf(roots.alive), "lock"), "utf8")).toBe(lock);
  expect(taken.logged.join("\n")).toContain("watching whether it lives");
  expect((await run(taken, "hello")).sessionId).toMatch(/^ses_/);
}, 30_000);

test("who finds its lock in other hands writes nothing more, and can still be read", async () => {
  const root = tempDir();
  const sessions = await openSessions({ root });
  const { sessionId, continuationToken } = await run(sessions, "hello");
  const events = await eventsOf(sessions, sessionId);
  const lock = join(stateOf(root), "lock");
  rmSync(lock);
  await expect.poll(() => existsSync(lock), { timeout: 10_000 }).toBe(true);
  const other = JSON.stringify({ pid: 1, host: "elsewhere" });
  writeFileSync(lock, other);
  await expect.poll(() => sessions.logged.join("\n"), { timeout: 10_000 }).toContain("another server has taken over");
  const index = readFileSync(join(stateOf(root), "index.ndjson"), "utf8");
  const refusal = { code: "storage_unavailable", status: 503 };
  await expect(sessions.create(alice, { message: "x", channelId: "http" })).rejects.toMatchObject(refusal);
  const followUp = { sessionId, continuationToken, message: "on" };
  await expect(sessions.followUp(alice, followUp)).rejects.toMatchObject(refusal);
  expect(await eventsOf(sessions, sessionId)).toEqual(events);
  await sessions.close();
  expect(readFileSync(join(stateOf(root), "index.ndjson"), "utf8")).toBe(index);
  expect(readFileSync(lock, "utf8")).toBe(other);
});

test("a store of a newer format is refused and left alone", async () => {
  const root = tempDir();
  const sessions = await openSessions({ root });
  await sessions.close();
  const facts = join(stateOf(root), "store.json");
  writeFileSync(facts, JSON.stringify({ formatVersion: 2, clean: true }));
  await expect(openSessions({ root })).rejects.toMatchObject({ message: expect.stringContaining("newer version") });
  expect(JSON.parse(readFileSync(facts, "utf8"))).toEqual({ formatVersion: 2, clean: true });
});

test("a torn last line is cut off with a warning and nothing else is lost", async () => {
  const root = tempDir();
  const first = await openSessions({ root });
  const { sessionId, continuationToken } = await run(first, "one");
  const before = await eventsOf(first, sessionId);
  await first.close();
  for (const torn of ['{"type":"turn.comp', '{"type":"turn.comp\n', "\0\0\0\0\0\0", `{"text":"${"x".repeat(40_000)}`]) {
    appendFileSync(join(stateOf(root), "traces", `${sessionId}.ndjson`), torn);
    const sessions = await openSessions({ root });
    expect(await eventsOf(sessions, sessionId)).toEqual(before);
    expect(sessions.logged.join("\n")).toContain("cut off");
    await sessions.close();
  }
  const last = await openSessions({ root });
  await last.followUp(alice, { sessionId, continuationToken, message: "two" });
  await last.settled(sessionId);
  expect((await typesOf(last, sessionId)).at(-1)).toBe("session.waiting");
});

test("a deleted session directory is a deleted session: list, get, stream and token", async () => {
  const sessions = await openSessions();
  const kept = await run(sessions, "kept");
  const { sessionId, continuationToken } = await run(sessions, "gone");
  const following = (async () => {
    const never = new AbortController().signal;
    for await (const _ of await sessions.follow(alice, sessionId, 0, never));
    return "ended";
  })();
  rmSync(join(stateOf(sessions.root), "sessions", sessionId), { recursive: true });
  expect(await following).toBe("ended");
  expect((await sessions.list(alice, { limit: 10 })).sessions.map(({ id }) => id)).toEqual([kept.sessionId]);
  for (const attempt of [
    sessions.get(alice, sessionId),
    sessions.read(alice, sessionId, 0),
    sessions.followUp(alice, { sessionId, continuationToken, message: "x" }),
  ]) {
    await expect(attempt).rejects.toMatchObject({ code: "not_found" });
  }
});

test("a session deleted while its turn runs is let go, and the server goes on", async () => {
  const sessions = await openSessions({
    script: { rules: [{ when: "slow", steps: [[{ text: "a" }, { delay: 60_000 }]] }] },
  });
  const { sessionId } = await sessions.create(alice, { message: "slow", channelId: "http" });
  rmSync(join(stateOf(sessions.root), "sessions", sessionId), { recursive: true });
  await expect(sessions.stop(alice, sessionId)).rejects.toMatchObject({ code: "not_found" });
  expect(existsSync(join(stateOf(sessions.root), "sessions", sessionId))).toBe(false);
  expect(await run(sessions, "hello")).toBeDefined();
});

test("after the machine went down the index is made again from the logs, and open turns leave a gap", async () => {
  const root = tempDir();
  const first = await openSessions({
    root,
    script: { rules: [{ when: "slow", steps: [[{ text: "a" }, { delay: 60_000 }]] }] },
  });
  const idle = await run(first, "idle");
  const open = await first.create(alice, { message: "slow", channelId: "http" });
  const before = await first.get(alice, idle.sessionId);
  await first.close(0);
  const state = stateOf(root);
  rmSync(join(state, "index.ndjson"));
  writeFileSync(
    join(state, "store.json"),
    JSON.stringify({ formatVersion: 1, bootId: "an earlier one", clean: false }),
  );
  const second = await openSessions({ root });
  expect(await second.get(alice, idle.sessionId)).toEqual(before);
  await second.recover();
  await second.settled(open.sessionId);
  const events = await eventsOf(second, open.sessionId);
  const again = events.findIndex(({ type, data }) => type === "step.started" && "attempt" in data);
  expect((events[again]?.index ?? 0) - (events[again - 1]?.index ?? 0)).toBeGreaterThan(1000);
  expect(events[again]?.data).toEqual({ step: 1, attempt: 2 });
  expect(await eventsOf(second, open.sessionId, events[again]?.index ?? 0)).toEqual(events.slice(again));
  expect((await typesOf(second, open.sessionId)).at(-1)).toBe("session.waiting");
});

test("a turn left open goes on: reads run again, a write does not", async () => {
  const root = tempDir();
  const ran: string[] = [];
  const held = new Promise(() => undefined);
  const note = (name: string, value: unknown) => {
    ran.push(name);
    return value;
  };
  const agent = (hang: boolean) => ({
    tools: {
      read: { effect: "read" as const, execute: () => note("read", hang ? held : "fresh") },
      write: { execute: () => note("write", hang ? held : "twice!") },
    },
    hooks: { all: { "*": (event: { type: string; index: number }) => void seen.push(event.index) } },
  });
  const seen: number[] = [];
  const first = await openSessions({ root, ...agent(true) });
  const { sessionId } = await first.create(alice, { message: "/read {}\n/write {}", channelId: "http" });
  await waitFor(first, sessionId, (event) => event.type === "actions.requested");
  await expect.poll(() => ran.length).toBe(2);
  await first.close(0);
  const second = await openSessions({ root, ...agent(false) });
  expect(await second.get(alice, sessionId)).toMatchObject({ status: "running" });
  await second.recover();
  await second.settled(sessionId);
  expect(ran).toEqual(["read", "write", "read"]);
  const events = await eventsOf(second, sessionId);
  const results = only(events, "action.result").map(({ data }) => data);
  expect(results.find(({ toolName }) => toolName === "read")).toMatchObject({ output: "fresh", isError: false });
  expect(results.find(({ toolName }) => toolName === "write")).toMatchObject({
    isError: true,
    output: { message: expect.stringContaining("unknown") },
  });
  expect(only(events, "turn.completed")).toHaveLength(1);
  expect(new Set(seen).size).toBe(seen.length);
});

test("a store that can't be written accepts nothing, and recovers", async () => {
  const root = tempDir();
  const sessions = await openSessions({ root });
  const { sessionId, continuationToken } = await run(sessions, "one");
  const state = stateOf(root);
  for (const name of ["sessions", "traces"]) renameSync(join(state, name), join(state, `${name}.aside`));
  for (const name of ["sessions", "traces"]) writeFileSync(join(state, name), "in the way");
  await expect(sessions.create(alice, { message: "lost", channelId: "http" })).rejects.toMatchObject({
    code: "storage_unavailable",
    status: 503,
  });
  for (const name of ["sessions", "traces"]) {
    rmSync(join(state, name));
    renameSync(join(state, `${name}.aside`), join(state, name));
  }
  expect((await sessions.list(alice, { limit: 10 })).sessions.map(({ id }) => id)).toEqual([sessionId]);
  await sessions.followUp(alice, { sessionId, continuationToken, message: "two" });
  await sessions.settled(sessionId);
  expect(await sessions.get(alice, sessionId)).toMatchObject({ status: "waiting", turns: 2 });
  expect(readdirSync(join(state, "traces"))).toEqual([`${sessionId}.ndjson`]);
});

test("the index stays small over many turns", async () => {
  const root = tempDir();
  const sessions = await openSessions({ root });
  let { sessionId, continuationToken } = await run(sessions, "start");
  for (let turn = 0; turn < 50; turn += 1) {
    ({ continuationToken } = await sessions.followUp(alice, { sessionId, continuationToken, message: "more" }));
    await sessions.settled(sessionId);
  }
  await sessions.close();
  const lines = readFileSync(join(stateOf(root), "index.ndjson"), "utf8")
    .trimEnd()
    .split("\n");
  expect(lines).toHaveLength(2); // the head, and one row for the one session
  const again = await openSessions({ root });
  expect(await again.get(alice, sessionId)).toMatchObject({ turns: 51, continuationToken });
});

test.each([
  ["lost", (file: string) => rmSync(file)],
  ["emptied", (file: string) => writeFileSync(file, "")],
  ["filled with something else", (file: string) => writeFileSync(file, "garbage\n\0\0{}\n7\n")],
  ["damaged in one line", (file: string) => writeFileSync(file, `${readFileSync(file, "utf8")}{"id":\n`)],
])("an index that was %s is made anew from the logs", async (_how, damage) => {
  const root = tempDir();
  const first = await openSessions({ root });
  const { sessionId, continuationToken } = await run(first, "one");
  await run(first, "other");
  const before = await first.list(alice, { limit: 10 });
  await first.close();
  damage(join(stateOf(root), "index.ndjson"));
  const second = await openSessions({ root });
  expect(await second.list(alice, { limit: 10 })).toEqual(before);
  expect(second.logged.join("\n")).toContain("index.ndjson is lost or damaged");
  await second.followUp(alice, { sessionId, continuationToken, message: "two" });
  await second.settled(sessionId);
  const indexes = (await eventsOf(second, sessionId)).map(({ index }) => index);
  expect(indexes).toEqual(indexes.map((_, at) => at));
  await second.close();
  const third = await openSessions({ root });
  expect(third.logged.join("\n")).not.toContain("damaged");
});

test.each(["", "{garbage", "null", "7"])(
  "a store.json of %j is taken for a crash, not for a reason to stop",
  async (facts) => {
    const root = tempDir();
    const first = await openSessions({ root });
    const { sessionId } = await run(first, "one");
    await first.close();
    writeFileSync(join(stateOf(root), "store.json"), facts);
    const second = await openSessions({ root });
    expect(await second.get(alice, sessionId)).toMatchObject({ status: "waiting", turns: 1 });
  },
);

test("one damaged session doesn't keep the others from being served", async () => {
  const root = tempDir();
  const first = await openSessions({ root });
  const { sessionId: damaged, continuationToken } = await run(first, "one");
  const { sessionId } = await run(first, "two");
  await first.close();
  writeFileSync(join(stateOf(root), "sessions", damaged, "session.json"), "{garbage\n");
  const second = await openSessions({ root });
  const attempt = second.followUp(alice, { sessionId: damaged, continuationToken, message: "go on" });
  await expect(attempt).rejects.toMatchObject({
    code: "storage_unavailable",
    message: `${join("sessions", damaged, "session.json")} is damaged: it is not JSON`,
  });
  await second.close();
  rmSync(join(stateOf(root), "index.ndjson"));
  const third = await openSessions({ root });
  expect((await third.list(alice, { limit: 10 })).sessions.map(({ id }) => id)).toEqual([sessionId]);
  expect(third.logged.join("\n")).toContain(`session ${damaged} can't be read and is left out`);
});

test.each([
  ["a line cut short", (line: string) => line.slice(0, 30)],
  ["a line of NUL bytes", () => "\0".repeat(200)],
  ["a line that is no UTF-8", () => Buffer.from([0xff, 0xfe, 0x80])],
  ["a line with a bit flipped", (line: string) => line.replace('"index":', '"index";')],
])("%s within a log is told by its place, and told to no one as an event", async (_, change) => {
  const root = tempDir();
  const first = await openSessions({ root });
  const { sessionId, continuationToken } = await run(first, "one");
  await first.close();
  const trace = join(stateOf(root), "traces", `${sessionId}.ndjson`);
  const lines = readFileSync(trace, "utf8").split("\n");
  const parts = lines.map((line, at) => Buffer.from(at === 2 ? change(line) : line));
  writeFileSync(trace, Buffer.concat(parts.flatMap((part, at) => (at === 0 ? [part] : [Buffer.from("\n"), part]))));
  const second = await openSessions({ root });
  const refusal = { code: "storage_unavailable", status: 503, message: expect.stringContaining(sessionId) };
  await expect(second.followUp(alice, { sessionId, continuationToken, message: "on" })).rejects.toMatchObject(refusal);
  await expect(second.fork(alice, { sessionId, atIndex: 5, message: "on" })).rejects.toMatchObject(refusal);
  const { sessionId: other } = await run(second, "two");
  expect(only(await eventsOf(second, other), "turn.completed")).toHaveLength(1);
});

test("a key's claim is on disk before its message is answered", async () => {
  const root = tempDir();
  const sessions = await openSessions({ root });
  const index = statSync(join(stateOf(root), "index.ndjson")).ino;
  const synced: number[] = [];
  const { fsync } = fs;
  const spy = vi.spyOn(fs, "fsync").mockImplementation((fd, callback) => {
    synced.push(fs.fstatSync(fd).ino);
    fsync(fd, callback);
  });
  const { sessionId, continuationToken } = await sessions.create(alice, { message: "one", channelId: "http" });
  expect(synced).not.toContain(index);
  await sessions.followUp(alice, { sessionId, continuationToken, message: "two", idempotencyKey: "k" });
  expect(synced).toContain(index);
  spy.mockRestore();
});
