/** `--standby`: a second process waits, says so, and takes over; every tick and reminder fires once across it. */
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { makeBundle } from "./support/bundle.js";
import { type Emitted, emitProject } from "./support/emitted.js";
import { call, followUntil, isWaiting, startHost, startSession, temporaryFolder } from "./support/host.js";
import { rpc } from "./support/mcp-rpc.js";
import { startTimed } from "./support/timed-server.js";

let emitted: Emitted;

beforeAll(async () => {
  emitted = await emitProject({
    "bot/schedules/minutely.md": '---\ncron: "* * * * *"\n---\n\nLook around.\n',
    "bot/schedules/noted.ts": `import { defineSchedule } from "@cursor/bdk/schedules";

export default defineSchedule({
  cron: "* * * * *",
  run: ({ host, scheduledAt }) => host.files.append("ticks.txt", \`\${scheduledAt.toISOString()}\\n\`, { scope: "deployment" }),
});
`,
    "bot/reminders/note.ts": `import { defineReminder } from "@cursor/bdk/reminders";

export default defineReminder({
  async run({ host, args }) {
    await host.files.append("reminders.txt", \`\${String(args.name)}\\n\`, { scope: "deployment" });
    return { action: "delivered" };
  },
});
`,
    "bot/tools/arm.ts": `import { defineTool } from "@cursor/bdk/tools";

export default defineTool({
  description: "Arms reminders of this conversation.",
  async execute(_input, { host }) {
    await host.reminders.create({ purpose: "often", every: "1m", prompt: "Often." });
    for (let minute = 1; minute <= 60; minute += 1) {
      await host.reminders.create({ purpose: "once", delay: \`\${minute}m\`, handler: "note", args: { name: "note " + minute } });
      await host.reminders.create({ purpose: "once", delay: \`\${minute}m\`, prompt: "Once " + minute });
    }
  },
});
`,
    "bot/tools/fired.ts": `import { defineTool } from "@cursor/bdk/tools";

export default defineTool({
  description: "What fired.",
  effect: "read",
  async execute(_input, { host }) {
    const read = async (path: string) => {
      const bytes = await host.files.read(path, { scope: "deployment" });
      return bytes === undefined ? [] : new TextDecoder().decode(bytes).trim().split("\\n");
    };
    return { ticks: await read("ticks.txt"), notes: await read("reminders.txt") };
  },
});
`,
  });
});

async function fired(url: string): Promise<{ ticks: string[]; notes: string[] }> {
  const { body } = await call(`${url}/v1/tools/fired`, { body: {} });
  return body.result as { ticks: string[]; notes: string[] };
}

/** Hand-overs in one go; `BDK_CRASH_RUNS=50` for the long run. */
const rounds = Number(process.env.BDK_CRASH_RUNS ?? 6);

test(`${rounds} hand-overs, by kill and by signal: each tick and each reminder fires once, sessions go on`, {
  timeout: 60_000 + rounds * 20_000,
}, async () => {
  // A minute of their clocks is a second of ours.
  const time = { from: "2026-03-02T09:00:10Z", since: Date.now(), scale: 60 };
  let active = startTimed(emitted, time);
  let url = await active.listening;
  const { sessionId } = await startSession(url, { message: "/arm" });
  await followUntil(url, sessionId, isWaiting);

  for (let round = 0; round < rounds; round += 1) {
    const next = startTimed(emitted, time, ["--standby"]);
    const standing = await next.standby;
    expect(standing.pid).toBe(active.pid);
    const count = (await fired(url)).ticks.length;
    await expect.poll(async () => (await fired(url)).ticks.length).toBeGreaterThan(count);
    await new Promise((done) => setTimeout(done, Math.random() * 900)); // the random point
    const gone = active.end(round % 3 === 2 ? "SIGTERM" : "SIGKILL");
    url = await next.listening;
    expect(url).toBe(standing.url);
    await gone;
    active = next;
    const { sessions } = (await call(`${url}/v1/sessions?limit=500`)).body as unknown as {
      sessions: { id: string; continuationToken: string }[];
    };
    const row = sessions.find(({ id }) => id === sessionId);
    const said = await call(`${url}/v1/session/${sessionId}`, {
      body: { continuationToken: row?.continuationToken, message: `round ${round}` },
    });
    // A reminder may have taken the token in between.
    expect([200, 409]).toContain(said.status);
  }
  const count = (await fired(url)).ticks.length;
  await expect.poll(async () => (await fired(url)).ticks.length).toBeGreaterThan(count);
  const messages = async (): Promise<string[]> => {
    const { events } = (await call(`${url}/v1/session/${sessionId}/events?format=json`)).body as unknown as {
      events: { type: string; data: { text: string } }[];
    };
    return events.filter(({ type }) => type === "message.received").map(({ data }) => data.text);
  };
  const isOnce = (text: string) => text.startsWith("Once");
  const folder = join(emitted.stateRoot, "sessions");
  const minutely = () =>
    readdirSync(folder).filter((id) => {
      const record = join(folder, id, "session.json");
      return existsSync(record) && readFileSync(record, "utf8").includes('"minutely"');
    });
  // A quick machine hands over more often than its clock strikes.
  await expect.poll(async () => (await messages()).filter(isOnce).length).toBeGreaterThan(rounds);
  await expect.poll(() => minutely().length).toBeGreaterThan(rounds);

  const { ticks, notes } = await fired(url);
  expect(ticks).toEqual([...new Set(ticks)].sort());
  expect(notes).toEqual([...new Set(notes)]);
  expect(ticks.length).toBeGreaterThan(rounds);
  const heard = await messages();
  const minutes = Math.floor((Date.now() - time.since) / 1000);
  const once = heard.filter(isOnce);
  expect(once).toEqual([...new Set(once)]);
  expect(once.length).toBeGreaterThan(rounds);
  // Handlers and prompts of one minute fire together, except for handlers that a kill met: of what was due by then.
  expect(notes.length).toBeGreaterThan(once.length / 2);
  expect(heard.filter((text) => text === "Often.").length).toBeLessThanOrEqual(minutes + 1);
  const ran = minutely();
  // The first characters of a tick's session are its minute.
  expect(new Set(ran.map((id) => id.slice(0, 14))).size).toBe(ran.length);
  expect(ran.length).toBeGreaterThan(rounds);
});

