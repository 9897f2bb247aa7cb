import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { median } from "../measure.mjs";
import { build as bdkBuild, project, row, work } from "../workbench.mjs";

/** Builds of 10 and 1,000 tools: cold, and with a warm content-hash cache. */
export async function build() {
  for (const tools of [10, 1000]) {
    const dir = project(tools);
    const runs = [];
    for (let i = 0; i < 3; i += 1) {
      const cache = join(work, `cold-${tools}-${i}`);
      runs.push(await bdkBuild(dir, join(work, `out-${tools}`), [], { XDG_CACHE_HOME: cache }));
    }
    const cpu = median(runs.map((run) => run.cpu));
    const peak = Math.max(...runs.map((run) => run.peakMb));
    if (tools === 10) {
      row("build, 10 tools, cold", cpu, "CPU s", "≤ 1.0", cpu <= 1.0);
      row("build, 10 tools, cold, peak RSS", peak, "MB", "≤ 250", peak <= 250);
    } else {
      row("build, 1000 tools, cold", cpu, "CPU s", "≤ 5.0", cpu <= 5.0);
      const env = { XDG_CACHE_HOME: join(work, "warm") };
      await bdkBuild(dir, join(work, "out-warm"), [], env);
      const same = await bdkBuild(dir, join(work, "out-warm"), [], env);
      row("build, 1000 tools, warm, nothing changed", same.cpu, "CPU s", "≤ 2.0", same.cpu <= 2.0);
      const file = join(dir, "bot/tools/tool_0001.ts");
      writeFileSync(file, `${readFileSync(file, "utf8")}\nexport const edited = 1;\n`);
      const edited = await bdkBuild(dir, join(work, "out-warm"), [], env);
      row("build, 1000 tools, warm, one file edited", edited.cpu, "CPU s", "≤ 2.0", edited.cpu <= 2.0);
    }
  }
}
