import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { generateProject } from "../generate.mjs";
import { channelSources, environmentOf, startRecorder, storm } from "../webhook-storm.mjs";
import { build, row, serverOf, work } from "../workbench.mjs";

const count = 500;
const ms = 5_000;
const streams = 50;

/** 500 webhooks in 5 seconds while 50 streams are open, for each pack: each starts a turn, whose reply is posted. */
export async function webhooks() {
  const dir = join(work, "project-webhooks");
  generateProject(dir, { tools: 10 });
  for (const [file, source] of Object.entries(channelSources)) {
    mkdirSync(dirname(join(dir, file)), { recursive: true });
    writeFileSync(join(dir, file), source);
  }
  const out = join(work, "webhooks");
  await build(dir, out);
  const recorder = await startRecorder();
  const server = await serverOf(out, mkdtempSync(join(work, "webhooks-cwd-")), [], environmentOf(recorder));
  try {
    for (const channel of ["github", "slack", "billing"]) {
      recorder.forget();
      const { times, refused, events } = await storm(server.value, channel, { count, ms, streams });
      const p99 = times[Math.ceil(times.length * 0.99) - 1];
      const what = `${channel}: p99 of ${count} acknowledgements in ${ms / 1000} s, ${streams} streams open`;
      row(what, p99, "ms", "< 250", p99 < 250);
      const median = times[Math.floor(times.length / 2)];
      row("median of them", median, "ms", "< 100", median < 100);
      await recorder.reached(count, 60_000);
      const lost = count - recorder.replies().size + refused.length;
      row("webhooks that were refused or lost", lost, "", "0", lost === 0);
      const twice = [...recorder.replies().values()].filter((times) => times > 1).length;
      row("webhooks that were answered twice", twice, "", "0", twice === 0);
      const silent = events.filter((each) => each === 0).length;
      row("streams that got nothing", silent, "", "0", silent === 0);
    }
  } finally {
    recorder.close();
    await server.stop();
  }
}