test("of three that stand by, one takes over, and the others wait for that one", async () => {
  let active = startTimed(emitted, undefined, ["--no-schedules"]);
  await active.listening;
  const others = Array.from({ length: 3 }, () => startTimed(emitted, undefined, ["--standby"]));
  await Promise.all(others.map(({ standby }) => standby));
  while (others.length > 0) {
    const gone = active.end("SIGKILL");
    const [winner, url] = await Promise.race(others.map(async (each) => [each, await each.listening] as const));
    await gone;
    others.splice(others.indexOf(winner), 1);
    for (const each of others) {
      const { url: waiting } = await each.standby;
      await expect
        .poll(async () => (await call(`${waiting}/v1/ready`)).body)
        .toMatchObject({ standby: true, message: expect.stringContaining(String(winner.pid)) });
    }
    expect((await call(`${url}/v1/ready`)).status).toBe(200);
    active = winner;
  }
  await active.end("SIGTERM");
});

test("while it waits it is alive and not ready; SIGTERM ends the waiting", async () => {
  const first = startTimed(emitted, undefined, ["--no-schedules"]);
  await first.listening;
  const second = startTimed(emitted, undefined, ["--standby"]);
  const { url, pid } = await second.standby;
  expect(pid).toBe(first.pid);
  expect(await call(`${url}/v1/health`)).toMatchObject({
    status: 200,
    body: { ok: true, standby: true, version: expect.any(String), manifestHash: expect.stringMatching(/^sha256:/) },
  });
  for (const path of ["/v1/ready", "/v1/sessions", "/playground"]) {
    const answer = await call(`${url}${path}`);
    expect(answer).toMatchObject({ status: 503, body: { ok: false, error: "storage_unavailable", standby: true } });
    expect(answer.headers.get("retry-after")).toBe("1");
  }
  expect((await call(`${url}/v1/session`, { body: { message: "hello" } })).status).toBe(503);
  for (const path of ["/v1/mcp", "/v1/mcp/tools"]) {
    const { status, body } = await rpc(`${url}${path}`, "ping");
    expect([status, body]).toMatchObject([
      503,
      { jsonrpc: "2.0", id: null, error: { code: -32603, data: { error: "storage_unavailable", standby: true } } },
    ]);
  }
  expect(await second.end("SIGTERM")).toBe(0);
  const third = startTimed(emitted, undefined);
  await expect(third.listening).rejects.toThrow(/another server \(pid \d+\) is using .*--standby/s);
  expect(await first.end("SIGTERM")).toBe(0);
});

/** A port that nobody has: below those that the system gives to whoever asks for any, so that nobody gets it meanwhile. */
async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 30_000);
    const server = createServer().listen(port, "127.0.0.1");
    const isFree = await once(server, "listening").then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, "close");
    return port;
  }
}

test("on the same port it waits unheard, and listens when the port is free", async () => {
  const port = await freePort();
  const first = startTimed(emitted, undefined, ["--port", String(port)]);
  const url = await first.listening;
  const second = startTimed(emitted, undefined, ["--port", String(port), "--standby"]);
  expect(await second.standby).toEqual({ event: "standby", pid: first.pid });
  const { sessionId } = await startSession(url, { message: "hello" });
  await followUntil(url, sessionId, isWaiting);
  await first.end("SIGKILL");
  expect(await second.listening).toBe(url);
  expect((await call(`${url}/v1/session/${sessionId}/events?format=json`)).status).toBe(200);
  await second.end("SIGTERM");
});

test("the same in one process: a host stands by for another, with several agents", async () => {
  const bundle = makeBundle([{ slug: "one" }, { slug: "two" }]);
  const stateRoot = temporaryFolder();
  const first = await startHost(bundle, { stateRoot });
  let second: ReturnType<typeof startHost> | undefined;
  const { url, pid } = await new Promise<{ pid: number; url?: string }>((onStandby) => {
    second = startHost(bundle, { stateRoot, standby: true, onStandby });
  });
  expect(pid).toBe(process.pid);
  expect((await call(`${url}/two/v1/health`)).body).toMatchObject({ standby: true });
  expect((await call(`${url}/two/v1/ready`)).status).toBe(503);
  await first.close();
  const host = await second;
  expect(host?.url).toBe(url);
  expect((await call(`${url}/two/v1/ready`)).body).toMatchObject({ ok: true });
  expect((await call(`${url}/two/v1/health`)).body).not.toHaveProperty("standby");

  const waiting = new AbortController();
  const third = startHost(bundle, {
    stateRoot,
    standby: true,
    signal: waiting.signal,
    onStandby: () => waiting.abort(),
  });
  await expect(third).rejects.toMatchObject({ name: "StandbyStopped" });
});
