/** Extensions from end to end: written, packed, installed, mounted, built, served, upgraded; and plugins beside them. */
import { cp, mkdir, readFile, rename, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { compile } from "../compiler/index.js";
import { loadProject } from "../runtime/host/load.js";
import { bdk, linkModules, packageRoot, temporaryFolder } from "./cli/bdk.js";
import {
  buildAway,
  call,
  edit,
  extensionsOf,
  type Files,
  install,
  newExtension,
  newProject,
  pack,
  run,
  serve,
  write,
} from "./extension-project.js";

// npm and the real CLI run several times in each.
vi.setConfig({ testTimeout: 180_000 });

const mounts: Files = {
  "bot/extensions/morning.ts":
    'import hello from "@acme/hello";\n\nexport default hello({ greeting: "Good morning", excited: true });\n',
  "bot/extensions/evening/extension.ts":
    'import hello from "@acme/hello";\n\nexport default hello({ greeting: "Good evening" });\n',
  "bot/extensions/bare.ts": 'export { default } from "@acme/hello";\n',
};

const greets = ["skill:evening__welcome", "tool:evening__greet"];

describe("an extension package", () => {
  test("is made, checked, packed, installed, mounted three times, and each tool answers with its mount's settings", async () => {
    const parent = await temporaryFolder();
    const extension = await newExtension(parent);
    await write(extension, {
      "hooks/quiet/audit.ts": quietHook,
      "sandbox/workspace/names.txt": "Ada\n",
    });
    expect(await bdk(["validate", "--types"], { cwd: extension })).toMatchObject({
      code: 0,
      stdout: "no diagnostics\n",
    });
    const types = await run(
      process.execPath,
      [join(packageRoot, "node_modules/typescript/bin/tsc"), "--noEmit"],
      extension,
    );
    expect(types).toMatchObject({ code: 0, stdout: "" });
    const refused = await bdk(["build"], { cwd: extension });
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.stderr).toContain("this is an extension package");

    const project = await newProject(parent, mounts);
    await install(project, await pack(extension));
    expect(await bdk(["validate", "--types"], { cwd: project })).toMatchObject({ code: 0, stdout: "no diagnostics\n" });
    await buildAway(project, join(parent, "out"));
    const url = await serve(join(parent, "out"));
    expect(await call(url, "morning__greet", { name: "Ada" })).toEqual({ text: "Good morning, Ada!" });
    expect(await call(url, "evening__greet", { name: "Ada" })).toEqual({ text: "Good evening, Ada." });
    expect(await call(url, "bare__greet", { name: "Ada" })).toEqual({ text: "Hello, Ada." });
    expect(await extensionsOf(url)).toMatchObject([
      { namespace: "bare", package: "@acme/hello@0.1.0", source: "bot/extensions/bare.ts:1" },
      {
        namespace: "evening",
        contributes: ["hook:evening__quiet/audit", "instructions:evening", "seed:names.txt", ...greets],
      },
      { namespace: "morning", disabled: [] },
    ]);
  });

  test("is compared across an upgrade: each change by name, with both versions", async () => {
    const parent = await temporaryFolder();
    const extension = await newExtension(parent);
    await write(extension, {
      "tools/wave.ts": `import { defineTool } from "@cursor/bdk/tools";
import { z } from "zod";
export default defineTool({ description: "Waves.", inputSchema: z.object({}), effect: "read", execute: () => "o/" });
`,
    });
    const project = await newProject(parent, {
      "bot/extensions/hi.ts": 'import hello from "@acme/hello";\n\nexport default hello();\n',
    });
    await install(project, await pack(extension));
    await bdk(["build", "--out", join(parent, "before")], { cwd: project });

    await rm(join(extension, "tools/wave.ts"));
    await edit(join(extension, "package.json"), (text) => text.replace('"0.1.0"', '"0.2.0"'));
    await edit(join(extension, "tools/greet.ts"), (text) =>
      text.replace('effect: "read"', 'effect: "write"').replace(".min(1)", ".min(1).max(20)"),
    );
    await edit(join(extension, "instructions.md"), () => "Greet people only when they ask for it.\n");
    await install(project, await pack(extension));

    const { code, stdout } = await bdk(["diff", join(parent, "before"), ".", "--json", "--fail-on", "breaking"], {
      cwd: project,
    });
    expect(code).toBe(1);
    const { changes } = JSON.parse(stdout) as { readonly changes: readonly Record<string, unknown>[] };
    const told = changes.map(({ level, kind, entry, path }) => `${level} ${kind} ${entry} ${path ?? ""}`.trim());
    expect(told).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^breaking removed tool:hi__wave/),
        expect.stringMatching(/^breaking \w+ tool:hi__greet \/inputSchema.*maxLength/),
        expect.stringMatching(/^risky changed tool:hi__greet \/effect/),
        expect.stringMatching(/^compatible changed extension:hi \/package/),
        expect.stringMatching(/instructions/),
      ]),
    );
    const markdown = await bdk(["diff", join(parent, "before"), ".", "--markdown"], { cwd: project });
    expect(markdown.stdout.replaceAll("\u200b", "")).toContain("@acme/hello@0.2.0");
    expect(markdown.stdout.replaceAll("\u200b", "")).toContain("@acme/hello@0.1.0");
  });

  test("is linked from a workspace, a pnpm store, a folder outside the project and in two versions alike", async () => {
    const parent = await temporaryFolder();
    const source = join(packageRoot, "fixtures/extensions/ci-triage");
    await cp(source, join(parent, "elsewhere/ci"), { recursive: true });
    await write(parent, { "elsewhere/ci/tools/where.ts": where, "elsewhere/ci/tools/owners.txt": "name,owner\n" });
    const project = await newProject(parent, {
      "bot/extensions/linked.ts": 'import ci from "@acme/ci-triage";\n\nexport default ci({ org: "linked" });\n',
      "bot/extensions/stored.ts": 'import ci from "@acme/stored";\n\nexport default ci({ org: "stored" });\n',
      "bot/lib/ci.ts": 'import ci from "@acme/ci-triage";\n\nexport default ci;\n',
      "bot/extensions/again.ts": 'import ci from "../lib/ci.js";\n\nexport default ci({ org: "again" });\n',
      "bot/extensions/next.ts": 'import ci from "@acme/next";\n\nexport default ci({ org: "next" });\n',
      "bot/extensions/beside.ts":
        'import ci from "../../../elsewhere/ci/extension.js";\n\nexport default ci({ org: "beside" });\n',
    });
    await linkModules(project);
    const store = join(project, "node_modules/.pnpm/@acme+stored@1.2.0/node_modules/@acme/stored");
    await cp(join(parent, "elsewhere/ci"), store, { recursive: true });
    await edit(join(store, "package.json"), (text) => text.replace("ci-triage", "stored"));
    await rm(join(store, "sandbox"), { recursive: true });
    // `npm:@acme/stored@2` under another name: the package's own folder is called as before.
    const next = store.replace("1.2.0", "2.0.0");
    await cp(store, next, { recursive: true });
    await write(next, { "tools/owners.txt": "name,owner,since\n" });
    await edit(join(next, "package.json"), (text) => text.replace("1.2.0", "2.0.0"));
    await mkdir(join(project, "node_modules/@acme"));
    await symlink(store, join(project, "node_modules/@acme/stored"));
    await symlink(next, join(project, "node_modules/@acme/next"));
    await symlink(join(parent, "elsewhere/ci"), join(project, "node_modules/@acme/ci-triage"));

    await buildAway(project, join(parent, "out"));
    await rename(join(parent, "elsewhere"), join(parent, "elsewhere-put-away"));
    const url = await serve(join(parent, "out"));
    for (const namespace of ["linked", "stored", "beside", "again", "next"]) {
      expect(await call(url, `${namespace}__job_log`, { job: "1" })).toMatchObject({ org: namespace });
      expect(await call(url, `${namespace}__where`, {})).toBe(namespace === "next" ? "name,owner,since" : "name,owner");
    }
    const manifest = await readFile(join(parent, "out/manifest.json"), "utf8");
    expect(manifest).toContain('"source": "@acme/ci-triage/tools/job_log.ts:6"');
    expect(manifest).not.toContain(parent);
    expect(manifest).not.toContain("../");
  });
});

