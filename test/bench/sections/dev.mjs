import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { listeningUrl, median, startServer } from "../measure.mjs";
import { bdk, post, project, row, work } from "../workbench.mjs";

/** `bdk dev`: from a saved edit to the first answer of the new code, and what a build costs when nothing changed. */
export async function dev() {
  for (const [tools, budget] of [
    [10, 150],
    [1000, 400],
  ]) {
    const dir = project(tools);
    const events = [];
    const server = await startServer(
      [
        process.execPath,
        bdk,
        "dev",
        "--dir",
        dir,
        "--port",
        "0",
        "--json",
        "--model",
        "offline",
        "--mode",
        "single",
        "--state-root",
        join(work, `dev-${tools}`),
      ],
      (line) => {
        if (line.startsWith("{")) events.push(JSON.parse(line));
        return listeningUrl(line);
      },
      { cwd: work },
    );
    const url = `${server.value}/v1/tools/tool_0001`;
    const file = join(dir, "bot/tools/tool_0001.ts");
    const original = readFileSync(file, "utf8");
    const ask = async () => (await post(url, { input: { text: "x", count: 1 } })).result;
    const baseline = JSON.stringify(await ask());
    const times = [];
    const failures = [];
    for (let i = 0; i < 12; i += 1) {
      const mark = `mark-${i}`;
      const started = performance.now();
      writeFileSync(file, original.replaceAll("GENERATED", mark));
      for (;;) {
        const answer = await ask().catch((error) => {
          failures.push(error);
          return undefined;
        });
        if (answer !== undefined && JSON.stringify(answer).includes(mark)) break;
        if (performance.now() - started > 20_000) throw new Error(`edit ${i} never answered; first was ${baseline}`);
      }
      times.push(performance.now() - started);
    }
    row(`edit → new code answers, ${tools} tools`, median(times), "ms", `≤ ${budget}`, median(times) <= budget);
    row(`failed requests meanwhile, ${tools} tools`, failures.length, "", "0", failures.length === 0);
    await server.stop();
  }
  const { createCompiler } = await import("../../../dist/cli/api/build.js");
  const compiler = createCompiler(project(1000), { environment: "strict", until: "project" });
  await compiler.compile();
  const started = performance.now();
  await compiler.compile();
  const ms = performance.now() - started;
  row("rebuild with nothing changed, 1000 tools", ms, "ms", "≤ 100", ms <= 100);
  await compiler.close();
}
