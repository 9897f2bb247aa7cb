/** The fixture with every form of connection, built, and its `server.mjs` started alone. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCommand } from "../bench/measure.mjs";
import { listing } from "./support/connections.js";
import { call } from "./support/host.js";
import { killed } from "./support/killed.js";

const work = mkdtempSync(join(tmpdir(), "bdk-connected-"));
const folder = join(work, "alone");
const children: ChildProcess[] = [];

beforeAll(async () => {
  const cli = resolve("dist/cli/bdk.js");
  for (const name of ["connected", "office"]) {
    const dir = resolve("fixtures/projects", name);
    await runCommand([process.execPath, cli, "build", "--dir", dir, "--out", join(work, name)]);
  }
  mkdirSync(folder);
  cpSync(resolve("fixtures/projects/connected/servers"), join(folder, "servers"), { recursive: true });
}, 120_000);

afterAll(async () => {
  await Promise.all(children.map(killed));
  rmSync(work, { recursive: true, force: true });
});

async function start(name: string): Promise<{ readonly url: string; readonly child: ChildProcess }> {
  const state = mkdtempSync(join(work, "state-"));
  const child = spawn(
    process.execPath,
    [join(work, name, "server.mjs"), "--port", "0", "--json", "--state-root", state],
    {
      cwd: folder,
      env: {
        PATH: process.env.PATH,
        XDG_CACHE_HOME: join(work, "cache"),
        BDK_MODEL: "offline",
        CLOCK_TZ: "Europe/Paris",
      },
      stdio: ["ignore", "pipe", "ignore"],
    },
  );
  children.push(child);
  const { stdout } = child;
  if (stdout === null) throw new Error("no stdout");
  const line = await new Promise<string>((done, fail) => {
    createInterface({ input: stdout }).once("line", done);
    child.once("exit", (code) => fail(new Error(`server exited ${code}`)));
  });
  return { url: JSON.parse(line).url, child };
}

/** Ids of the processes that the bot has started for the clock. */
function clocksOf(pid: number | undefined): string[] {
  const { stdout } = spawnSync("ps", ["-o", "pid=,args=", "--ppid", String(pid)], { encoding: "utf8" });
  return stdout.split("\n").flatMap((line) => (line.includes("clock.mjs") ? [line.trim().split(" ")[0] ?? ""] : []));
}

const isThere = (pid: string): boolean => {
  const state = spawnSync("ps", ["-o", "stat=", "-p", pid], { encoding: "utf8" }).stdout.trim();
  return state !== "" && !state.startsWith("Z");
};

describe("server.mjs alone", () => {
  it("reaches a server on stdio, tells which connections fail, and ends what it started", async () => {
    const { url, child } = await start("connected");
    const base = `${url}/connected`;
    expect(await listing(base)).toEqual({
      tools: [
        { name: "connections" },
        { name: "time_of_day" },
        { name: "clock__now", title: "Time of day", source: "clock" },
      ],
      connectionErrors: [],
    });
    const direct = await call(`${base}/v1/tools/clock__now`, { body: {} });
    expect(direct.body).toMatchObject({ result: { structuredContent: { zone: "Europe/Paris" } } });
    const byCode = await call(`${base}/v1/tools/time_of_day`, { body: {} });
    expect(byCode.body).toMatchObject({ result: { zone: "Europe/Paris" } });
    const clocks = clocksOf(child.pid);
    expect(clocks).toHaveLength(1);
    child.kill("SIGTERM");
    await new Promise((done) => child.once("exit", done));
    expect(clocks.filter(isThere)).toEqual([]);
  });

  it("killed outright, leaves no server behind", async () => {
    const { url, child } = await start("connected");
    await call(`${url}/connected/v1/tools/clock__now`, { body: {} });
    const clocks = clocksOf(child.pid);
    expect(clocks).toHaveLength(1);
    child.kill("SIGKILL");
    await expect.poll(() => clocks.filter(isThere)).toEqual([]);
  });

  it("keeps headers, arguments and values out of manifest and bundle's facts", () => {
    const manifest = readFileSync(join(work, "connected/manifest.json"), "utf8");
    expect(manifest).toContain('"TRACKER_TOKEN"');
    expect(manifest).not.toContain("Bearer");
    expect(manifest).not.toContain("servers/clock.mjs");
    const [agent] = JSON.parse(manifest).agents;
    expect(agent.mcpConnections).toMatchObject([
      {
        name: "clock",
        transport: "stdio",
        target: "node",
        advertiseTools: true,
        readTools: ["now"],
        variables: ["CLOCK_TZ"],
      },
      {
        name: "feed",
        transport: "http",
        target: "${FEED_URL}",
        tools: { block: ["publish"] },
        variables: ["FEED_URL"],
      },
      { name: "tracker", needsApproval: ["close_issue"], variables: ["TRACKER_TOKEN"] },
    ]);
    expect(agent.hostConnections).toMatchObject([{ name: "vault", oauth: true }]);
  });

  it("of two agents lets one ask the other", async () => {
    const { url } = await start("office");
    const input = { message: '/find_person {"name":"grace"}', waitSeconds: 30 };
    const asked = await call(`${url}/front-desk/v1/tools/archive__ask`, { body: { input } });
    expect(asked.body).toMatchObject({ ok: true, isError: false });
    const { body } = await call(`${url}/archive/v1/sessions`);
    expect(body.sessions).toMatchObject([{ owner: "loopback:local", status: "waiting" }]);
  });
});
