// `npm run bench [-- name…]`: one table of figures against their budgets. Ratios are taken within one run, since machines are noisy.
import { rmSync } from "node:fs";
import { build } from "./sections/build.mjs";
import { dev } from "./sections/dev.mjs";
import { extensions } from "./sections/extensions.mjs";
import { load } from "./sections/load.mjs";
import { mcp } from "./sections/mcp.mjs";
import { size } from "./sections/size.mjs";
import { startup } from "./sections/startup.mjs";
import { tools } from "./sections/tools.mjs";
import { turns } from "./sections/turns.mjs";
import { waiting } from "./sections/waiting.mjs";
import { webhooks } from "./sections/webhooks.mjs";
import { rows, work } from "./workbench.mjs";

const sections = { build, dev, size, startup, tools, turns, waiting, extensions, load, mcp, webhooks };
const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(sections);
try {
  for (const name of names) {
    const section = sections[name];
    if (section === undefined) throw new Error(`no section "${name}"; there are: ${Object.keys(sections).join(", ")}`);
    process.stderr.write(`${name}\n`);
    await section();
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}
const width = Math.max(...rows.map((each) => each.what.length));
for (const each of rows) {
  console.log(
    `${each.what.padEnd(width)}  ${`${each.figure} ${each.unit}`.padStart(14)}  ${each.budget.padStart(8)}  ${each.ok}`,
  );
}
process.exitCode = rows.every((each) => each.ok === "ok") ? 0 : 1;
