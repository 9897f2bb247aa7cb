/** How a server process ends: `server.mjs` and `bdk serve` alike, signalled in the middle of a turn. */
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer, request, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { join, resolve } from "node:path";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { SessionEvent } from "../../runtime/session/event.js";
import { type Emitted, emitProject } from "./support/emitted.js";
import { call, followUntil, isWaiting, readEvents, startSession, temporaryFolder } from "./support/host.js";
import { startServer } from "./support/server-process.js";

let project: Emitted;

beforeAll(async () => {
  project = await emitProject({
    "bot/tools/hold.ts": `import { defineTool } from "@cursor/bdk/tools";

export default defineTool({
  description: "Waits for the test.",
  effect: "read",
  execute: async () => (await fetch(process.env.TEST_GATE ?? "")).text(),
});
`,
  });
});

/** A server that the tool waits for: it answers when the test says so. */
async function openGate() {
  const held: ServerResponse[] = [];
  let onHeld = (): void => undefined;
  const server = createServer((_request, response) => {
    held.push(response);
    onHeld();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Resolves when the tool waits. */
    reached: (count = 1) =>
      new Promise<void>((done) => {
        onHeld = () => held.length >= count && done();
        onHeld();
      }),
    open: () => held.splice(0).forEach((response) => void response.end("let through")),
  };
}

const ways: readonly [name: string, args: () => readonly string[], forced: number][] = [
  ["server.mjs", () => [join(project.work, "out/server.mjs")], 1],
  ["bdk serve", () => [resolve("dist/cli/bdk.js"), "serve", "--dir", join(project.work, "project")], 130],
];

describe.each(ways)("%s", (_name, args, forced) => {
  async function start(more: { stateRoot?: string; flags?: readonly string[] } = {}) {
    const gate = await openGate();
    const stateRoot = more.stateRoot ?? temporaryFolder();
    const flags = ["--port", "0", "--json", "--mode", "single", "--state-root", stateRoot, ...(more.flags ?? [])];
    const env = { TEST_GATE: gate.url, XDG_CACHE_HOME: join(project.work, "cache") };
    const server = await startServer([...args(), ...flags], { cwd: project.work, env });
    return { ...server, gate, stateRoot };
  }

  const types = (events: readonly SessionEvent[]) => events.map(({ type }) => type);

  test("SIGTERM in a turn: nobody new is let in, the turn ends, its stream with it, and all is on disk", async () => {
    const { url, gate, signal, ended, stateRoot } = await start();
    const { sessionId } = await startSession(url, { message: "/hold {}" });
    const stream = await openStream(url, sessionId);
    await gate.reached();
    const finish = await halfARequest(url, "/v1/session");
    signal("SIGTERM");
    await expect.poll(() => isReachable(url), { interval: 20 }).toBe(false);
    // Who is connected already is told, and hears no lie.
    const late = await finish({ message: "one more" });
    expect(late.status).toBe(503);
    expect(late.text).toContain("shutting down");
    gate.open();
    expect(await ended).toBe(0);
    const seen = (await stream.text())
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as SessionEvent);
    expect(types(seen)).toContain("turn.completed");
    expect(types(seen).at(-1)).toBe("session.waiting");
    expect(existsSync(join(stateRoot, "server.json"))).toBe(false);

    const next = await start({ stateRoot });
    expect(await readEvents(next.url, sessionId)).toEqual(seen);
  });

  test("a turn that outlasts the limit is left open and taken up by the next start", async () => {
    const first = await start({ flags: ["--shutdown-timeout", "0"] });
    const { sessionId } = await startSession(first.url, { message: "/hold {}" });
    await first.gate.reached();
    const signalled = performance.now();
    first.signal("SIGTERM");
    expect(await first.ended).toBe(0);
    // Without the flag it would have waited for ten seconds.
    expect(performance.now() - signalled).toBeLessThan(9_000);

    const second = await start({ stateRoot: first.stateRoot });
    await second.gate.reached();
    second.gate.open();
    const events = await followUntil(second.url, sessionId, isWaiting);
    expect(types(events).filter((type) => type === "turn.completed")).toHaveLength(1);
    expect(types(events)).not.toContain("turn.failed");
    expect(events.find(({ type }) => type === "action.result")).toMatchObject({ data: { output: "let through" } });
  });

  test("a second signal ends it at once; nothing that was accepted is lost", async () => {
    const first = await start({ flags: ["--shutdown-timeout", "600"] });
    const { sessionId } = await startSession(first.url, { message: "/hold {}" });
    await first.gate.reached();
    first.signal("SIGTERM");
    await expect.poll(() => isReachable(first.url), { interval: 20 }).toBe(false);
    first.signal("SIGTERM");
    expect(await first.ended).toBe(forced);

    const second = await start({ stateRoot: first.stateRoot });
    await second.gate.reached();
    second.gate.open();
    expect(types(await followUntil(second.url, sessionId, isWaiting))).toContain("turn.completed");
  });

  test("an idle server with open connections and streams ends at once", async () => {
    const { url, signal, ended } = await start({ flags: ["--shutdown-timeout", "600"] });
    const { sessionId } = await startSession(url, { message: "hello" });
    await followUntil(url, sessionId, isWaiting);
    const streams = await Promise.all(Array.from({ length: 5 }, () => openStream(url, sessionId)));
    signal("SIGINT");
    expect(await ended).toBe(0);
    for (const stream of streams) expect(await stream.text()).toContain("session.waiting");
  });

  test("half a request, and a tool that never ends, hold nothing up", async () => {
    const { url, signal, ended, gate } = await start({ flags: ["--shutdown-timeout", "0"] });
    const { port } = new URL(url);
    const post =
      "POST /v1/session HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{";
    const halves = ["GET /v1/in", post].map((text) => {
      const socket = connect(Number(port), "127.0.0.1", () => socket.write(text));
      return new Promise((done) => socket.on("error", done).on("close", done).resume());
    });
    const never = call(`${url}/v1/tools/hold`, { body: {} }).catch(() => "cut off");
    await gate.reached();
    signal("SIGTERM");
    expect(await ended).toBe(0);
    await Promise.all(halves);
    expect(await never).toBe("cut off");
  });

  test("flags of what stands in front are read, and wrong ones are told", async () => {
    const { url } = await start({ flags: ["--rate-limit", "2", "--cors-origin", "https://app.example.com"] });
    const ask = () => call(`${url}/v1/info`, { headers: { origin: "https://app.example.com" } });
    const answers = [await ask(), await ask(), await ask()];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(answers[2]?.headers.get("access-control-allow-origin")).toBe("https://app.example.com");
    for (const [flags, reason] of [
      [["--cors-origin", "*"], "name the origins"],
      [["--rate-limit", "0"], "rate-limit"],
      [["--tls-cert", "cert.pem"], "--tls-cert and --tls-key go together"],
      [["--shutdown-timeout", "soon"], "shutdown-timeout"],
    ] as const) {
      await expect(start({ flags })).rejects.toThrow(new RegExp(`ended \\(2\\)[^]*${reason.replace("*", "\\*")}`));
    }
  });
});

/** A stream that the server has begun to answer. */
function openStream(url: string, sessionId: string): Promise<Response> {
  return fetch(`${url}/v1/session/${sessionId}/stream`);
}

async function isReachable(url: string): Promise<boolean> {
  return fetch(`${url}/v1/health`).then(
    () => true,
    () => false,
  );
}

/** A request whose head is there before the server is told to end, and whose body comes after. */
async function halfARequest(url: string, path: string) {
  const asked = request(`${url}${path}`, { method: "POST", headers: { "content-type": "application/json" } });
  const answered = new Promise<{ readonly status: number; readonly text: string }>((done, fail) => {
    asked.on("error", fail);
    asked.on("response", (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      answer.on("end", () => done({ status: answer.statusCode ?? 0, text }));
    });
  });
  asked.flushHeaders();
  const [socket] = (await once(asked, "socket")) as [Socket];
  if (socket.connecting) await once(socket, "connect");
  // Other requests that are answered say that this one's head, which was on its way before, has been read, too.
  for (let time = 0; time < 3; time += 1) await call(`${url}/v1/health`);
  return (body: unknown) => {
    asked.end(JSON.stringify(body));
    return answered;
  };
}
