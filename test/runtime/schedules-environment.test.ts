import { expect, it } from "vitest";
import { emitProject } from "./support/emitted.js";

it("takes the times of a schedule from the environment of the server, and starts with none that is wrong", async () => {
  const emitted = await emitProject({
    "bot/schedules/given.ts": `import { defineSchedule } from "@cursor/bdk/schedules";

export default defineSchedule({ cron: process.env.GIVEN_TIMES as string, markdown: "Look round." });
`,
    "bot/schedules/usual.ts": `import { defineSchedule } from "@cursor/bdk/schedules";

const times = process.env.USUAL_TIMES ?? "0 9 * * *";

export default defineSchedule({ cron: times, markdown: "Look round." });
`,
  });
  await expect(emitted.start()).rejects.toThrow(/GIVEN_TIMES is required/);
  for (const [cron, reason] of [
    ["soon", "can't be parsed: it has 1 field, not 5"],
    ["0 0 30 2 *", "names a date that never comes"],
  ] as const) {
    await expect(emitted.start({ GIVEN_TIMES: cron })).rejects.toThrow(
      `the cron expression of the schedule "given" (bot/schedules/given.ts:3), which the environment gives, ${reason}`,
    );
  }
  const url = await emitted.start({ GIVEN_TIMES: "30 6 1 1 *", USUAL_TIMES: "15 7 * * *" });
  const { agents } = (await (await fetch(`${url}/v1/info`)).json()) as {
    readonly agents: readonly { readonly schedules: unknown }[];
  };
  expect(agents[0]?.schedules).toMatchObject([
    { name: "given", cron: "30 6 1 1 *", next: expect.stringContaining("-01-01T06:30:00.000Z") },
    { name: "usual", cron: "15 7 * * *", next: expect.stringContaining("T07:15:00.000Z") },
  ]);
});
