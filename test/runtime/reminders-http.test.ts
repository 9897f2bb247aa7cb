/** Reminders from outside: dev routes, the handle, handlers that a program imports, and the emitted bundle. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { serve } from "../../cli/api/serve.js";
import { defineReminder } from "../../runtime/authoring/reminders.js";
import { makeBundle } from "./support/bundle.js";
import { emitProject } from "./support/emitted.js";
import { call, followUntil, isWaiting, nth, readEvents, startHost, startSession } from "./support/host.js";
import { startTimed } from "./support/timed-server.js";

const note = defineReminder({
  run: async ({ args, followup }) => {
    if (args.fail === true) throw new Error("secret");
    await followup({ message: `Noted ${String(args.what)}.` });
    return { action: "delivered" };
  },
});

const bundle = (slugs: readonly string[]) =>
  makeBundle(
    slugs.map((slug) => ({
      slug,
      definitions: { "reminder:note": note },
      manifest: {
        reminders: [{ id: "reminder:note", name: "note", source: "bot/reminders/note.ts:1", layer: "project" }],
      },
    })),
  );

async function messages(base: string, sessionId: string): Promise<string[]> {
  const events = await readEvents(base, sessionId);
  return events.flatMap((event) => (event.type === "message.received" ? [(event.data as { text: string }).text] : []));
}

test("under --dev nothing fires by itself; a POST fires one, once", async () => {
  const host = await startHost(bundle(["bot"]), { dev: true });
  const { sessionId, continuationToken } = await startSession(host.base, { message: "hello" });
  await followUntil(host.base, sessionId, isWaiting);
  const target = { purpose: "p", channelId: "http", continuationToken };
  const prompt = await host.createReminder({ ...target, delay: 0, prompt: "Look." });
  const handler = await host.createReminder({ ...target, every: "1h", handler: note, args: { what: "it" } });
  const fails = await host.createReminder({ ...target, delay: "3h", handler: "note", args: { fail: true } });
  const listed = (await call(`${host.base}/v1/dev/reminders`)).body.reminders;
  expect(listed).toEqual([prompt, handler, fails]);
  expect(await host.listReminders("bot")).toEqual(listed);

  const fire = (id: string) => call(`${host.base}/v1/dev/reminders/${id}`, { method: "POST" });
  expect(await fire(prompt.id)).toMatchObject({
    status: 200,
    body: { reminderId: prompt.id, action: "delivered", sessionIds: [sessionId] },
  });
  await followUntil(host.base, sessionId, nth("session.waiting", 2));
  expect(await host.dispatchReminder(handler.id)).toEqual({
    reminderId: handler.id,
    action: "delivered",
    sessionIds: [sessionId],
  });
  await followUntil(host.base, sessionId, nth("session.waiting", 3));
  expect(await messages(host.base, sessionId)).toEqual(["hello", "Look.", "Noted it."]);

  const failed = await fire(fails.id);
  expect(failed).toMatchObject({ status: 500, body: { error: "internal" } });
  expect(JSON.stringify(failed.body)).not.toContain("secret");
  expect(await fire(prompt.id)).toMatchObject({ status: 404, body: { error: "not_found" } });
  // A recurring one keeps its times.
  expect((await call(`${host.base}/v1/dev/reminders`)).body.reminders).toEqual([handler]);
  expect(await host.cancelReminder(handler.id)).toBe(true);
  expect(await host.cancelReminder(handler.id)).toBe(false);
  await expect(host.dispatchReminder(handler.id)).rejects.toMatchObject({ code: "not_found" });
});

test("elsewhere there are no such routes; with several agents the slug says whose", async () => {
  const host = await startHost(bundle(["one", "two"]));
  expect((await call(`${host.url}/one/v1/dev/reminders`)).status).toBe(404);
  const { sessionId, continuationToken } = await startSession(`${host.url}/two`, { message: "hello" });
  await followUntil(`${host.url}/two`, sessionId, isWaiting);
  const reminder = { purpose: "p", channelId: "http", continuationToken, delay: "50ms", prompt: "Wake." };
  await expect(host.createReminder(reminder)).rejects.toMatchObject({ code: "invalid_request" });
  await expect(host.createReminder(reminder, "one")).rejects.toMatchObject({ code: "not_found" });
  await expect(host.createReminder(reminder, "three")).rejects.toMatchObject({ code: "not_found" });
  await host.createReminder(reminder, "two");
  await followUntil(`${host.url}/two`, sessionId, nth("session.waiting", 2));
  expect(await messages(`${host.url}/two`, sessionId)).toEqual(["hello", "Wake."]);
  expect(await host.listReminders()).toEqual([]);
});

test("a program's own import of a handler names the one that the server runs", async () => {
  const emitted = await emitProject({
    "bot/reminders/ci_recheck.mjs": `import { defineReminder } from "@cursor/bdk/reminders";

export default defineReminder({
  async run({ args, followup }) {
    await followup({ message: \`Re-check \${String(args.prUrl)}.\` });
    return { action: "delivered" };
  },
});
`,
  });
  const project = join(emitted.work, "project");
  // As an installed project has it: the import of the program is Node's own.
  const { mkdirSync, symlinkSync } = await import("node:fs");
  mkdirSync(join(project, "node_modules/@cursor"), { recursive: true });
  symlinkSync(process.cwd(), join(project, "node_modules/@cursor/bdk"));
  const url = pathToFileURL(join(project, "bot/reminders/ci_recheck.mjs")).href;
  const own = ((await import(/* @vite-ignore */ url)) as { default: typeof note }).default;

  const handle = await serve(project, { port: 0, dev: true, stateRoot: emitted.stateRoot, log: () => undefined });
  onTestFinished(() => handle.close());
  const base = handle.agents[0]?.url ?? "";
  const { sessionId, continuationToken } = await startSession(base, { message: "hello" });
  await followUntil(base, sessionId, isWaiting);
  const target = { purpose: "ci", channelId: "http", continuationToken };
  const armed = await handle.createReminder({ ...target, every: "30m", handler: own, args: { prUrl: "#42" } });
  expect(armed.handler).toBe("ci_recheck");
  await handle.dispatchReminder(armed.id);
  await followUntil(base, sessionId, nth("session.waiting", 2));
  expect(await messages(base, sessionId)).toEqual(["hello", "Re-check #42."]);
  await expect(handle.createReminder({ ...target, every: "30m", handler: note })).rejects.toMatchObject({
    code: "unknown_handler",
  });
});

