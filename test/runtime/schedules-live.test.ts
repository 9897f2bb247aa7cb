/** Schedules in production: an emitted server on its real timers fires by itself at the turn of the minute. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { build } from "../../cli/api/build.js";
import { emitProject } from "./support/emitted.js";
import { call } from "./support/host.js";
import { startTimed } from "./support/timed-server.js";
import { makeFolder, writeFiles } from "./support/worker-project.js";

const files = {
  "bot/schedules/minutely.ts": `import { defineSchedule } from "@cursor/bdk/schedules";

export default defineSchedule({
  cron: "* * * * *",
  run: ({ host, scheduledAt }) => host.files.append("ticks.txt", scheduledAt.toISOString() + "\\n", { scope: "deployment" }),
});
`,
};

async function nextOf(url: string): Promise<string | undefined> {
  const info = (await call(`${url}/v1/info`)).body as { agents: { schedules: { next: string }[] }[] };
  return info.agents[0]?.schedules[0]?.next;
}

test("a server fires at the turn of the minute; one with --no-schedules or --dev does not", {
  timeout: 180_000,
}, async () => {
  const emitted = await emitProject(files);
  const ticks = () => {
    try {
      return readFileSync(join(emitted.stateRoot, "files/ticks.txt"), "utf8").trim().split("\n");
    } catch {
      return []; // nothing has fired yet
    }
  };
  // The clock shows a few seconds before the minute: the server is up by then, and its timers are real.
  const time = () => ({ from: "2026-03-02T09:59:54Z", since: Date.now() });
  for (const flag of ["--dev", "--no-schedules"]) {
    const silent = startTimed(emitted, { from: "2026-03-02T08:59:50Z", since: Date.now(), scale: 60 }, [flag]);
    const url = await silent.listening;
    // By its own clock, which runs sixty times as fast, two minutes have turned.
    await expect.poll(async () => ((await nextOf(url)) ?? "") >= "2026-03-02T09:02").toBe(true);
    expect(ticks()).toEqual([]);
    await silent.end("SIGTERM");
  }
  const server = startTimed(emitted, time());
  const url = await server.listening;
  expect(await nextOf(url)).toMatch(/^2026-03-02T10:0\d:00\.000Z$/);
  // A machine that took longer to start it waits for the next minute.
  await expect.poll(ticks, { timeout: 90_000 }).toEqual([expect.stringMatching(/^2026-03-02T10:0\d:00\.000Z$/)]);
});

interface Vectors {
  readonly from: string;
  readonly vectors: readonly (readonly [string, readonly string[] | string])[];
}

const { from, vectors }: Vectors = JSON.parse(readFileSync(new URL("../vectors/cron.json", import.meta.url), "utf8"));

const nameOf = (at: number) => `v${String(at).padStart(2, "0")}`;

function schedulesOf(some: readonly (readonly [cron: string, at: number])[]): Record<string, string> {
  return Object.fromEntries(
    some.map(([cron, at]) => [`bot/schedules/${nameOf(at)}.md`, `---\ncron: ${JSON.stringify(cron)}\n---\n\nGo.\n`]),
  );
}

test("each of the 68 vectors as a schedule: refused at build, or next in info as vixie has it", async () => {
  expect(vectors).toHaveLength(68);
  const numbered = vectors.map(([cron, fires], at) => ({ cron, fires, at }));
  const good = numbered.filter(({ fires }) => typeof fires !== "string" && fires.length > 0);
  const emitted = await emitProject(schedulesOf(good.map(({ cron, at }) => [cron, at])));
  const server = startTimed(emitted, { from, since: Date.now() }, ["--no-schedules"]);
  const url = await server.listening;
  const { agents } = (await call(`${url}/v1/info`)).body as unknown as {
    agents: { schedules: { name: string; next: string }[] }[];
  };
  expect(agents[0]?.schedules.map(({ name, next }) => [name, next.replace(/:00\.000Z$/, "Z")])).toEqual(
    good.map(({ fires, at }) => [nameOf(at), fires[0]]),
  );

  const bad = numbered.filter((each) => !good.includes(each));
  const folder = makeFolder();
  writeFiles(folder, {
    ...schedulesOf(bad.map(({ cron, at }) => [cron, at])),
    "package.json": '{ "name": "bad" }',
    "bot/instructions.md": "Be brief.",
  });
  const { diagnostics } = await build(folder);
  expect(diagnostics.map(({ code, labels }) => [code, labels[0]?.span.file])).toEqual(
    bad.map(({ fires, at }) => [typeof fires === "string" ? "BDK2014" : "BDK2015", `bot/schedules/${nameOf(at)}.md`]),
  );
});
