/** Many messages at once to a hand-written channel: acknowledgements come first, and every turn runs all the same. */
import { expect, test } from "vitest";
import * as z from "zod/v4";
import { type ChannelConfig, POST } from "../../runtime/authoring/channels.js";
import { createTurnstile } from "../../runtime/channels/turnstile.js";
import { open, serve } from "./support/channels.js";
import { readEvents } from "./support/host.js";

/** Keeps the process from anything else, so that new work has to wait. */
function spin(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until) Math.sqrt(until);
}

test("a burst: each is acknowledged, each turn runs once; one that waits can be stopped, and takes more messages", async () => {
  const config: ChannelConfig = {
    ...open,
    routes: [
      POST("/", {
        querySchema: z.object({ n: z.string() }),
        async handler(_request, { send, query }) {
          spin(15);
          const session = await send("hello", { continuationToken: `k:${query.n}`, admission: "coalesce" });
          return Response.json({ id: session.id });
        },
      }),
      POST("/wait", {
        querySchema: z.object({ id: z.string() }),
        async handler(_request, { getSession, query }) {
          const session = await getSession(query.id);
          return Response.json(await session?.waitForCompletion());
        },
      }),
    ],
  };
  const host = await serve(config, { dev: true });
  const ask = async (path: string) => {
    const response = await fetch(`${host.at}${path}`, { method: "POST" });
    expect(response.status).toBe(200);
    return (await response.json()) as { readonly id: string; readonly status?: string };
  };
  const sent = await Promise.all(Array.from({ length: 40 }, (_, n) => ask(`?n=${n}`)));
  const [first = { id: "" }, second = { id: "" }] = sent;
  const stopped = await fetch(`${host.base}/v1/session/${first.id}/stop`, { method: "POST" });
  expect(stopped.status).toBe(200);
  expect((await ask("?n=1")).id).toBe(second.id);
  for (const [n, { id }] of sent.entries()) {
    const { status } = await ask(`/wait?id=${id}`);
    if (n === 0) expect(["finished", "cancelled"]).toContain(status);
    else expect(status).toBe("finished");
  }
  for (const { id } of sent.slice(2)) {
    const types = (await readEvents(host.base, id)).map(({ type }) => type);
    expect(types.filter((type) => type === "turn.started")).toHaveLength(1);
    expect(types.at(-1)).toBe("session.waiting");
  }
});

test("the turnstile lets everybody in, in order; who gives up does not wait", async () => {
  const turnstile = createTurnstile();
  const through: number[] = [];
  spin(60);
  const giveUp = new AbortController();
  const passes = [0, 1, 2, 3].map(async (n) => {
    await turnstile.pass(n === 2 ? giveUp.signal : undefined);
    through.push(n);
  });
  giveUp.abort();
  await Promise.all(passes);
  expect(through.filter((n) => n !== 2)).toEqual([0, 1, 3]);
  expect(through).toHaveLength(4);
});
