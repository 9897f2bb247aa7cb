// The yardstick for `/v1/mcp/tools`: the tools of a generated project on the official SDK's stateless handler, on its
// low-level server, with the same JSON Schemas made once and the same zod check. Its fastest way to do the same work.
import { createServer } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, Server } from "@modelcontextprotocol/server";
import { z } from "zod";

const count = Number(process.argv[2]);
const options = z.object({
  upper: z.boolean().default(false).describe("Answer in capitals."),
  tags: z
    .array(z.enum(["red", "green", "blue"]))
    .max(5)
    .optional(),
});
const tools = new Map(
  Array.from({ length: count }, (_, index) => {
    const name = `tool_${String(index + 1).padStart(4, "0")}`;
    const schema = z.object({
      text: z.string().min(1).describe("What to repeat."),
      count: z.number().int().min(1).max(100).default(1),
      options: options.optional(),
    });
    const description = `Tool number ${index + 1} of the generated project: repeats a text.`;
    const inputSchema = z.toJSONSchema(schema, { io: "input" });
    return [name, { schema, listed: { name, description, inputSchema, annotations: { readOnlyHint: true } } }];
  }),
);
const listed = [...tools.values()].map((tool) => tool.listed);

const handler = createMcpHandler(() => {
  const server = new Server({ name: "yardstick", version: "1.0.0" }, { capabilities: { tools: {} } });
  server.setRequestHandler("tools/list", () => ({ tools: listed }));
  server.setRequestHandler("tools/call", ({ params }) => {
    const tool = tools.get(params.name);
    const parsed = tool?.schema.safeParse(params.arguments);
    if (!parsed?.success) return { content: [{ type: "text", text: "invalid" }], isError: true };
    const { text, count: times, options: extra } = parsed.data;
    const repeated = text.repeat(times);
    const result = { echo: extra?.upper ? repeated.toUpperCase() : repeated, mark: "GENERATED" };
    return { content: [{ type: "text", text: JSON.stringify(result) }], structuredContent: result };
  });
  return server;
});

const http = createServer(toNodeHandler(handler));
http.listen(0, "127.0.0.1", () => {
  console.log(JSON.stringify({ event: "listening", url: `http://127.0.0.1:${http.address().port}` }));
});
