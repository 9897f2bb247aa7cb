// The yardstick for `POST /v1/tools/:name`: a fastify route with the same zod check and the same answer, and nothing else.
import fastify from "fastify";
import { z } from "zod";

const input = z.object({ text: z.string(), count: z.number().int().default(1) });
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
