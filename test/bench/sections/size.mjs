import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build, project, row, work } from "../workbench.mjs";

/** How large `server.mjs` is. */
export async function size() {
  const dir = project(10);
  const agent = join(dir, "bot/agent.ts");
  const kept = readFileSync(agent, "utf8");
  for (const [model, budget] of [
    ["offline", 1.2],
    ["grok-4.5", 1.8],
  ]) {
    writeFileSync(agent, kept.replace(/model: "[^"]*"/, `model: "${model}"`));
    const out = join(work, `size-${model}`);
    await build(dir, out);
    const mb = statSync(join(out, "server.mjs")).size / 1e6;
    row(`server.mjs, 10 tools, ${model}`, mb, "MB", `≤ ${budget}`, mb <= budget);
  }
  writeFileSync(agent, kept);
}
