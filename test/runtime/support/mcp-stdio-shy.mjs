/** A server by hand that ends at whatever comes before the greeting, as some old ones do. */
import { createInterface } from "node:readline";

let isGreeted = false;
const answer = (id, result) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method } = JSON.parse(line);
  if (!isGreeted && method !== "initialize") process.exit(1);
  isGreeted = true;
  if (method === "initialize") {
    answer(id, {
      protocolVersion: "2025-06-18",
      capabilities: { tools: {} },
      serverInfo: { name: "shy", version: "1" },
    });
  }
  if (method === "tools/list") answer(id, { tools: [{ name: "env", inputSchema: { type: "object" } }] });
  if (method === "tools/call") answer(id, { content: [{ type: "text", text: '{"shy":true}' }] });
});
