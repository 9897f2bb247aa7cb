import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cpuMs, listeningUrl, median, rssMb, startServer } from "../measure.mjs";
import { build, project, row, serverOf, work } from "../workbench.mjs";

/** From spawn to the first 200, in CPU over a bare node:http server; and memory at rest. */
export async function startup() {
  const dir = project(10);
  const out = join(work, "startup");
  await build(dir, out);
  const bare = join(work, "bare.mjs");
  writeFileSync(
    bare,
    'import { createServer } from "node:http";\nconst s = createServer((q, r) => r.end("ok")).listen(0, "127.0.0.1", () => console.log(JSON.stringify({ event: "listening", url: `http://127.0.0.1:${s.address().port}` })));\n',
  );
  const cwd = mkdtempSync(join(work, "empty-"));
  const measure = async (start, path) => {
    const server = await start();
    const response = await fetch(server.value + path);
    await response.text();
    const cpu = cpuMs(server.child.pid);
    if (response.status !== 200) throw new Error(`${path}: ${response.status}`);
    return { server, cpu };
  };
  const bareRuns = [];
  const ourRuns = [];
  for (let i = 0; i < 11; i += 1) {
    const one = await measure(() => startServer([process.execPath, bare], listeningUrl, { cwd }), "/");
    bareRuns.push(one.cpu);
    await one.server.stop();
    const two = await measure(() => serverOf(out, cwd), "/v1/health");
    ourRuns.push(two.cpu);
    await two.server.stop();
  }
  const extra = median(ourRuns) - median(bareRuns);
  row("spawn → first 200, over bare node:http", extra, "ms CPU", "≤ 60", extra <= 60);
  const idle = await serverOf(out, cwd);
  await fetch(`${idle.value}/v1/health`);
  await new Promise((done) => setTimeout(done, 3000)); // idle means that nothing is asked of it for a while
  const rss = rssMb(idle.child.pid);
  row("idle RSS", rss, "MB", "≤ 80", rss <= 80);
  await idle.stop();
}