test("the emitted bundle has them when code uses them, and fires them by a real clock", async () => {
  const emitted = await emitProject({
    "bot/tools/later.ts": `import { defineTool } from "@cursor/bdk/tools";
import again from "../reminders/again.js";

export default defineTool({
  description: "Comes back later.",
  async execute(_input, { host: { reminders } }) {
    const { handler } = await reminders.create({ purpose: "p", delay: 1000, handler: again, args: { word: "more" } });
    return { handler };
  },
});
`,
    "bot/reminders/again.ts": `import { defineReminder } from "@cursor/bdk/reminders";

export default defineReminder({
  async run({ args, followup, host, session }) {
    await followup({ message: \`Once \${String(args.word)}.\` });
    await host.reminders.create({ purpose: "p", delay: "1s", prompt: \`Wake \${session.channelId}.\` });
    return { action: "delivered" };
  },
});
`,
  });
  const server = startTimed(emitted, undefined);
  const url = await server.listening;
  const { sessionId } = await startSession(url, { message: "/later" });
  await followUntil(url, sessionId, nth("session.waiting", 3));
  expect(await messages(url, sessionId)).toEqual(["/later", "Once more.", "Wake http."]);
  await server.end("SIGKILL");

  emitted.remove("bot/reminders/again.ts");
  await emitted.build({
    "bot/tools/later.ts":
      'import { defineTool } from "@cursor/bdk/tools";\n\nexport default defineTool({ description: "Nothing.", execute: () => 1 });\n',
  });
  const without = startTimed(emitted, undefined);
  await without.listening;
  await expect.poll(without.stderr).toContain("built without reminders");
});
