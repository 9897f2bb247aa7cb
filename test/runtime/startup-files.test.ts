/**
 * The started server looks at nothing but its state: every call of node:fs that names a path is recorded from the
 * first instruction on.
 */
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, expect, test } from "vitest";
import { listeningUrl, runCommand, startServer } from "../bench/measure.mjs";

const work = realpathSync(mkdtempSync(join(tmpdir(), "bdk-files-")));
afterAll(() => rmSync(work, { recursive: true, force: true }));

test("the emitted server starts and answers without listing folders or reading project files", async () => {
  const out = join(work, "out");
  const empty = join(work, "empty");
  const record = join(work, "record.txt");
  mkdirSync(empty);
  writeFileSync(record, "");
  const project = resolve("fixtures/projects/pr-approver");
  await runCommand([process.execPath, resolve("dist/cli/bdk.js"), "build", "--dir", project, "--out", out]);
  const flags = ["--port", "0", "--json", "--mode", "single", "--model", "offline"];
  const server = await startServer(
    [process.execPath, "--import", resolve("test/runtime/record-fs.mjs"), join(out, "server.mjs"), ...flags],
    listeningUrl,
    { cwd: empty, env: { PATH: process.env.PATH ?? "", RECORD_FS: record } },
  );
  try {
    expect((await fetch(`${server.value}/v1/health`)).status).toBe(200);
    const info = (await (await fetch(`${server.value}/v1/info`)).json()) as { agents: { tools: { name: string }[] }[] };
    expect(info.agents[0]?.tools.map((tool) => tool.name)).toContain("inspect_pr");
    const calls = readFileSync(record, "utf8").trim().split("\n");
    const state = join(empty, ".bdk");
    // Read by the module loader itself; and whether the bundle's own pages are beside it, by their names.
    const bundle = ["server.mjs", "playground/index.html", "docs/index.html"].map((file) => join(out, file));
    expect(calls.some((call) => call.includes(`${state}/`))).toBe(true); // the recorder records
    expect(calls.filter((call) => /^(readdir|opendir|readdirSync|opendirSync|glob) /.test(call))).toEqual([]);
    const elsewhere = calls.filter((call) => {
      const path = resolve(empty, call.slice(call.indexOf(" ") + 1));
      return (
        !bundle.includes(path) &&
        path !== empty &&
        path !== state &&
        !path.startsWith(`${state}/`) &&
        !path.startsWith("/proc/")
      );
    });
    expect(elsewhere).toEqual([]);
  } finally {
    await server.stop();
  }
});