const quietHook =
  'import { defineHook } from "@cursor/bdk/hooks";\nexport default defineHook({ events: { "turn.failed": () => {} } });\n';

/** Reads a file that stands beside it, in a package that has it only there. */
const where = `import { readFile } from "node:fs/promises";
import { defineTool } from "@cursor/bdk/tools";
import { z } from "zod";
export default defineTool({
  description: "Reads a file of the package.",
  inputSchema: z.object({}),
  effect: "read",
  execute: async () => (await readFile(new URL("./owners.txt", import.meta.url), "utf8")).trim(),
});
`;

describe("settings from the environment", () => {
  const project = (parent: string) =>
    newProject(parent, {
      "bot/extensions/ci/extension.ts":
        'import ci from "@acme/ci-triage";\n\nexport default ci({ org: process.env.CI_ORG as string, token: process.env.CI_TOKEN });\n',
      "bot/extensions/ci/tools/retry_job.ts": `import extension from "@acme/ci-triage";
import { defineTool } from "@cursor/bdk/tools";
import { z } from "zod";

export default defineTool({
  description: "Ours.",
  inputSchema: z.object({}),
  effect: "read",
  execute: () => ({ oursFor: extension.config.org }),
});
`,
      "bot/extensions/ci/hooks/audit.ts":
        'import { disableHook } from "@cursor/bdk/extensions";\n\nexport default disableHook();\n',
      "bot/extensions/notes.ts":
        'import { cursorPlugin } from "@cursor/bdk/extensions";\n\nexport default cursorPlugin({ path: "plugins/notes", variables: { NOTES_TOKEN: process.env.NOTES_TOKEN } });\n',
    });

  test("a build needs none of them; a start without them names all that are required, and holds no secret", async () => {
    const parent = await temporaryFolder();
    const folder = await project(parent);
    await linkModules(folder);
    await cp(join(packageRoot, "fixtures/extensions/ci-triage"), join(folder, "node_modules/@acme/ci-triage"), {
      recursive: true,
    });
    await cp(join(packageRoot, "fixtures/plugins/notes"), join(folder, "plugins/notes"), { recursive: true });
    const out = join(parent, "out");
    const secrets = {
      CI_ORG: "org-of-the-builder",
      CI_TOKEN: "token-of-the-builder",
      NOTES_TOKEN: "notes-of-the-builder",
    };
    const built = await bdk(["build", "--out", out, "--json"], { cwd: folder, env: secrets });
    expect(built).toMatchObject({ code: 0 });
    expect(JSON.parse(built.stdout)).toMatchObject({ env: { required: ["CI_ORG", "NOTES_TOKEN"] } });
    const texts = await Promise.all(["server.mjs", "manifest.json"].map((name) => readFile(join(out, name), "utf8")));
    for (const text of texts) expect(text).not.toContain("of-the-builder");

    const empty = { CI_ORG: undefined, CI_TOKEN: undefined, NOTES_TOKEN: undefined };
    const refused = await run(process.execPath, ["server.mjs", "--check"], out, empty);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain("CI_ORG, NOTES_TOKEN are required and not set");
    const url = await serve(out, { ...empty, CI_ORG: "acme", NOTES_TOKEN: "n" });
    expect(await call(url, "ci__job_log", { job: "1" })).toMatchObject({ org: "acme", lines: 200 });
    expect(await call(url, "ci__retry_job", {})).toEqual({ oursFor: "acme" });
    const info = await (await fetch(`${url}/v1/info`)).text();
    expect(JSON.parse(info)).toMatchObject({
      agents: [{ hooks: [], extensions: [{ disabled: ["hook:ci__audit"] }, {}] }],
    });
    expect(info).toContain("https://eu.notes.example.test");
    expect(info).not.toContain("host-connection");
  });
});

