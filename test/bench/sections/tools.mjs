import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { listeningUrl, load, median, startServer } from "../measure.mjs";
import { build, project, row, serverOf, work } from "../workbench.mjs";

/** `POST /v1/tools/:name` against a bare fastify route with the same zod check. */
export async function tools() {
  const dir = project(10);
  const out = join(work, "tools");
  await build(dir, out);
  const cwd = mkdtempSync(join(work, "tools-cwd-"));
  const ours = await serverOf(out, cwd);
  const bare = await startServer(
    [process.execPath, fileURLToPath(new URL("../bare-fastify.mjs", import.meta.url))],
    listeningUrl,
  );
  const options = { connections: 32, ms: 2000 };
  const body = JSON.stringify({ input: { text: "hello", count: 3 } });
  const ratios = [];
  let last;
  for (let i = 0; i < 5; i += 1) {
    const theirs = await load(`${bare.value}/v1/tools/tool_0001`, { ...options, body });
    const mine = await load(`${ours.value}/v1/tools/tool_0001`, { ...options, body });
    if (i > 0) ratios.push(mine / theirs); // the first round warms both up
    last = { mine, theirs };
  }
  row(
    `POST /v1/tools/:name, 32 connections, against bare fastify (${Math.round(last.mine)} to ${Math.round(last.theirs)} /s)`,
    median(ratios),
    "×",
    "≥ 0.8",
    median(ratios) >= 0.8,
  );
  await ours.stop();
  await bare.stop();
}
