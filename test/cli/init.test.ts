import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { bdk, linkModules, packageRoot, temporaryFolder } from "./bdk.js";

async function filesBelow(folder: string): Promise<string[]> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  return found
    .filter((each) => each.isFile())
    .map((each) => join(each.parentPath, each.name).slice(folder.length + 1))
    .sort();
}

const scaffold = [
  ".gitignore",
  "README.md",
  "bot/agent.ts",
  "bot/hooks/memory.ts",
  "bot/hooks/usage.ts",
  "bot/instructions.md",
  "bot/skills/plan-meeting.md",
  "bot/tools/world_clock.ts",
  "evals/evals.config.ts",
  "evals/world_clock.eval.ts",
  "package.json",
  "tsconfig.json",
];

describe("bdk init", () => {
  test("makes a project that type-checks, validates, answers calls and takes a turn", async () => {
    const parent = await temporaryFolder();
    const created = await bdk(["init", "Time Desk", "--model", "offline"], { cwd: parent });
    expect(created.stderr).toBe("");
    expect(created.code).toBe(0);
    expect(created.stdout).toContain("created time-desk in Time Desk");
    expect(created.stdout).toContain("npx bdk dev --model offline");
    const project = join(parent, "Time Desk");
    expect(created.stdout).toContain("  cd 'Time Desk'\n");
    expect(await filesBelow(project)).toEqual(scaffold);

    const early = await bdk(["validate", "--types"], { cwd: project });
    expect(early.code).toBe(1);
    expect(early.stdout).toContain('error[BDK3014]: the types of "node" are not there');
    expect(early.stdout).toContain(" --> tsconfig.json:12:15");
    expect(early.stdout).toContain("= help: run npm install\n");
    expect(early.stdout).toContain("\n1 error\n");
    await linkModules(project);

    const validated = await bdk(["validate", "--types"], { cwd: project });
    expect(validated.stdout).toBe("no diagnostics\n");
    expect(validated.code).toBe(0);

    const called = await bdk(["call", "world_clock", "--input", '{"timeZone":"Asia/Tokyo"}'], { cwd: project });
    expect(called.code).toBe(0);
    expect(JSON.parse(called.stdout)).toMatchObject({ timeZone: "Asia/Tokyo" });

    const turn = await bdk(["run", "--message", '/world_clock {"timeZone":"UTC"}', "--json"], { cwd: project });
    expect(turn.code).toBe(0);
    expect(JSON.parse(turn.stdout)).toMatchObject({
      status: "completed",
      toolCalls: [{ toolName: "world_clock", isError: false }],
    });
  }, 120_000);

  test("an extension has its folder's name, with a scope where one is written", async () => {
    const parent = await temporaryFolder();
    for (const [folder, name] of [
      ["@acme/ci triage", "@acme/ci-triage"],
      ["packages/greeter", "greeter"],
    ] as const) {
      expect(await bdk(["init", folder, "--extension"], { cwd: parent })).toMatchObject({ code: 0, stderr: "" });
      expect(JSON.parse(await readFile(join(parent, folder, "package.json"), "utf8"))).toMatchObject({ name });
      expect(await readFile(join(parent, folder, "README.md"), "utf8")).toContain(`import hello from "${name}";`);
    }
  });

  test("links a source checkout, and says so", async () => {
    const parent = await temporaryFolder();
    const { stdout } = await bdk(["init", "desk"], { cwd: parent });
    expect(stdout).toContain("runs from a source checkout");
    const { dependencies, name } = JSON.parse(await readFile(join(parent, "desk/package.json"), "utf8"));
    expect(name).toBe("desk");
    expect(dependencies["@cursor/bdk"]).toMatch(/^file:/);
    expect(join(parent, "desk", dependencies["@cursor/bdk"].slice("file:".length))).toBe(packageRoot);
  });

  test("writes over nothing without --force, and then only what it names", async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, "README.md"), "mine");
    await writeFile(join(folder, "notes.txt"), "mine too");
    const refused = await bdk(["init", folder]);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain("BDK8007");
    expect(refused.stderr).toContain("README.md");
    expect(await filesBelow(folder)).toEqual(["README.md", "notes.txt"]);

    const forced = await bdk(["init", folder, "--force"]);
    expect(forced.code).toBe(0);
    expect(await readFile(join(folder, "README.md"), "utf8")).not.toBe("mine");
    expect(await readFile(join(folder, "notes.txt"), "utf8")).toBe("mine too");
  });

  test("refuses a folder whose project has the old root", async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, "agent"));
    const { code, stderr } = await bdk(["init", folder, "--force"]);
    expect(code).toBe(2);
    expect(stderr).toContain("BDK8007");
    expect(await readdir(folder)).toEqual(["agent"]);
  });

  test("--dry-run writes nothing; --json tells all", async () => {
    const parent = await temporaryFolder();
    const { code, stdout } = await bdk(["init", "x", "--dry-run", "--json", "--name", "docs"], { cwd: parent });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, name: "docs-agent", dryRun: true });
    expect(JSON.parse(stdout).files.toSorted()).toEqual(scaffold);
    expect(await readdir(parent)).toEqual([]);
  });
});
