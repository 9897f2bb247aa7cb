/** Schedules fired by hand, over HTTP and through the handle, and what a server says of them. */
import { expect, test } from "vitest";
import type { ScheduleEntry } from "../../runtime/manifest/schema.js";
import { makeBundle } from "./support/bundle.js";
import { emitProject } from "./support/emitted.js";
import { call, startHost } from "./support/host.js";

function entry(name: string, form: ScheduleEntry["form"]): ScheduleEntry {
  const prompt = form === "markdown" ? { prompt: `do ${name}` } : {};
  return {
    id: `schedule:${name}`,
    source: `bot/schedules/${name}.ts:1`,
    layer: "project",
    name,
    cron: "0 0 1 1 *",
    form,
    ...prompt,
  };
}

const bundle = (slugs: readonly string[]) =>
  makeBundle(
    slugs.map((slug) => ({
      slug,
      definitions: {
        "schedule:fails": {
          run: ({ waitUntil }: { waitUntil(promise: Promise<unknown>): void }) =>
            waitUntil(Promise.reject(new Error("secret"))),
        },
      },
      manifest: { schedules: [entry("daily", "markdown"), entry("fails", "run")] },
    })),
  );

test("under --dev a POST fires it once; unknown ones are 404, failures 500 without a word of them", async () => {
  const host = await startHost(bundle(["bot"]), { dev: true });
  const fired = await call(`${host.base}/v1/dev/schedules/daily`, { method: "POST" });
  const { sessionIds } = fired.body as { sessionIds: string[] };
  expect(fired).toMatchObject({
    status: 200,
    body: { scheduleId: "daily", sessionIds: [expect.stringMatching(/^ses_/)] },
  });
  const { sessions } = (await call(`${host.base}/v1/sessions`)).body as { sessions: { id: string }[] };
  expect(sessions.map(({ id }) => id)).toEqual(sessionIds);
  expect(await call(`${host.base}/v1/dev/schedules/none`, { method: "POST" })).toMatchObject({
    status: 404,
    body: { error: "not_found", available: ["daily", "fails"] },
  });
  const failed = await call(`${host.base}/v1/dev/schedules/fails`, { method: "POST" });
  expect(failed).toMatchObject({ status: 500, body: { error: "internal" } });
  expect(JSON.stringify(failed.body)).not.toContain("secret");
  expect(host.lines.some(({ message }) => message.includes("secret"))).toBe(true);
});

test("a request with an Idempotency-Key that is sent again fires nothing again, a failed one neither", async () => {
  const host = await startHost(bundle(["bot"]), { dev: true });
  const ask = (name: string, key: string) =>
    call(`${host.base}/v1/dev/schedules/${name}`, { method: "POST", headers: { "idempotency-key": key } });
  const answers = await Promise.all(["one", "one", "one", "two"].map((key) => ask("daily", key)));
  const ids = answers.map(({ body }) => String(body.sessionIds));
  expect(new Set(ids.slice(0, 3)).size).toBe(1);
  expect(new Set(ids).size).toBe(2);
  expect([(await ask("fails", "one")).status, (await ask("fails", "one")).status]).toEqual([500, 500]);
  const failures = host.lines.filter(({ message }) => message.includes('schedule "fails" failed: secret'));
  expect(failures).toHaveLength(1);
  expect(await ask("none", "one")).toMatchObject({ status: 404 });
  expect(await ask("daily", "")).toMatchObject({ status: 400, body: { error: "invalid_request" } });
});

test("elsewhere there is no such route; the handle fires, and wants a slug where one name is two schedules", async () => {
  const host = await startHost(bundle(["one", "two"]), { schedules: false });
  expect((await call(`${host.base}/v1/dev/schedules/daily`, { method: "POST" })).status).toBe(404);
  await expect(host.dispatchSchedule("daily")).rejects.toMatchObject({ code: "invalid_request" });
  await expect(host.dispatchSchedule("none")).rejects.toMatchObject({ code: "not_found" });
  expect(await host.dispatchSchedule("daily", "two")).toMatchObject({
    scheduleId: "daily",
    sessionIds: [expect.any(String)],
  });
});

test("info says when each fires next", async () => {
  const host = await startHost(bundle(["bot"]));
  const { agents } = (await call(`${host.base}/v1/info`)).body as { agents: { schedules: { next: string }[] }[] };
  expect(agents[0]?.schedules[0]?.next).toMatch(/^\d{4}-01-01T00:00:00\.000Z$/);
});

test("the emitted bundle fires prompts and handlers, which call tools and hand work into a channel", async () => {
  const emitted = await emitProject({
    "bot/schedules/daily.md": '---\ncron: "0 9 * * 1-5"\n---\n\nSummarize the incidents.\n',
    "bot/channels/inbox.ts": `import { defineChannel, localDevStrict } from "@cursor/bdk/channels";

export default defineChannel({ auth: [localDevStrict()], routes: [] });
`,
    "bot/schedules/sweep.ts": `import { defineSchedule } from "@cursor/bdk/schedules";
import inbox from "../channels/inbox.js";

export default defineSchedule({
  cron: "*/30 * * * *",
  async run({ receive, waitUntil, appAuth }) {
    waitUntil(receive(inbox, { message: "Check the alerts.", auth: appAuth, continuationToken: "alerts" }));
  },
});
`,
  });
  const url = await emitted.start({}, ["--dev"]);
  const fire = async (id: string) =>
    (await call(`${url}/v1/dev/schedules/${id}`, { method: "POST" })).body as { sessionIds: string[] };
  const daily = await fire("daily");
  const sweep = await fire("sweep");
  const { sessions } = (await call(`${url}/v1/sessions`)).body as { sessions: unknown[] };
  expect(sessions).toMatchObject([
    { id: sweep.sessionIds[0], channelId: "inbox", continuationToken: "inbox:alerts", owner: "app:schedule:sweep" },
    { id: daily.sessionIds[0], channelId: "schedule", mode: "task", owner: "app:schedule:daily" },
  ]);
  await emitted.kill();
});
