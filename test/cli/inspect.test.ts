import { execFileSync } from "node:child_process";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { bdk, copyProject, linkModules, temporaryFolder } from "./bdk.js";
import { toolFile, writeProject } from "./dev-project.js";

interface JsonDiagnostic {
  readonly code: string;
  readonly severity: string;
  readonly file: string | null;
  readonly line: number | null;
}

async function brokenProject(): Promise<string> {
  const dir = await temporaryFolder();
  await writeProject(dir, {
    "package.json": '{ "name": "broken", "type": "module" }\n',
    "bot/instructions.md": "You break.\n",
    "bot/tools/good.ts": toolFile("() => 1"),
    "bot/tools/bad.ts": "export default {;\n",
    "bot/tool/lost.ts": toolFile("() => 1"),
  });
  await linkModules(dir);
  return dir;
}

describe("bdk validate", () => {
  test("says so when there is nothing to say", async () => {
    const { code, stdout, stderr } = await bdk(["validate", "--dir", await copyProject("pr-approver")]);
    expect(stdout).toBe("no diagnostics\n");
    expect(stderr).toMatch(/^compile: scan\n/);
    expect(code).toBe(0);
  });

  test("shows each problem with its place, and exits 1", async () => {
    const dir = await brokenProject();
    const { code, stdout } = await bdk(["validate"], { cwd: dir });
    expect(stdout).toContain("bot/tools/bad.ts:1:");
    expect(stdout).toMatch(/did you mean tools\//);
    expect(stdout).toMatch(/1 error, 1 warning\n$/);
    expect(code).toBe(1);
  });

  test("--json and --format github carry the same findings, alone on stdout", async () => {
    const dir = await brokenProject();
    const [json, format, github] = await Promise.all([
      bdk(["validate", "--json"], { cwd: dir }),
      bdk(["validate", "--format", "json"], { cwd: dir }),
      bdk(["validate", "--format", "github"], { cwd: dir }),
    ]);
    expect([json.code, format.code, github.code]).toEqual([1, 1, 1]);
    expect([json.stderr, github.stderr]).toEqual(["", ""]);
    expect(format.stdout).toBe(json.stdout);
    const { diagnostics } = JSON.parse(json.stdout) as { diagnostics: JsonDiagnostic[] };
    expect(diagnostics.map((each) => each.severity).toSorted()).toEqual(["error", "warning"]);
    for (const each of diagnostics) {
      expect(each.file).not.toBeNull();
      expect(github.stdout).toContain(`::${each.severity} file=${each.file},line=${each.line}`);
    }
  });

  test("warnings alone exit 0", async () => {
    const dir = await brokenProject();
    await rm(join(dir, "bot/tools/bad.ts"));
    const { code, stdout } = await bdk(["validate"], { cwd: dir });
    expect(stdout).toMatch(/\n1 warning\n$/);
    expect(code).toBe(0);
  });

  test("never reads what is no file", async () => {
    const dir = await temporaryFolder();
    await writeProject(dir, { "bot/instructions.md": "You wait.\n", "bot/tools/good.ts": toolFile("() => 1") });
    await linkModules(dir);
    execFileSync("mkfifo", [join(dir, "bot/tools/pipe.ts")]);
    const { code, stdout } = await bdk(["validate"], { cwd: dir });
    expect(stdout).toMatch(/^error\[BDK1019\]: bot\/tools\/pipe\.ts can't be read/);
    expect(code).toBe(1);
  });

  test("--types finds what only types can tell", { timeout: 180_000 }, async () => {
    const dir = await copyProject("pr-approver");
    await writeProject(dir, { "bot/tools/wrong.ts": toolFile("() => count", "const count: number = 'three';") });
    const [without, withTypes] = await Promise.all([
      bdk(["validate", "--dir", dir, "--json"]),
      bdk(["validate", "--dir", dir, "--types", "--json"]),
    ]);
    expect(without.code).toBe(0);
    expect(withTypes.code).toBe(1);
    const { diagnostics } = JSON.parse(withTypes.stdout) as { diagnostics: JsonDiagnostic[] };
    expect(diagnostics).toMatchObject([{ severity: "error", file: "bot/tools/wrong.ts", line: 2 }]);
  });

  test("--types knows Node's types where the project has no tsconfig and installed none", {
    timeout: 180_000,
  }, async () => {
    const dir = await temporaryFolder();
    await writeProject(dir, {
      "package.json": '{ "name": "bare", "type": "module" }\n',
      "bot/instructions.md": "You read the environment.\n",
      "bot/tools/home.ts": toolFile(
        "() => process.env.HOME",
        'import { existsSync } from "node:fs";\nexistsSync("/");',
      ),
    });
    expect(await bdk(["validate", "--types", "--dir", dir])).toMatchObject({ code: 0, stdout: "no diagnostics\n" });
    expect(await bdk(["validate", "--types"], { cwd: dir })).toMatchObject({ code: 0, stdout: "no diagnostics\n" });
  });
});

describe("bdk info", () => {
  test("lists the surface with its sources", async () => {
    const dir = await copyProject("pr-approver");
    const { code, stdout } = await bdk(["info", "--dir", dir]);
    expect(code).toBe(0);
    expect(stdout).toContain("pr-approver /pr-approver");
    expect(stdout).toMatch(/inspect_pr +read +Fetches a pull request/);
    expect(stdout).toContain("bot/tools/inspect_pr.ts:");
    expect(stdout).toContain("pr-review");
    expect(stdout).toMatch(/usage +turn\.completed/);
  });

  test("--json is one shape for one project and several; --slug picks", async () => {
    const [one, many, picked, missing] = await Promise.all([
      bdk(["info", "--json", "--dir", await copyProject("pr-approver")]),
      bdk(["info", "--json", "--dir", await copyProject("office")]),
      bdk(["info", "--json", "--slug", "archive", "--dir", await copyProject("office")]),
      bdk(["info", "--slug", "archiv", "--dir", await copyProject("office")]),
    ]);
    const slugs = (text: string) =>
      (JSON.parse(text) as { agents: { slug: string }[] }).agents.map((each) => each.slug);
    expect(slugs(one.stdout)).toEqual(["pr-approver"]);
    expect(slugs(many.stdout)).toEqual(["archive", "front-desk"]);
    expect(slugs(picked.stdout)).toEqual(["archive"]);
    expect(missing.code).toBe(2);
    expect(missing.stderr).toContain("BDK8011");
  });
});

describe("bdk manifest", () => {
  test("prints the manifest that a build writes, and the schema that it fits", async () => {
    const dir = await copyProject("pr-approver");
    const [printed, built, schema] = await Promise.all([
      bdk(["manifest", "--dir", dir]),
      bdk(["build", "--dir", dir, "--json"]),
      bdk(["manifest", "--schema"]),
    ]);
    expect(printed.code).toBe(0);
    expect(built.code).toBe(0);
    const written = JSON.parse(await readFile(join(dir, "dist/manifest.json"), "utf8"));
    expect(JSON.parse(printed.stdout).agents).toEqual(written.agents);
    const { Ajv2020 } = await import("ajv/dist/2020.js");
    const validate = new Ajv2020({ strict: false }).compile(JSON.parse(schema.stdout));
    expect(validate(written), JSON.stringify(validate.errors)).toBe(true);
    expect(validate({ ...written, manifestVersion: 2 })).toBe(false);
  });

  test("of a broken project is its diagnostics and exit code 1", async () => {
    const { code, stdout, stderr } = await bdk(["manifest", "--dir", await brokenProject()]);
    expect(code).toBe(1);
    expect(stdout).toBe("");
    expect(stderr).toContain("bot/tools/bad.ts:1:");
  });
});