describe("settings that are set, and wrong", () => {
  test("refuse the start: every extension, setting and variable at once, and no value", async () => {
    const parent = await temporaryFolder();
    const project = await newProject(parent, {
      "bot/extensions/ci.ts": `import ci from "@acme/ci-triage";

export default ci({ org: "acme", token: process.env.CI_TOKEN, logTailLines: Number(process.env.CI_LINES) });
`,
      "bot/extensions/nightly/extension.ts": `import ci from "@acme/ci-triage";

const lines = process.env.NIGHTLY_LINES;
export default ci({ org: process.env.NIGHTLY_ORG as "acme", logTailLines: Number(lines ?? 1) });
`,
    });
    await linkModules(project);
    const ci = join(project, "node_modules/@acme/ci-triage");
    await cp(join(packageRoot, "fixtures/extensions/ci-triage"), ci, { recursive: true });
    // A schema whose own words repeat what it was given.
    await edit(join(ci, "extension.ts"), (text) =>
      text.replace(
        "z.string().optional()",
        'z.string().refine((token) => token.startsWith("bk_"), { error: ({ input }) => `${input} is no token` }).optional()',
      ),
    );
    const out = join(parent, "out");
    expect(await bdk(["build", "--out", out], { cwd: project })).toMatchObject({ code: 0 });

    const wrong = { CI_LINES: "many", CI_TOKEN: "hunter22-hunter22", NIGHTLY_LINES: "0", NIGHTLY_ORG: "acme" };
    const refused = await run(process.execPath, ["server.mjs", "--check"], out, wrong);
    expect(refused.code).toBe(1);
    expect(refused.stderr.trimEnd().split("\n")).toEqual([
      "error: extensions refuse their settings; mend the environment and start again",
      "  ci (@acme/ci-triage@1.2.0): token: [redacted] is no token, from CI_TOKEN, at bot/extensions/ci.ts:3",
      "  ci (@acme/ci-triage@1.2.0): logTailLines: expected number, received NaN, from CI_LINES, at bot/extensions/ci.ts:3",
      "  nightly (@acme/ci-triage@1.2.0): logTailLines: Too small: expected number to be >0, from NIGHTLY_LINES, at bot/extensions/nightly/extension.ts:4",
    ]);
    const right = { CI_LINES: "5", CI_TOKEN: "bk_1", NIGHTLY_LINES: "7", NIGHTLY_ORG: "acme" };
    expect(await run(process.execPath, ["server.mjs", "--check"], out, right)).toMatchObject({ code: 0 });
  });
});

