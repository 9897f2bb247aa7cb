// The yardstick for `POST /v1/tools/:name`: a fastify route with the same zod check and the same answer, and nothing else.
import fastify from "fastify";
import { z } from "zod";

const options = z.object({
  upper: z.boolean().default(false),
  tags: z
    .array(z.enum(["red", "green", "blue"]))
    .max(5)
    .optional(),
});
const input = z.object({
  text: z.string().min(1),
  count: z.number().int().min(1).max(100).default(1),
  options: options.optional(),
});
const body = z.object({ input });
const app = fastify();
app.post("/v1/tools/:name", (request, reply) => {
  const parsed = body.safeParse(request.body);
  if (!parsed.success) return reply.code(400).send({ ok: false });
  const started = performance.now();
  const result = { echo: parsed.data.input.text.repeat(parsed.data.input.count) };
  return {
    ok: true,
    toolName: request.params.name,
    callId: "tool_1",
    isError: false,
    result,
    durationMs: performance.now() - started,
  };
});
console.log(JSON.stringify({ event: "listening", url: await app.listen({ port: 0, host: "127.0.0.1" }) }));
