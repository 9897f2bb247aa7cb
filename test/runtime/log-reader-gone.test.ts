/** Whoever reads a server's log may leave: the server goes on, and ends when it is told to. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { listeningUrl } from "../bench/measure.mjs";
import { emitProject } from "./support/emitted.js";
import { killed } from "./support/killed.js";

const noisy = `import { defineTool } from "@cursor/bdk/tools";
export default defineTool({ description: "Says something.", effect: "read", execute: () => { console.log("said"); return "done"; } });
`;

test("a log that nobody reads any more neither stops the server nor keeps it from ending", async () => {
  const { work, build } = await emitProject({});
  await build({ "bot/tools/say.ts": noisy });
  const args = [join(work, "out/server.mjs"), "--port", "0", "--json", "--mode", "single", "--model", "offline"];
  const server: ChildProcess = spawn(process.execPath, args, { cwd: work, stdio: ["ignore", "pipe", "pipe"] });
  onTestFinished(() => killed(server));
  const [first] = (await once(server.stdout as NodeJS.ReadableStream, "data")) as [Buffer];
  const url = listeningUrl(String(first).split("\n")[0] ?? "");
  server.stderr?.destroy();
  server.stdout?.destroy();
  for (let time = 0; time < 3; time += 1) {
    const answer = await fetch(`${url}/v1/tools/say`, {
      method: "POST",
      body: "{}",
      headers: { "content-type": "application/json" },
    });
    expect(await answer.json()).toMatchObject({ ok: true, result: "done" });
  }
  server.kill("SIGTERM");
  expect(await once(server, "exit")).toEqual([0, null]);
});