describe("a plugin's servers", () => {
  test("are connected to with the values of the running process, and find the plugin's folder", async () => {
    const parent = await temporaryFolder();
    const project = await newProject(parent, {
      "bot/extensions/notes.ts":
        'import { cursorPlugin } from "@cursor/bdk/extensions";\n\nexport default cursorPlugin({ path: "plugins/notes", variables: { NOTES_TOKEN: process.env.NOTES_TOKEN } });\n',
      "bot/extensions/pager.ts":
        'import { cursorPlugin } from "@cursor/bdk/extensions";\n\nexport default cursorPlugin({ path: "plugins/pager" });\n',
    });
    await cp(join(packageRoot, "fixtures/plugins"), join(project, "plugins"), { recursive: true });
    vi.stubEnv("NOTES_TOKEN", "a ${NOTES_REGION} b");
    onTestFinished(() => {
      vi.unstubAllEnvs();
    });
    const { bundle, diagnostics } = await compile(project, { environment: "strict", until: "project", cache: false });
    expect(diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
    if (bundle === undefined) throw new Error("no bundle");
    const definitions = (await loadProject({ ...bundle.project, root: project })).desk;
    expect(definitions?.["mcp-connection:notes__notes"]).toEqual({
      __agentServe: "connection",
      description: "Keeps the team's notes where people find them again.",
      url: "https://eu.notes.example.test/mcp",
      // What a value holds is not filled in again.
      headers: { Authorization: "Bearer a ${NOTES_REGION} b" },
    });
    const pager = definitions?.["mcp-connection:pager__pager"] as {
      readonly args: readonly string[];
      readonly cwd: string;
    };
    expect(pager.args[0]).toBe(join(project, "plugins/pager/bin/pager.mjs"));
    expect(pager.cwd).toBe(join(project, "plugins/pager/bin"));
    expect(bundle.project.beside.map(({ path }) => path)).toContain("plugins/pager/bin/pager.mjs");
  });
});

describe("bdk info", () => {
  test("needs no secrets: what is left to startup is a warning", async () => {
    const project = await newProject(await temporaryFolder(), {
      "bot/extensions/ci.ts":
        'import ci from "@acme/ci-triage";\n\nexport default ci({ org: process.env.DESK_ORG as string });\n',
    });
    await linkModules(project);
    await cp(join(packageRoot, "fixtures/extensions/ci-triage"), join(project, "node_modules/@acme/ci-triage"), {
      recursive: true,
    });

    const listed = await bdk(["info"], { cwd: project });
    expect(listed).toMatchObject({ code: 0, stdout: expect.stringMatching(/environment DESK_ORG/) });
    expect(listed.stderr).toContain("the server will not start without DESK_ORG");
  });

  test("lists each mount with its package, and tells why a name is what it is", async () => {
    const parent = await temporaryFolder();
    const project = await newProject(parent, {
      "bot/extensions/ci/extension.ts": 'import ci from "@acme/ci-triage";\n\nexport default ci({ org: "acme" });\n',
      "bot/extensions/ci/tools/job_log.ts": `import { defineTool } from "@cursor/bdk/tools";
import { z } from "zod";

export default defineTool({ description: "Ours.", inputSchema: z.object({}), effect: "read", execute: () => 1 });
`,
      "bot/extensions/ci/tools/retry_job.ts":
        'import { disableTool } from "@cursor/bdk/extensions";\n\nexport default disableTool();\n',
      "bot/extensions/nightly.ts": 'import ci from "@acme/ci-triage";\n\nexport default ci({ org: "night" });\n',
    });
    await linkModules(project);
    await cp(join(packageRoot, "fixtures/extensions/ci-triage"), join(project, "node_modules/@acme/ci-triage"), {
      recursive: true,
    });

    const listed = await bdk(["info"], { cwd: project });
    expect(listed.stdout).toMatch(
      /extensions \(2\)\n +ci +@acme\/ci-triage@1\.2\.0 +bot\/extensions\/ci\/extension\.ts:3/,
    );
    expect(listed.stdout).toMatch(/replaced +tool:ci__job_log/);
    expect(listed.stdout).toMatch(/disabled +tool:ci__retry_job/);

    const why = await bdk(["info", "--why", "tool:ci__job_log", "--json"], { cwd: project });
    expect(JSON.parse(why.stdout)).toEqual({
      why: [
        {
          agent: "desk",
          id: "tool:ci__job_log",
          status: "active",
          chain: [
            { role: "wins", layer: "overlay", source: "bot/extensions/ci/tools/job_log.ts:4" },
            {
              role: "hidden",
              layer: "extension",
              source: "@acme/ci-triage/tools/job_log.ts:6",
              package: "@acme/ci-triage@1.2.0",
            },
          ],
          mount: { namespace: "ci", source: "bot/extensions/ci/extension.ts:3", package: "@acme/ci-triage@1.2.0" },
        },
      ],
    });
    for (const [id, file] of [
      ["instructions:ci", "instructions.md:1"],
      ["instructions:nightly", "instructions.md:1"],
      ["artifacts:ci__report", "artifacts.ts:3"],
      ["artifacts:nightly__report", "artifacts.ts:3"],
      ["seed:owners.csv", "sandbox/workspace/owners.csv"],
    ]) {
      const told = await bdk(["info", "--why", `${id}`], { cwd: project });
      expect(told.stdout.split("\n")[1]?.trim()).toMatch(
        new RegExp(`^wins +extension +@acme/ci-triage/${file} +@acme/ci-triage@1\\.2\\.0$`),
      );
    }

    const text = await bdk(["info", "--why", "instructions"], { cwd: project });
    expect(text.stdout).toMatch(/^instructions of desk\n +wins +project +bot\/instructions\.md:1 *\n/);
    const gone = await bdk(["info", "--why", "ci__retry_job"], { cwd: project });
    expect(gone.stdout).toMatch(
      /tool:ci__retry_job of desk, disabled\n +disables +overlay +bot\/extensions\/ci\/tools\/retry_job\.ts:3/,
    );
    expect(gone.stdout).toMatch(
      /hidden +extension +@acme\/ci-triage\/tools\/retry_job\.ts:5 +@acme\/ci-triage@1\.2\.0/,
    );
    const unknown = await bdk(["info", "--why", "tool:ci__job_logs"], { cwd: project });
    expect(unknown).toMatchObject({ code: 2 });
    expect(unknown.stderr).toContain("did you mean tool:ci__job_log?");
  });
});
