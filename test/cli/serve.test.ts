import { realpath, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { build } from "../../cli/api/build.js";
import { createHost, ProjectError, serve } from "../../cli/api/serve.js";
import { bdk, copyProject, linkModules, startBdk, temporaryFolder } from "./bdk.js";
import { callTool, devProject, toolFile, writeProject } from "./dev-project.js";

const pull = "https://github.com/acme/checkout/pull/42";

function listening(
  line: string,
): { url: string; agents: { slug: string; url: string; playgroundUrl?: string }[] } | undefined {
  return line.startsWith("{") ? JSON.parse(line) : undefined;
}

describe("bdk serve", () => {
  test("serves at /<slug>, prints it, and closes on Ctrl-C", async () => {
    const dir = await copyProject("pr-approver");
    const server = await startBdk(["serve", "--dir", dir, "--port", "0", "--json", "--model", "offline"]);
    const { url, agents } = await server.line(listening);
    expect(agents).toMatchObject([
      { slug: "pr-approver", url: `${url}/pr-approver`, playgroundUrl: `${url}/pr-approver/playground` },
    ]);
    expect(await callTool(`${url}/pr-approver`, "inspect_pr", { prUrl: pull })).toMatchObject({ draft: false });
    expect(server.stderr()).toContain("offline");
    expect(await server.interrupt()).toBe(0);
    expect(server.lines.length).toBe(1);
  });

  test("of several projects, each has its connections' programs in its own folder, as when it is served alone", async () => {
    const dir = await temporaryFolder();
    const program = resolve("test/runtime/support/mcp-stdio-new.mjs");
    await writeProject(dir, {
      "desk/package.json": '{ "name": "desk", "type": "module" }\n',
      "desk/bot/instructions.md": "You ask the office.\n",
      "desk/bot/mcp-connections/office.ts": `import { defineConnection } from "@cursor/bdk/connections";
export default defineConnection({ command: "node", args: ["./servers/office.mjs"], advertiseTools: true });
`,
      "desk/servers/office.mjs": `await import(${JSON.stringify(program)});\n`,
      "lab/package.json": '{ "name": "lab", "type": "module" }\n',
      "lab/bot/instructions.md": "You measure.\n",
    });
    await linkModules(dir);
    for (const served of [dir, join(dir, "desk")]) {
      const server = await startBdk(["serve", "--dir", served, "--port", "0", "--json", "--model", "offline"]);
      const { url } = await server.line(listening);
      const { content } = (await callTool(`${url}/desk`, "office__env")) as { content: [{ text: string }] };
      expect(JSON.parse(content[0].text).cwd).toBe(await realpath(join(dir, "desk")));
      expect(await server.interrupt()).toBe(0);
    }
  });

  test("GET /v1/info is what bdk info --json prints, findings included", async () => {
    const dir = await copyProject("pr-approver");
    await writeProject(dir, { "bot/tool/lost.ts": toolFile("() => 1") });
    const server = await startBdk(["serve", "--dir", dir, "--port", "0", "--json"]);
    const { agents } = await server.line(listening);
    const served = await (await fetch(`${agents[0]?.url}/v1/info`)).json();
    const { stdout } = await bdk(["info", "--dir", dir, "--json"]);
    expect(served).toEqual(JSON.parse(stdout));
    expect(served).toMatchObject({ agents: [{ diagnostics: [{ severity: "warning", file: "bot/tool" }] }] });
  });

  test("--mode single serves at the root; flags win over variables", async () => {
    const dir = await copyProject("pr-approver");
    const server = await startBdk(["serve", "--dir", dir, "--port", "0", "--mode", "single", "--no-playground"], {
      env: { PORT: "1", BDK_MODEL: "offline" },
    });
    const url = await server.line((line) => /listening on (\S+)/.exec(line)?.[1]);
    expect((await fetch(`${url}/v1/info`)).status).toBe(200);
    expect((await fetch(`${url}/playground`)).status).toBe(404);
  });

  test("--standby waits for the one that serves, and takes over; Ctrl-C ends the waiting", async () => {
    const dir = await copyProject("pr-approver");
    const flags = ["serve", "--dir", dir, "--port", "0", "--model", "offline"];
    const first = await startBdk([...flags, "--json"]);
    const { agents } = await first.line(listening);
    expect(agents).toHaveLength(1);
    const second = await startBdk([...flags, "--json", "--standby"]);
    const standing = await second.line((line) => JSON.parse(line) as { event: string; pid: number; url: string });
    expect(standing).toMatchObject({ event: "standby", pid: expect.any(Number) });
    expect((await fetch(`${standing.url}/pr-approver/v1/ready`)).status).toBe(503);
    const third = await startBdk([...flags, "--standby"]);
    expect(await third.line((line) => /standing by\S* for process (\d+)/.exec(line)?.[1])).toBe(String(standing.pid));
    expect(await third.interrupt()).toBe(0);
    expect(await first.interrupt()).toBe(0);
    const url = await second.line((line) => (line.includes('"listening"') ? listening(line)?.url : undefined));
    expect(url).toBe(standing.url);
    expect(await callTool(`${url}/pr-approver`, "inspect_pr", { prUrl: pull })).toMatchObject({ draft: false });
    expect(await second.interrupt()).toBe(0);
  });

  test("--bearer-token keeps strangers out", async () => {
    const server = await startBdk([
      "serve",
      "--dir",
      await copyProject("pr-approver"),
      "--port",
      "0",
      "--json",
      "--bearer-token",
      "0123",
    ]);
    const { agents } = await server.line(listening);
    const url = `${agents[0]?.url}/v1/info`;
    expect((await fetch(url)).status).toBe(401);
    expect((await fetch(url, { headers: { authorization: "Bearer 0123" } })).status).toBe(200);
    expect((await fetch(url, { headers: { authorization: "Bearer 123" } })).status).toBe(401);
    expect(server.stderr()).not.toContain("0123");
  });

  test("refuses to start on errors", async () => {
    const dir = await copyProject("pr-approver");
    await writeFile(join(dir, "bot/tools/bad.ts"), "export default 1;\n");
    const { code, stderr, stdout } = await bdk(["serve", "--dir", dir, "--port", "0"]);
    expect(code).toBe(1);
    expect(stdout).toBe("");
    expect(stderr).toContain("bot/tools/bad.ts");
  });

  test("project code that fails only when it is served is the project's failure, with its own line", async () => {
    const dir = await devProject({
      "bot/tools/once.ts": toolFile(
        "() => 1",
        `import { existsSync, writeFileSync } from "node:fs";
if (existsSync(".loaded")) throw new Error("loaded before");
writeFileSync(".loaded", "");`,
      ),
    });
    const { code, stderr } = await bdk(["serve", "--dir", ".", "--port", "0"], { cwd: dir });
    expect(code).toBe(1);
    expect(stderr).toMatch(/BDK8013.*failed to load\s+Error: loaded before\s+at .*bot\/tools\/once\.ts:\d/);
  });

  test("what project code prints goes to the log, and a promise that nobody awaits does not end the server", async () => {
    const dir = await devProject({
      "bot/tools/noisy.ts": toolFile(
        '() => { console.log("from a tool"); Promise.reject(new Error("nobody waits")); return 1; }',
        'console.log("at load");',
      ),
    });
    const server = await startBdk(["serve", "--dir", dir, "--port", "0", "--json"]);
    const { agents } = await server.line(listening);
    const url = agents[0]?.url ?? "";
    expect(await callTool(url, "noisy")).toBe(1);
    await expect.poll(server.stderr).toContain("nobody waits");
    expect(server.stderr()).toContain("from a tool");
    expect(server.stderr()).toContain("at load");
    expect(await callTool(url, "answer")).toBe("v0");
    expect(server.lines.length).toBe(1);
  });

  test("a port that is taken is BDK8013", async () => {
    const dir = await copyProject("pr-approver");
    const server = await startBdk(["serve", "--dir", dir, "--port", "0", "--json"]);
    const { url } = await server.line(listening);
    const { code, stderr } = await bdk([
      "serve",
      "--dir",
      await copyProject("pr-approver"),
      "--port",
      new URL(url).port,
    ]);
    expect(code).toBe(1);
    expect(stderr).toContain("BDK8013");
  });
});

describe("serve(dir, options) and createHost(bundle, options)", () => {
  test("serve in this process and close", async () => {
    const dir = await copyProject("pr-approver");
    const server = await serve(dir, { port: 0, model: "offline", log: () => undefined });
    onTestFinished(() => server.close());
    expect(server.diagnostics).toEqual([]);
    expect(await callTool(`${server.url}/pr-approver`, "inspect_pr", { prUrl: pull })).toMatchObject({ draft: false });
    await server.close();
    await expect(fetch(`${server.url}/v1/health`)).rejects.toThrow();
  });

  test("serve a bundle that build returned", async () => {
    const dir = await copyProject("pr-approver");
    const { bundle } = await build(dir, { environment: "strict" });
    if (bundle === undefined) throw new Error("no bundle");
    const host = await createHost(bundle, { port: 0, stateRoot: join(dir, ".bdk"), log: () => undefined }, dir);
    onTestFinished(() => host.close());
    expect(await callTool(`${host.url}/pr-approver`, "inspect_pr", { prUrl: pull })).toMatchObject({ draft: false });
  });

  test("refuse what can't be meant, in words", async () => {
    const dir = await copyProject("pr-approver");
    const options = { stateRoot: join(dir, "state"), log: () => undefined };
    for (const port of [-1, 99_999, 1.5]) {
      await expect(serve(dir, { ...options, port })).rejects.toThrow("the port is a whole number from 0 to 65535");
    }
    await expect(serve(dir, { ...options, port: 0, mode: "both" as never })).rejects.toThrow('not "both"');
    await expect(serve(join(dir, "package.json"), options)).rejects.toMatchObject({
      name: "ProjectError",
      diagnostics: [{ code: "BDK1002" }],
    });
    const { bundle } = await build(join(dir, "nowhere"));
    await expect(createHost(bundle as never, options)).rejects.toThrow("takes the bundle that build() returned");
  });

  test("throw the project's errors", async () => {
    const dir = await copyProject("pr-approver");
    await writeProject(dir, { "bot/tools/bad.ts": "export default 1;\n" });
    const error = await serve(dir, { port: 0 }).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(ProjectError);
    expect((error as ProjectError).diagnostics).toMatchObject([{ severity: "error" }]);
  });
});
