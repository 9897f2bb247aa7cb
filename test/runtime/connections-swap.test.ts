import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { expect, it } from "vitest";
import { makeBundle } from "./support/bundle.js";
import { connected } from "./support/connections.js";
import { call, followUntil, isWaiting, startHost, startSession } from "./support/host.js";
import { echoing, serveNew, textTool } from "./support/mcp-servers.js";

const names = (body: Record<string, unknown>) => (body.tools as { name: string }[]).map(({ name }) => name);

const isThere = (pid: number): boolean => {
  const state = spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" }).stdout.trim();
  return state !== "" && !state.startsWith("Z");
};

it("new code has its own connections; one that it keeps stays open, one that it lost is ended", async () => {
  const server = await serveNew(echoing([textTool("one")]));
  const office = { url: server.url, advertiseTools: true };
  const args = [resolve("test/runtime/support/mcp-stdio-old.mjs")];
  const local = { command: process.execPath, args, advertiseTools: true };
  const first = makeBundle([connected({ mcp: { office, local } })]);
  const second = makeBundle([connected({ mcp: { office } })], { hash: "sha256:two" });
  const host = await startHost(first);
  const asked = await call(`${host.base}/v1/tools/local__pids`, { body: {} });
  const [pid] = JSON.parse((asked.body.result as { content: [{ text: string }] }).content[0].text) as [number];
  await call(`${host.base}/v1/tools/office__one`, { body: {} });
  const opened = server.requests.filter(({ body }) => body.includes("server/discover")).length;
  expect(isThere(pid)).toBe(true);
  await host.swap(second);
  await expect.poll(() => isThere(pid)).toBe(false);
  expect(names((await call(`${host.base}/v1/tools`)).body)).toEqual(["office__one"]);
  const { sessionId } = await startSession(host.base, { message: "/office__one {}" });
  const events = await followUntil(host.base, sessionId, isWaiting);
  expect(events.find(({ type }) => type === "action.result")?.data).toMatchObject({ isError: false });
  expect(server.requests.filter(({ body }) => body.includes("server/discover")).length).toBe(opened);
});
