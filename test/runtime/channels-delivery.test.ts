/** A channel's events: in order, before hooks, at least once, whatever happens to the process. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  allowAll,
  type ChannelConfig,
  type ChannelEventContext,
  defineChannel,
  POST,
} from "../../runtime/authoring/channels.js";
import type { AgentBundle } from "../../runtime/manifest/bundle.js";
import type { SessionEvent } from "../../runtime/session/event.js";
import { makeBundle } from "./support/bundle.js";
import { emitProject } from "./support/emitted.js";
import { call, readEvents, startHost } from "./support/host.js";

const routes = [
  POST("/:key", {
    handler: async (_request, { send, params }) => {
      const session = await send("hello", { continuationToken: params.key });
      await session.waitForCompletion();
      return Response.json({ id: session.id });
    },
  }),
];

function bundleOf(
  events: ChannelConfig["events"],
  hooks: Parameters<typeof makeBundle>[0][0]["hooks"] = {},
): AgentBundle {
  const manifest = {
    channels: [
      {
        id: "channel:drive",
        source: "bot/channels/drive.ts:1",
        layer: "project" as const,
        name: "drive",
        routes: [{ method: "POST", path: "/:key" }],
        events: Object.keys(events ?? {}).sort(),
      },
    ],
  };
  const definition = defineChannel({ auth: [allowAll()], routes, events, state: { replies: 0 } });
  return makeBundle([{ definitions: { "channel:drive": definition }, manifest, hooks }]);
}

test("events of the channel's own sessions, each type's handler before the one of all, both before hooks, in order", async () => {
  const told: string[] = [];
  const note = (who: string) => (event: SessionEvent) => {
    if (!event.type.endsWith(".appended")) told.push(`${who} ${event.index} ${event.type}`);
  };
  const host = await startHost(
    bundleOf(
      { "message.completed": note("typed"), "*": note("all") },
      { audit: { events: { "message.completed": note("hook"), "session.waiting": note("hook") } } },
    ),
    { dev: true },
  );
  await call(`${host.base}/v1/session`, { body: { message: "not the channel's" } });
  await expect.poll(() => told.at(-1)).toMatch(/^hook \d+ session\.waiting$/);
  expect(told.filter((line) => !line.startsWith("hook"))).toEqual([]);
  const { id } = (await call(`${host.base}/v1/channels/drive/a`, { method: "POST" })).body as { id: string };
  const events = (await readEvents(host.base, id)).filter(({ type }) => !type.endsWith(".appended"));
  const completed = events.find(({ type }) => type === "message.completed")?.index ?? -1;
  const ofSession = told.filter((line) => !line.startsWith("hook"));
  expect(ofSession).toEqual(
    events.flatMap(({ type, index }) => [
      ...(type === "message.completed" ? [`typed ${index} ${type}`] : []),
      `all ${index} ${type}`,
    ]),
  );
  const last = told.lastIndexOf(`hook ${completed} message.completed`);
  expect(told.slice(last - 2, last + 1)).toEqual([
    `typed ${completed} message.completed`,
    `all ${completed} message.completed`,
    `hook ${completed} message.completed`,
  ]);
});

test("a handler has the conversation's key, can change it, and the channel's state; one that throws holds up nothing", async () => {
  const seen: unknown[] = [];
  const host = await startHost(
    bundleOf({
      "turn.started": () => {
        throw new Error("turn.started is broken");
      },
      async "message.completed"(_event, ctx: ChannelEventContext) {
        const { replies } = ctx.channel.state as { replies: number };
        await ctx.channel.setState({ replies: replies + 1 });
        seen.push([ctx.channel.id, ctx.channel.continuationToken, ctx.session.channelId, ctx.channel.state]);
        await ctx.setContinuationToken("b");
        await ctx.host.kv.put("delivered", true);
      },
      "session.waiting": (_event, ctx) => seen.push(ctx.channel.continuationToken),
    }),
  );
  const id = async (key: string) => (await call(`${host.base}/v1/channels/drive/${key}`, { method: "POST" })).body.id;
  const first = await id("a");
  expect(seen).toEqual([["drive", "a", "drive", { replies: 1 }], "b"]);
  expect(host.lines.some(({ message }) => message.includes("turn.started is broken"))).toBe(true);
  expect(await id("b")).toBe(first);
  expect(await id("a")).not.toBe(first);
});

test("what an earlier process delivered is not delivered again, and handlers new to a channel start with what is new", async () => {
  const counts = { one: 0, two: 0 };
  const count = (which: "one" | "two") => () => {
    counts[which] += 1;
  };
  const none = await startHost(bundleOf({}));
  await call(`${none.base}/v1/channels/drive/old`, { method: "POST" });
  const { stateRoot } = none;
  await none.close();
  const first = await startHost(bundleOf({ "message.completed": count("one") }), { stateRoot });
  await call(`${first.base}/v1/channels/drive/new`, { method: "POST" });
  await first.close();
  expect(counts.one).toBe(1);
  const second = await startHost(bundleOf({ "message.completed": count("two") }), { stateRoot });
  await call(`${second.base}/v1/channels/drive/old`, { method: "POST" });
  await call(`${second.base}/v1/channels/drive/new`, { method: "POST" });
  expect(counts.two).toBe(2);
});

test("events of one millisecond: a process that died between two of them left the later one to the next", async () => {
  const told: string[] = [];
  const note = (event: SessionEvent) => void told.push(event.type);
  const bundle = bundleOf({ "message.completed": note, "turn.completed": note });
  const first = await startHost(bundle, { dev: true });
  const { id } = (await call(`${first.base}/v1/channels/drive/k`, { method: "POST" })).body as { id: string };
  const events = await readEvents(first.base, id);
  const { stateRoot } = first;
  await first.close();
  expect(told).toEqual(["message.completed", "turn.completed"]);

  const file = join(stateRoot, new URL(first.base).pathname, "delivery.ndjson");
  const since = readFileSync(file, "utf8").split("\n", 1)[0];
  const seen = events.find(({ type }) => type === "message.completed")?.index;
  const last = events.at(-1)?.at;
  writeFileSync(file, `${since}\n${JSON.stringify({ id, index: seen, at: last })}\n`);
  const second = await startHost(bundle, { stateRoot });
  await expect.poll(() => told).toEqual(["message.completed", "turn.completed", "turn.completed"]);
  await second.close();
});

test("kill -9 while a handler is at work: the next process delivers that event again, and what came after it, in order", async () => {
  const emitted = await emitProject({
    "bot/channels/drive.ts": `import { appendFileSync } from "node:fs";
import { defineChannel, localDevStrict, POST } from "@cursor/bdk/channels";

const note = async (event) => {
  const { NOTES = "", HANG } = process.env;
  appendFileSync(NOTES, event.index + " " + event.type + "\\n");
  if (HANG === event.type) await new Promise(() => undefined);
};

export default defineChannel({
  auth: [localDevStrict()],
  routes: [
    POST("/", {
      handler: async (_request, { send }) => Response.json({ id: (await send("hello", { continuationToken: "k" })).id }),
    }),
  ],
  events: { "message.received": note, "message.completed": note, "turn.completed": note },
});
`,
  });
  const notes = join(emitted.work, "notes.txt");
  const read = () => (existsSync(notes) ? readFileSync(notes, "utf8").trim().split("\n") : []);
  const url = await emitted.start({ NOTES: notes, HANG: "message.completed" });
  const { id } = (await call(`${url}/v1/channels/drive`, { method: "POST" })).body as { id: string };
  await expect.poll(() => read().length).toBe(2);
  await expect.poll(async () => (await readEvents(url, id)).at(-1)?.type).toBe("session.waiting");
  await emitted.kill();
  const again = await emitted.start({ NOTES: notes });
  await expect.poll(() => read().length).toBe(4);
  expect(read().map((line) => line.split(" ")[1])).toEqual([
    "message.received",
    "message.completed",
    "message.completed",
    "turn.completed",
  ]);
  expect(read()[1]).toBe(read()[2]);
  // A follow-up after the restart goes on from there.
  expect((await call(`${again}/v1/channels/drive`, { method: "POST" })).body.id).toBe(id);
  await expect.poll(() => read().length).toBe(7);
  await emitted.kill();
});
