import { spawnSync } from "node:child_process";
import { mkdirSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { StdioConnection } from "../../runtime/authoring/connections.js";
import { connectedBundle } from "./support/connections.js";
import { call, startHost, type TestHost, temporaryFolder } from "./support/host.js";

const file = (name: string) => resolve(`test/runtime/support/mcp-stdio-${name}.mjs`);
const before = { ...process.env };

afterEach(() => {
  process.env = { ...before };
});

async function start(config: Partial<StdioConnection> & { args: string[] }): Promise<TestHost> {
  const office = { command: process.execPath, advertiseTools: true, ...config } as StdioConnection;
  return startHost(connectedBundle({ mcp: { office } }), { base: temporaryFolder() });
}

/** What a tool of the server said, as JSON. */
async function ask(host: TestHost, tool: string): Promise<{ isError: boolean; text: string; json: () => unknown }> {
  const { body } = await call(`${host.base}/v1/tools/office__${tool}`, { body: {} });
  const result = body.result as { content?: { text: string }[]; message?: string };
  const text = result.content?.[0]?.text ?? result.message ?? "";
  return { isError: body.isError === true, text, json: () => JSON.parse(text) };
}

/** A process that has ended may stay listed until somebody takes note of it. */
const isAlive = (pid: number): boolean => {
  const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" });
  return stdout.trim() !== "" && !stdout.trim().startsWith("Z");
};

describe.each([
  ["the SDK of 2025", [file("old")]],
  ["the SDK of 2026", [file("new")]],
  ["the SDK of 2026, nothing earlier", [file("new"), "--only"]],
])("a server on stdio of %s", (_name, args) => {
  it("gets its own variables and what programs need, and nothing else of the host's", async () => {
    process.env.OFFICE_TOKEN = "token-of-the-office";
    process.env.OTHER_SECRET = "of-somebody-else";
    const host = await start({ args, env: { TOKEN: "Bearer ${OFFICE_TOKEN}", PLAIN: "1" } });
    const { env } = (await ask(host, "env")).json() as { env: Record<string, string> };
    expect(env).toMatchObject({ TOKEN: "Bearer token-of-the-office", PLAIN: "1", PATH: process.env.PATH });
    expect(Object.keys(env)).not.toContain("OTHER_SECRET");
    expect(Object.keys(env)).not.toContain("OFFICE_TOKEN");
  });

  it("starts in the host's base folder, or where its cwd says", async () => {
    const base = temporaryFolder();
    mkdirSync(join(base, "servers"));
    const command = process.execPath;
    const office = { command, args, advertiseTools: true };
    const bundle = connectedBundle({ mcp: { office, below: { ...office, cwd: "servers" } } });
    const host = await startHost(bundle, { base });
    const { body } = await call(`${host.base}/v1/tools/below__env`, { body: {} });
    const { text } = (body.result as { content: [{ text: string }] }).content[0];
    expect(JSON.parse(text).cwd).toBe(join(realpathSync(base), "servers"));
    expect(((await ask(host, "env")).json() as { cwd: string }).cwd).toBe(realpathSync(base));
  });
});

describe("a server on stdio", () => {
  it("that ends at what comes before its greeting is taken for an old one", async () => {
    expect((await ask(await start({ args: [file("shy")] }), "env")).json()).toEqual({ shy: true });
  });

  it("that writes other things to stdout is understood all the same", async () => {
    expect((await ask(await start({ args: [file("old"), "garbage"] }), "env")).isError).toBe(false);
  });

  it("that dies within a call: the call is unknown, the next one starts it again", async () => {
    const host = await start({ args: [file("old")] });
    const died = await ask(host, "die");
    expect(died).toMatchObject({
      isError: true,
      text: 'connection "office": it closed the connection; whether the call took effect is unknown',
    });
    expect((await ask(host, "env")).isError).toBe(false);
  });

  it("ends with the host, with what it started", async () => {
    const host = await start({ args: [file("old"), "children"] });
    const pids = (await ask(host, "pids")).json() as number[];
    expect(pids).toHaveLength(2);
    expect(pids.every(isAlive)).toBe(true);
    await host.close();
    await expect.poll(() => pids.some(isAlive)).toBe(false);
  });

  it("that hangs in a call is given up after its time", async () => {
    const host = await start({ args: [file("old")], timeoutMs: 200 });
    expect(await ask(host, "hang")).toMatchObject({
      isError: true,
      text: 'connection "office": it did not answer in time; whether the call took effect is unknown',
    });
  });

  it("has its stderr in the log, without what was filled in", async () => {
    process.env.OFFICE_TOKEN = "token-of-the-office";
    process.env.OFFICE_LOGIN = "login-of-the-office";
    const env = { OFFICE_TOKEN: "${OFFICE_TOKEN}", OFFICE_LOGIN: "${OFFICE_LOGIN}" };
    const host = await start({ args: [file("old")], env });
    await ask(host, "log");
    const lines = () => host.lines.map(({ message }) => message);
    await expect.poll(lines).toContain('connection "office": signed in with [redacted]');
    // No name says that this one is secret; and what would clear a terminal does not get there.
    await expect.poll(lines).toContain('connection "office":  [2Jas [redacted]');
  });

  it("that is noisy leaves room in the log for others", async () => {
    const host = await start({ args: [file("old"), "noise"] });
    expect((await ask(host, "env")).isError).toBe(false);
    expect(host.lines.filter(({ message }) => message.endsWith(": noise")).length).toBeLessThan(10_000);
  });

  it("that can't be started is told of by name, and fails nothing else", async () => {
    // A folder of the PATH that may not be read would be told of, too.
    process.env.PATH = dirname(process.execPath);
    const host = await start({ command: "no-such-program-of-anyone", args: [] });
    const { body } = await call(`${host.base}/v1/tools`);
    expect(body).toEqual({
      tools: [],
      connectionErrors: [
        {
          connection: "office",
          code: "connection_unreachable",
          message:
            '"no-such-program-of-anyone" can\'t be started: there is no such program, or no such working directory',
        },
      ],
    });
  });
});
