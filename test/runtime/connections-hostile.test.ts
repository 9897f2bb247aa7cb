/** Connections that somebody uses against the bot, its other connections, or the machine. */
import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { expect, it } from "vitest";
import type { ToolContext } from "../../runtime/authoring/tools.js";
import { makeBundle } from "./support/bundle.js";
import { type ConnectedParts, connected, connectedBundle, listing } from "./support/connections.js";
import { emitProject } from "./support/emitted.js";
import { call, startHost, startSession } from "./support/host.js";
import { echoing, listen, serveNew, textTool } from "./support/mcp-servers.js";

/** A process that has ended may stay listed until somebody takes note of it. */
const isAlive = (pid: number): boolean => {
  const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" });
  return stdout.trim() !== "" && !stdout.trim().startsWith("Z");
};

const told = (body: Record<string, unknown>) => (body.result as { message?: string }).message;

it("two connections whose tools would have one name: the model is told of one", async () => {
  const short = await serveNew(echoing([textTool("b__x"), textTool("y")]));
  const long = await serveNew(echoing([textTool("x")]));
  const mcp = { a: { url: short.url, advertiseTools: true }, a__b: { url: long.url, advertiseTools: true } };
  const host = await startHost(connectedBundle({ mcp }));
  expect((await listing(host.base)).tools).toEqual([
    { name: "a__y", source: "a" },
    { name: "a__b__x", source: "a__b" },
  ]);
  await startSession(host.base, { message: "hello" });
  const said = () => host.lines.map(({ message }) => message);
  await expect.poll(said).toContain('the tool b__x of connection "a" is left out: "a__b__x" is a tool of "a__b"');
});

it("no error of a tool names a connection that is for code alone", async () => {
  const server = await serveNew(echoing([textTool("x")]));
  const guess = {
    description: "Calls what it is told to.",
    execute: (input: unknown, { host }: ToolContext) => {
      const { server: name } = input as { server: string };
      return host.mcp.callTool(name, "forbidden", {});
    },
  };
  const vault = { url: server.url, tools: { allow: ["x"] } };
  const hostOnly = { vault, safe: { url: server.url, oauth: true } } as const;
  const host = await startHost(connectedBundle({ tools: { guess }, mcp: { open: { url: server.url } }, hostOnly }));
  const ask = async (name: string) =>
    told((await call(`${host.base}/v1/tools/guess`, { body: { input: { server: name } } })).body);
  expect(await ask("valt")).toBe('there is no MCP connection "valt"; there are: open');
  expect(await ask("vault")).toBe('the connection does not allow the tool "forbidden"');
  expect(await ask("safe")).toBe("nobody has logged in: run bdk mcp oauth <name>");
  for (const path of ["tools", "info", "tools/vault__x", "tools/valt", "mcp", "mcp/tools"]) {
    const { body } = await call(`${host.base}/v1/${path}`);
    expect(JSON.stringify(body).replaceAll("vault__x", "")).not.toMatch(/vault|safe/);
  }
});

/** An agent whose tool has the other one's tool called, without end. */
function asker(slug: string, other: string, count: () => void): ConnectedParts {
  const go = {
    description: "Goes on.",
    execute: (_input: unknown, { host }: ToolContext) => {
      count();
      return host.mcp.callTool(other, "call_tool", { toolName: "go", input: {} });
    },
  };
  return connected({
    slug,
    mcp: { [other]: { agent: other, advertiseTools: true } },
    tools: { go },
  });
}

it("two agents that ask each other in circles come to an end", async () => {
  let count = 0;
  const next = () => {
    count += 1;
  };
  const host = await startHost(makeBundle([asker("one", "two", next), asker("two", "one", next)]));
  const { body } = await call(`${host.url}/one/v1/tools/go`, { body: {} });
  expect(count).toBe(9);
  expect(JSON.stringify(body)).toContain("agents have asked one another 8 times over already");
});

it("an agent that is asked can't write into the session that asks it, nor into one that a person began", async () => {
  const peers = makeBundle([
    connected({ slug: "one", mcp: { two: { agent: "two", advertiseTools: true } } }),
    connected({ slug: "two", mcp: { one: { agent: "one", advertiseTools: true } } }),
  ]);
  const host = await startHost(peers);
  const { sessionId } = await startSession(`${host.url}/two`, { message: "hello" });
  const write = async (into: string) => {
    const input = { message: "and now this", sessionId: into, waitSeconds: 20 };
    const { body } = await call(`${host.url}/one/v1/tools/two__ask`, { body: { input } });
    return JSON.stringify(body);
  };
  expect(await write(sessionId)).toContain("session_not_followable");
  const input = { message: "hello", waitSeconds: 20 };
  const asked = await call(`${host.url}/one/v1/tools/two__ask`, { body: { input } });
  const own = /ses_[A-Z0-9]+/.exec(JSON.stringify(asked.body))?.[0] ?? "";
  expect(await write(own)).toContain("finished");
});

it("a host closes at once, whatever its servers do not answer", { timeout: 15_000 }, async () => {
  const hanging = await listen(() => undefined);
  const mute = { command: "sleep", args: ["600"], advertiseTools: true };
  const mcp = { hanging: { url: hanging.url, advertiseTools: true }, mute };
  const host = await startHost(connectedBundle({ mcp }), { shutdownTimeoutMs: 0 });
  // Opening has fifteen seconds over HTTP and a minute for a program: a close that waited would not be in time.
  const listing = call(`${host.base}/v1/tools`).catch(() => undefined);
  await expect.poll(() => hanging.requests.length).toBeGreaterThan(0);
  await host.close();
  await listing;
});

it("names of the language's own objects are no variables", async () => {
  const server = await serveNew(echoing([textTool("x")]));
  const headers = { "x-odd": "${toString}${constructor}" };
  const host = await startHost(connectedBundle({ mcp: { odd: { url: server.url, headers, advertiseTools: true } } }));
  const { body } = await call(`${host.base}/v1/tools`);
  expect(body.connectionErrors).toMatchObject([
    { code: "connection_unset", message: "it needs toString, constructor, which are not set" },
  ]);
});

it("kill -9 of the host ends its servers with all that they started, stubborn ones too", async () => {
  const server = resolve("test/runtime/support/mcp-stdio-old.mjs");
  const project = await emitProject({
    "bot/mcp-connections/office.ts": `
      import { defineConnection } from "@cursor/bdk/connections";
      const command = ${JSON.stringify(process.execPath)};
      export default defineConnection({ command, args: [${JSON.stringify(server)}, "stubborn"], advertiseTools: true });
    `,
  });
  const url = await project.start();
  const { body } = await call(`${url}/v1/tools/office__pids`, { body: {} });
  const [{ text }] = (body.result as { content: [{ text: string }] }).content;
  const pids = JSON.parse(text) as number[];
  expect(pids).toHaveLength(2);
  expect(pids.every(isAlive)).toBe(true);
  await project.kill();
  await expect.poll(() => pids.some(isAlive)).toBe(false);
});
