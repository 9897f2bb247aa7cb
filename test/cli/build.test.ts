import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { build } from "../../cli/api/build.js";
import { bdk, copyProject, packageRoot, temporaryFolder } from "./bdk.js";
import { toolFile, writeProject } from "./dev-project.js";

/** Processes that a process has started, by /proc. */
const childrenOf = async (pid: number): Promise<string[]> =>
  (await readFile(`/proc/${pid}/task/${pid}/children`, "utf8")).split(" ").filter((each) => each !== "");

describe("bdk build", () => {
  test("writes a server that runs from an empty folder, and says what it wrote", async () => {
    const dir = await copyProject("pr-approver");
    const out = join(await temporaryFolder(), "out");
    const { code, stdout } = await bdk(["build", "--dir", dir, "--out", out]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/built .*out in /);
    expect(stdout).toMatch(/server\.mjs +[\d.]+ (kB|MB)/);
    const checked = spawn(process.execPath, [join(out, "server.mjs"), "--check"], {
      cwd: await temporaryFolder(),
      stdio: "ignore",
    });
    expect(await new Promise((resolve) => checked.on("close", resolve))).toBe(0);
  });

  test.each(["SIGINT", "SIGTERM"] as const)(
    "%s ends what loads the project, too, however stuck it is",
    async (signal) => {
      const dir = await temporaryFolder();
      await writeProject(dir, {
        "package.json": '{ "name": "stuck" }',
        "bot/instructions.md": "Wait.\n",
        "bot/tools/stuck.ts": [
          'import { writeFileSync } from "node:fs";',
          `writeFileSync(${JSON.stringify(join(dir, "loading"))}, "");`,
          toolFile('() => "never"', "for (;;);"),
        ].join("\n"),
      });
      const running = spawn(process.execPath, [join(packageRoot, "dist/cli/bdk.js"), "build", "--dir", dir], {
        cwd: dir,
        stdio: "ignore",
      });
      const ended = new Promise((resolve) => running.on("exit", (_code, by) => resolve(by)));
      const pid = running.pid ?? 0;
      await expect.poll(() => readdir(dir)).toContain("loading");
      const children = await childrenOf(pid);
      expect(children).not.toEqual([]);
      running.kill(signal);
      expect(await ended).toBe(signal);
      await expect.poll(() => children.filter((child) => existsSync(`/proc/${child}`))).toEqual([]);
    },
  );

  test("--json is one value: files, hash, environment, timings", async () => {
    const dir = await copyProject("pr-approver");
    const { code, stdout, stderr } = await bdk(["build", "--dir", dir, "--json"]);
    expect(code).toBe(0);
    expect(stderr).toBe("");
    const result = JSON.parse(stdout) as {
      ok: boolean;
      out: string;
      hash: string;
      files: { path: string; bytes: number }[];
      timings: Record<string, number>;
    };
    expect(result).toMatchObject({ ok: true, out: join(dir, "dist") });
    for (const { path, bytes } of result.files) expect((await stat(join(dir, "dist", path))).size).toBe(bytes);
    expect(result.files.map((each) => each.path)).toEqual(expect.arrayContaining(["server.mjs", "manifest.json"]));
    expect(JSON.parse(await readFile(join(dir, "dist/manifest.json"), "utf8")).hash).toBe(result.hash);
  });

  test("in a dirty folder takes away its own old files and nothing else", async () => {
    const dir = await copyProject("pr-approver");
    const out = join(dir, "dist");
    await mkdir(join(out, "keep"), { recursive: true });
    await writeFile(join(out, "keep/mine.txt"), "mine");
    await writeFile(join(out, "server.mjs"), "throw new Error('stale')");
    expect((await bdk(["build", "--dir", dir])).code).toBe(0);
    const manual = await stat(join(out, "docs/index.html"));
    // As if that build had made one more file than the next will.
    await mkdir(join(out, "assets/old"), { recursive: true });
    await writeFile(join(out, "assets/old/stale.txt"), "stale");
    const inventory = join(out, ".bdk-build.json");
    const { files } = JSON.parse(await readFile(inventory, "utf8")) as { files: string[] };
    await writeFile(inventory, JSON.stringify({ files: [...files, "assets/old/stale.txt", "../package.json"] }));

    expect((await bdk(["build", "--dir", dir])).code).toBe(0);
    expect(await readFile(join(out, "keep/mine.txt"), "utf8")).toBe("mine");
    // What is as it was is not written again.
    expect((await stat(join(out, "docs/index.html"))).ino).toBe(manual.ino);
    expect((await readFile(join(out, "server.mjs"), "utf8")).startsWith("throw")).toBe(false);
    expect(await readdir(out)).not.toContain("assets");
    expect(await readdir(dir)).toContain("package.json");
    expect((await readdir(out)).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });

  test("with errors writes nothing and exits 1", async () => {
    const dir = await copyProject("pr-approver");
    await writeFile(join(dir, "bot/tools/bad.ts"), "export default 1;\n");
    const { code, stderr, stdout } = await bdk(["build", "--dir", dir]);
    expect(code).toBe(1);
    expect(stdout).toBe("");
    expect(stderr).toContain("bot/tools/bad.ts");
    expect(await readdir(dir)).not.toContain("dist");
    const json = await bdk(["build", "--dir", dir, "--json"]);
    expect(json.code).toBe(1);
    expect(JSON.parse(json.stdout)).toMatchObject({ ok: false, diagnostics: [{ file: "bot/tools/bad.ts" }] });
  });

  test("an output that cannot be written is BDK8008", async () => {
    const dir = await copyProject("pr-approver");
    await writeFile(join(dir, "taken"), "a file");
    const { code, stderr } = await bdk(["build", "--dir", dir, "--out", join(dir, "taken")]);
    expect(code).toBe(1);
    expect(stderr).toContain("BDK8008");
  });

  test("--manifest-out commits the manifest, --locked holds it", async () => {
    const dir = await copyProject("pr-approver");
    const file = join(dir, "agent.manifest.json");
    const missing = await bdk(["build", "--dir", dir, "--locked", "--manifest-out", file]);
    expect(missing.code).toBe(1);
    expect(missing.stderr).toContain("BDK8009");
    expect((await bdk(["build", "--dir", dir, "--manifest-out", file])).code).toBe(0);
    expect(await readFile(file, "utf8")).toBe(await readFile(join(dir, "dist/manifest.json"), "utf8"));
    expect((await bdk(["build", "--dir", dir, "--locked", "--manifest-out", file])).code).toBe(0);

    await writeProject(dir, { "bot/tools/extra.ts": toolFile("() => 1") });
    const changed = await bdk(["build", "--dir", dir, "--locked", "--manifest-out", file]);
    expect(changed.code).toBe(1);
    expect(changed.stderr).toContain("BDK8009");
    expect(changed.stderr).toMatch(/line \d+: committed .*, built /);
  });
});

describe("build(dir, options)", () => {
  test("returns the bundle and diagnostics, and writes only when told where", async () => {
    const dir = await copyProject("pr-approver");
    const result = await build(dir);
    expect(result.ok).toBe(true);
    expect(result.bundle?.manifest.agents.map((each) => each.slug)).toEqual(["pr-approver"]);
    expect(result.written).toEqual([]);
    expect(await readdir(dir)).not.toContain("dist");
    const written = await build(dir, { out: join(dir, "elsewhere") });
    expect(written.written.map((each) => each.path)).toContain("server.mjs");
  });

  test("reports problems as values", async () => {
    const dir = await temporaryFolder();
    const result = await build(dir);
    expect(result.ok).toBe(false);
    expect(result.bundle).toBeUndefined();
    expect(result.diagnostics.length).toBeGreaterThan(0);
  });
});
