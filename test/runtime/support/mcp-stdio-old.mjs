/** A stdio server of the SDK of 2025. What it does is told by its first argument: `garbage`, `noise`, `children`, `stubborn`. */
import { spawn } from "node:child_process";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const [mode = ""] = process.argv.slice(2);
const server = new Server({ name: "stdio-old", version: "1.0.0" }, { capabilities: { tools: {} } });
const names = ["env", "pids", "die", "hang", "log"];
server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: names.map((name) => ({ name, inputSchema: { type: "object" } })),
}));
// Neither the end of its input nor a request to end makes a stubborn one go.
if (mode === "stubborn") process.on("SIGTERM", () => setInterval(() => undefined, 60_000));
if (mode === "stubborn") setInterval(() => undefined, 60_000);
const children = ["children", "stubborn"].includes(mode) ? [spawn("sleep", ["600"]).pid] : [];
server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
  switch (params.name) {
    case "die":
      process.exit(7);
      break;
    case "hang":
      await new Promise(() => setInterval(() => undefined, 60_000));
      break;
    case "log":
      process.stderr.write(`signed in with ${process.env.OFFICE_TOKEN}\n`);
      process.stderr.write(`\u001b[2Jas ${process.env.OFFICE_LOGIN}\n`);
      break;
  }
  const told = params.name === "pids" ? [process.pid, ...children] : { env: process.env, cwd: process.cwd() };
  return { content: [{ type: "text", text: JSON.stringify(told) }] };
});
if (mode === "noise") for (let at = 0; at < 100_000; at += 1) process.stderr.write("noise\n");
if (mode === "garbage") process.stdout.write("npm warn something\n{ not json\n");
await server.connect(new StdioServerTransport());
