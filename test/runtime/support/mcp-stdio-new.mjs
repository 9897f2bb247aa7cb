/** A stdio server of the SDK of 2026; `--only` refuses earlier revisions. */
import { Server } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

serveStdio(
  () => {
    const server = new Server(
      { name: "stdio-new", version: "1.0.0" },
      { capabilities: { tools: { listChanged: true } } },
    );
    server.setRequestHandler("tools/list", () => ({ tools: [{ name: "env", inputSchema: { type: "object" } }] }));
    server.setRequestHandler("tools/call", () => ({
      content: [{ type: "text", text: JSON.stringify({ env: process.env, cwd: process.cwd() }) }],
    }));
    return server;
  },
  { legacy: process.argv.includes("--only") ? "reject" : "serve" },
);
