/** MCP servers of a plugin, as connections under its mount's namespace, in the emitted bot. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { emitProject } from "./support/emitted.js";
import { call, followUntil, isWaiting, startSession } from "./support/host.js";

const server = `
import { createInterface } from "node:readline";
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const told = { args: process.argv.slice(2), cwd: process.cwd(), zone: process.env.ZONE, token: process.env.TOKEN };
  const results = {
    initialize: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "p", version: "1" } },
    "tools/list": { tools: [{ name: "tell", inputSchema: { type: "object" } }] },
    "tools/call": { content: [{ type: "text", text: JSON.stringify(told) }] },
  };
  const result = results[method];
  const answer = result ? { result } : { error: { code: -32601, message: "no" } };
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, ...answer }) + "\\n");
}
`;

it("a plugin's server runs from the plugin's folder, with its placeholders filled in", {
  timeout: 120_000,
}, async () => {
  const bot = await emitProject({});
  await bot.build({
    "bot/extensions/pager.ts": `import { cursorPlugin } from "@cursor/bdk/extensions";
export default cursorPlugin({ path: "plugins/pager", variables: { PAGER_TOKEN: process.env.PAGER_TOKEN } });
`,
    "bot/tools/ask_pager.ts": `import { defineTool } from "@cursor/bdk/tools";
export default defineTool({
  description: "Asks.",
  execute: async (_input, { host }) => ({ names: host.mcp.names(), answer: await host.mcp.callTool("pager__duty", "tell") }),
});
`,
    "plugins/pager/.claude-plugin/plugin.json": '{ "name": "pager" }',
    "plugins/pager/.mcp.json": JSON.stringify({
      mcpServers: {
        duty: {
          command: "node",
          args: ["${CLAUDE_PLUGIN_ROOT}/server.mjs", "${CLAUDE_PLUGIN_DATA}"],
          env: { ZONE: "${ZONE:-Europe/Paris}", TOKEN: "${PAGER_TOKEN}" },
          cwd: "${CLAUDE_PLUGIN_ROOT}",
        },
      },
    }),
    "plugins/pager/server.mjs": server,
  });
  const url = await bot.start({ PAGER_TOKEN: "token-of-the-pager" });
  const { body } = await call(`${url}/v1/tools/ask_pager`, { body: {} });
  const { names, answer } = body.result as { names: string[]; answer: { content: [{ text: string }] } };
  expect(names).toEqual(["pager__duty"]);
  const told = JSON.parse(answer.content[0].text);
  expect(told).toMatchObject({ zone: "Europe/Paris", token: "token-of-the-pager" });
  expect(told.cwd).toMatch(/plugins\/pager$/);
  expect(told.args).toEqual([join(bot.stateRoot, "plugins/pager")]);
  expect(existsSync(told.args[0])).toBe(true);
  const { sessionId } = await startSession(url, {
    message: '/mcp_call_tool {"connection":"pager__duty","tool":"tell"}',
  });
  const events = await followUntil(url, sessionId, isWaiting);
  expect(events.find(({ type }) => type === "action.result")?.data).toMatchObject({ isError: false });
  const seen = JSON.stringify([(await call(`${url}/v1/info`)).body, (await call(`${url}/v1/logs`)).body]);
  expect(seen).not.toContain("token-of-the-pager");
});
