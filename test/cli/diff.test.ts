import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import type { Change } from "../../compiler/diff/change.js";
import { edited, example } from "../unit/diff-example.js";
import { bdk, linkModules, temporaryFolder } from "./bdk.js";

const run = promisify(execFile);

async function manifests(): Promise<{ folder: string; before: string; after: string }> {
  const folder = await temporaryFolder();
  const before = join(folder, "before.json");
  const after = join(folder, "after.json");
  await writeFile(before, JSON.stringify(example()));
  const changed = edited((agent) => {
    agent.tools = agent.tools.slice(1);
    for (const tool of agent.tools) tool.effect = "write";
    agent.instructions.text += "Be quick.\n";
  });
  await writeFile(after, JSON.stringify(changed));
  return { folder, before, after };
}

const toolSource = (description: string, fields: string) =>
  `import { defineTool } from "@cursor/bdk/tools";
import { z } from "zod";

export default defineTool({
  description: "${description}",
  effect: "read",
  inputSchema: z.object({ ${fields} }),
  execute: ({ city }) => city,
});
`;

/** A project in a git repository, one commit. */
async function repository(below = ""): Promise<{ top: string; project: string }> {
  const top = join(await temporaryFolder(), "weather-bots");
  const project = join(top, below);
  await mkdir(join(project, "bot/tools"), { recursive: true });
  await writeFile(join(project, "package.json"), '{ "name": "weather", "type": "module" }\n');
  await writeFile(join(project, "bot/instructions.md"), "You know the weather.\n");
  await writeFile(join(project, "bot/tools/forecast.ts"), toolSource("Tells the weather", "city: z.string()"));
  await writeFile(join(top, ".gitignore"), "node_modules\n");
  await linkModules(project);
  await git(top, "init", "--quiet", "--initial-branch", "main");
  await commit(top, "first");
  return { top, project };
}

async function git(folder: string, ...args: string[]): Promise<string> {
  const identity = ["-c", "user.name=Test", "-c", "user.email=test@example.test", "-c", "commit.gpgsign=false"];
  return (await run("git", [...identity, ...args], { cwd: folder })).stdout;
}

async function commit(folder: string, message: string): Promise<void> {
  await git(folder, "add", "--all");
  await git(folder, "commit", "--quiet", "--message", message);
}

function changesOf(stdout: string): string[] {
  const { changes } = JSON.parse(stdout) as { changes: Change[] };
  return changes.map((each) => `${each.level} ${each.kind} ${each.entry} ${each.path}`);
}

