import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { cpuMs, median } from "../measure.mjs";
import { build, post, project, row, serverOf, until, work } from "../workbench.mjs";

/** Start with 1,000 waiting sessions against a start with none. */
export async function waiting() {
  const dir = project(10);
  const out = join(work, "waiting");
  await build(dir, out);
  const cwd = mkdtempSync(join(work, "waiting-cwd-"));
  const empty = mkdtempSync(join(work, "waiting-none-"));
  const server = await serverOf(out, cwd);
  for (let i = 0; i < 1000; i += 50) {
    await Promise.all(
      Array.from({ length: 50 }, async () => {
        const { sessionId } = await post(`${server.value}/v1/session`, { message: "hi" });
        await until(server.value, sessionId, "session.waiting");
      }),
    );
  }
  await server.stop();
  const start = async (folder) => {
    const one = await serverOf(out, folder);
    await (await fetch(`${one.value}/v1/health`)).text();
    const cpu = cpuMs(one.child.pid);
    await one.stop();
    return cpu;
  };
  await start(empty);
  const none = [];
  const many = [];
  for (let i = 0; i < 9; i += 1) {
    none.push(await start(empty));
    many.push(await start(cwd));
  }
  const ratio = median(many) / median(none);
  row("startup with 1,000 waiting sessions against none", ratio, "×", "≤ 1.1", ratio <= 1.1);
}