describe("bdk diff of manifests", () => {
  test("prints changes by level, without colour through a pipe", async () => {
    const { before, after } = await manifests();
    const { code, stdout, stderr } = await bdk(["diff", before, after]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout.split("\n").slice(0, 4)).toEqual([
      "1 breaking, 2 risky, 1 compatible",
      "",
      "Breaking",
      "  tool:approve_pr  removed",
    ]);
    expect(stdout).toContain("      +Be quick.");
    expect((await bdk(["diff", before, after, "--no-text"])).stdout).not.toContain("+Be quick.");
  });

  test("has a JSON and a Markdown form, one at a time", async () => {
    const { before, after } = await manifests();
    const json = await bdk(["diff", before, after, "--json"]);
    expect(JSON.parse(json.stdout)).toMatchObject({ diffVersion: 1, counts: { breaking: 1, risky: 2, compatible: 1 } });
    const markdown = await bdk(["diff", before, after, "--markdown"]);
    expect(markdown.stdout).toMatch(/^## Manifest diff: 1 breaking, 2 risky, 1 compatible\n/);
    const both = await bdk(["diff", before, after, "--markdown", "--json"]);
    expect(both.code).toBe(2);
    expect(both.stdout).toContain("BDK8005");
  });

  test.each([
    ["breaking", 1, 0],
    ["risky", 1, 1],
    ["any", 1, 1],
  ])("--fail-on %s", async (level, grave, mild) => {
    const { folder, before, after } = await manifests();
    const risky = join(folder, "risky.json");
    await writeFile(risky, JSON.stringify(edited((_agent, manifest) => manifest.env.read.push("NEW_TOKEN"))));
    expect((await bdk(["diff", before, after, "--fail-on", level])).code).toBe(grave);
    expect((await bdk(["diff", before, risky, "--fail-on", level])).code).toBe(mild);
    expect((await bdk(["diff", before, before, "--fail-on", level])).code).toBe(0);
  });

  test("reads a built folder, and compares one agent only", async () => {
    const { folder, before } = await manifests();
    const dist = join(folder, "dist");
    await mkdir(dist);
    const two = edited((agent, manifest) => {
      manifest.agents.push({ ...structuredClone(agent), slug: "second", tools: [] });
      agent.name = "Renamed";
    });
    await writeFile(join(dist, "manifest.json"), JSON.stringify(two));
    const all = await bdk(["diff", before, dist, "--json"]);
    expect(changesOf(all.stdout)).toEqual(["compatible changed agent /name", "compatible added agent "]);
    const one = await bdk(["diff", before, dist, "--json", "--slug", "reviewer"]);
    expect(changesOf(one.stdout)).toEqual(["compatible changed agent /name"]);
    const none = await bdk(["diff", before, dist, "--slug", "revewer"]);
    expect(none.code).toBe(2);
    expect(none.stderr).toContain("reviewer, second");
  });

  test("says what is wrong with a side, and exits with 2", async () => {
    const { folder, before } = await manifests();
    const file = join(folder, "bad.json");
    const failing = async (text: string) => {
      await writeFile(file, text);
      const { code, stderr } = await bdk(["diff", before, file]);
      expect(code).toBe(2);
      return stderr;
    };
    expect(await failing("{")).toContain("BDK5102");
    const wrong = await failing(JSON.stringify({ ...example(), env: undefined }));
    expect(wrong).toContain("BDK5102");
    expect(wrong).toContain("env:");
    expect(await failing(JSON.stringify({ ...example(), manifestVersion: 2 }))).toContain("BDK5103");
    const lost = await bdk(["diff", join(folder, "lost.json"), before, "--dir", folder]);
    expect(lost.code).toBe(2);
    expect(lost.stderr).toContain("BDK5101");
  });
});

describe("bdk diff of a project", () => {
  test("compiles a revision with today's packages, warns, and leaves nothing behind", async () => {
    const { top } = await repository();
    await writeFile(
      join(top, "bot/tools/forecast.ts"),
      toolSource("Tells the weather", "city: z.string(), day: z.string()"),
    );
    const temporary = await temporaryFolder();
    const status = await git(top, "status", "--porcelain", "--ignored");
    const { code, stdout, stderr } = await bdk(["diff", "HEAD", "--json", "--fail-on", "breaking"], {
      cwd: top,
      env: { TMPDIR: temporary },
    });
    expect(stderr).toContain("BDK5104");
    expect(code).toBe(1);
    expect(changesOf(stdout)).toEqual(["breaking added tool:forecast /inputSchema/properties/day"]);
    expect(await readdir(temporary)).toEqual([]);
    expect(await git(top, "status", "--porcelain", "--ignored")).toBe(status);
    expect(await git(top, "worktree", "list", "--porcelain")).toMatch(/^worktree [^\n]*\n[^\n]*\n[^\n]*\n\n$/);
  });

  test("compares two revisions of a project below the top, from a git hook's environment", async () => {
    const { top, project } = await repository("bots/weather");
    await rename(join(project, "bot/tools/forecast.ts"), join(project, "bot/tools/outlook.ts"));
    await commit(top, "rename");
    const { code, stdout } = await bdk(["diff", "HEAD~1", "HEAD", "--dir", project, "--json"], {
      cwd: project,
      env: { GIT_DIR: join(top, ".git"), GIT_INDEX_FILE: join(top, ".git/other-index") },
    });
    expect(code).toBe(0);
    expect(changesOf(stdout)).toEqual(["breaking renamed tool:outlook "]);
  });

  test("prefers a committed manifest, and then does not compile", async () => {
    const { top } = await repository();
    await writeFile(join(top, "weather.manifest.json"), JSON.stringify(example()));
    await writeFile(join(top, "bot/tools/forecast.ts"), "this does not compile(");
    await commit(top, "broken, but its manifest is there");
    const now = join(await temporaryFolder(), "now.json");
    await writeFile(now, JSON.stringify(edited((_agent, manifest) => Object.assign(manifest, { bdk: "9.9.9" }))));
    const { stdout, stderr } = await bdk(["diff", "HEAD", now, "--json", "--dir", top]);
    expect(stderr).toBe("");
    expect(changesOf(stdout)).toEqual(["compatible changed manifest /bdk"]);
  });

  test("passes over a manifest.json that is somebody else's", async () => {
    const { top } = await repository();
    await writeFile(join(top, "manifest.json"), '{ "name": "Weather", "start_url": "/" }\n');
    await commit(top, "a web app");
    const { code, stdout, stderr } = await bdk(["diff", "HEAD", "--json"], { cwd: top });
    expect(stderr).toContain("BDK5104");
    expect({ code, changes: changesOf(stdout) }).toEqual({ code: 0, changes: [] });
    expect((await bdk(["diff", "HEAD", "--manifest", "manifest.json"], { cwd: top })).stderr).toContain("BDK5102");
  });

  test("says that a shallow clone lacks the revision", async () => {
    const { top } = await repository();
    await writeFile(join(top, "bot/instructions.md"), "You know more.\n");
    await commit(top, "second");
    const clone = join(await temporaryFolder(), "clone");
    await git(top, "clone", "--quiet", "--depth", "1", `file://${top}`, clone);
    const { code, stderr } = await bdk(["diff", "HEAD~1"], { cwd: clone });
    expect(code).toBe(2);
    expect(stderr).toMatch(/BDK5101[\s\S]*--unshallow/);
  });

  test("reports the errors of a side that does not compile", async () => {
    const { top } = await repository();
    await rm(join(top, "bot/instructions.md"));
    const { code, stderr } = await bdk(["diff", "HEAD", "."], { cwd: top });
    expect(code).toBe(2);
    expect(stderr).toContain("BDK4001");
    expect(stderr).toContain("BDK5106");
  });

  test("says so when git is not installed", async () => {
    const { top } = await repository();
    const { code, stderr } = await bdk(["diff", "HEAD", "."], { cwd: top, env: { PATH: join(top, "empty") } });
    expect(code).toBe(2);
    expect(stderr).toContain("BDK5105");
    expect(stderr).toContain("git cannot be started");
  });

  test("refuses a revision in which the project did not exist, and one that looks like an option", async () => {
    const { top } = await repository();
    const young = join(top, "young");
    await mkdir(join(young, "bot"), { recursive: true });
    const early = await bdk(["diff", "HEAD", ".", "--dir", young], { cwd: young });
    expect(early.code).toBe(2);
    expect(early.stderr).toContain("BDK5105");
    const option = await bdk(["diff", "--dir", top, "--", "--output=/tmp/x"], { cwd: top });
    expect(option.code).toBe(2);
    expect(await readFile(join(top, "bot/instructions.md"), "utf8")).toBe("You know the weather.\n");
  });
});
