import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { bdk, copyProject, startBdk } from "./bdk.js";
import { devProject, startDev, toolFile } from "./dev-project.js";

const pull = "https://github.com/acme/checkout/pull/42";
const inspect = `/inspect_pr ${JSON.stringify({ prUrl: pull })}`;

describe("bdk run", () => {
  test("in process: the reply on stdout, everything else on stderr", async () => {
    const dir = await copyProject("pr-approver");
    const { code, stdout, stderr } = await bdk(["run", "--dir", dir, "--model", "offline", "--message", inspect]);
    expect(code).toBe(0);
    expect(stdout.trim()).not.toBe("");
    expect(stdout).not.toContain("→");
    expect(stderr).toContain("→ inspect_pr");
    expect(stderr).toMatch(/✓ inspect_pr \d+ ms/);
  });

  test("--json is the trajectory", async () => {
    const dir = await copyProject("pr-approver");
    const { code, stdout } = await bdk(["run", "--dir", dir, "--model", "offline", "--json", "-m", inspect]);
    expect(code).toBe(0);
    const trajectory = JSON.parse(stdout);
    expect(trajectory).toMatchObject({
      sessionId: expect.stringMatching(/^ses_/),
      status: "completed",
      toolCalls: [{ toolName: "inspect_pr", args: { prUrl: pull }, isError: false, output: { draft: false } }],
      usage: { inputTokens: expect.any(Number), outputTokens: expect.any(Number) },
    });
    expect(trajectory.reply).not.toBe("");
  });

  test("--text is the reply and nothing else; the message can come from stdin", async () => {
    const dir = await copyProject("pr-approver");
    const [text, json] = await Promise.all([
      bdk(["run", "--dir", dir, "--model", "offline", "--text", "-m", "-", "--state-root", join(dir, "a")], {
        stdin: "hello there\n",
      }),
      bdk(["run", "--dir", dir, "--model", "offline", "--json", "-m", "hello there", "--state-root", join(dir, "b")]),
    ]);
    expect(text.code).toBe(0);
    expect(text.stdout).toBe(`${JSON.parse(json.stdout).reply}\n`);
    expect(text.stderr).not.toContain("info");
  });

  test("a failed turn exits 1 and tells why", async () => {
    const dir = await copyProject("pr-approver");
    const { code, stdout } = await bdk(["run", "--dir", dir, "--json", "-m", "hello"]);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ status: "failed", error: expect.stringContaining("XAI_API_KEY") });
  });

  test("a hook that throws is seen on stderr", async () => {
    const dir = await devProject({
      "bot/hooks/loud.ts": `import { defineHook } from "@cursor/bdk/hooks";\nexport default defineHook({ events: { "message.received"() { throw new Error("hook fell over"); } } });\n`,
    });
    const { code, stderr } = await bdk(["run", "--dir", dir, "-m", "hello"]);
    expect(code).toBe(0);
    expect(stderr).toContain('hook "loud" handler for message.received threw: ');
    expect(stderr).toContain("hook fell over");
  });

  test("a dry run stubs writes", async () => {
    const dir = await copyProject("pr-approver");
    const message = `/approve_pr ${JSON.stringify({ prUrl: pull, summary: "Fine." })}`;
    const { stdout } = await bdk(["run", "--dir", dir, "--model", "offline", "--dry-run", "--json", "-m", message]);
    expect(JSON.parse(stdout).toolCalls).toMatchObject([
      { toolName: "approve_pr", stubbed: true, output: { recorded: false } },
    ]);
  });

  test("finds the running dev server, and takes --url in every form", async () => {
    const dev = await startDev(await devProject());
    const [found, agent, host, playground, slug] = await Promise.all([
      bdk(["run", "--dir", dev.dir, "--json", "-m", "/answer {}"]),
      bdk(["run", "--url", dev.url, "--json", "-m", "/answer {}"]),
      bdk(["run", "--url", new URL(dev.url).origin, "--json", "-m", "/answer {}"]),
      bdk(["run", "--url", `${dev.url}/playground`, "--json", "-m", "/answer {}"]),
      bdk(["run", "--url", new URL(dev.url).origin, "--slug", "devbot", "--json", "-m", "/answer {}"]),
    ]);
    for (const each of [found, agent, host, playground, slug]) {
      expect(each.code, each.stderr).toBe(0);
      expect(JSON.parse(each.stdout)).toMatchObject({ toolCalls: [{ output: "v0" }] });
    }
    const sessions = (await (await fetch(`${dev.url}/v1/sessions`)).json()) as { sessions: unknown[] };
    expect(sessions.sessions.length).toBe(5);
    const model = await bdk(["run", "--dir", dev.dir, "--model", "offline", "-m", "x"]);
    expect(model.code).toBe(2);
    expect(model.stderr).toContain("BDK8005");
  });

  test("a server that is not there is BDK8014, another one BDK8015", async () => {
    const [nobody, other] = await Promise.all([
      bdk(["run", "--url", "http://127.0.0.1:9/agent", "-m", "x"]),
      bdk(["call", "answer", "--url", (await startDev(await devProject())).url.replace("devbot", "nobody")]),
    ]);
    expect(nobody.code).toBe(1);
    expect(nobody.stderr).toContain("BDK8014");
    expect(other.code).toBe(1);
    expect(other.stderr).toContain("BDK8015");
  });

  test("sends the bearer token", async () => {
    const dir = await devProject();
    const server = await startBdk(["serve", "--dir", dir, "--port", "0", "--json", "--bearer-token", "s3cret-token"]);
    await server.line((line) => (line.startsWith("{") ? line : undefined));
    const [without, flag, variable] = await Promise.all([
      bdk(["run", "--dir", dir, "-m", "x"]),
      bdk(["run", "--dir", dir, "-m", "x", "--bearer-token", "s3cret-token"]),
      bdk(["run", "--dir", dir, "-m", "x"], { env: { BDK_BEARER_TOKEN: "s3cret-token" } }),
    ]);
    expect(without.code).toBe(1);
    expect(without.stderr).toContain("unauthorized");
    expect(without.stderr).toContain("--bearer-token");
    expect(flag.code, flag.stderr).toBe(0);
    expect(variable.code, variable.stderr).toBe(0);
  });
});

describe("bdk call", () => {
  test("prints the result, or the whole answer with --json", async () => {
    const dir = await copyProject("pr-approver");
    const input = JSON.stringify({ prUrl: pull });
    const result = await bdk(["call", "inspect_pr", "--dir", dir, "--input", input]);
    expect(result.code, result.stderr).toBe(0);
    expect(JSON.parse(result.stdout)).toMatchObject({ draft: false });
    // No model is asked, so no key of one is missed.
    expect(result.stderr).not.toContain("XAI_API_KEY");
    const answer = await bdk(["call", "inspect_pr", "--dir", dir, "--input", input, "--json"]);
    expect(JSON.parse(answer.stdout)).toMatchObject({
      ok: true,
      toolName: "inspect_pr",
      isError: false,
      result: JSON.parse(result.stdout),
    });
  });

  test("reads input from stdin and from a file", async () => {
    const dir = await copyProject("pr-approver");
    await writeFile(join(dir, "in.json"), JSON.stringify({ prUrl: pull }));
    const stdin = await bdk(["call", "inspect_pr", "--dir", dir, "--input", "-"], {
      stdin: JSON.stringify({ prUrl: pull }),
    });
    const file = await bdk(["call", "inspect_pr", "-i", "@in.json"], { cwd: dir });
    expect(stdin.code, stdin.stderr).toBe(0);
    expect(file.stdout).toBe(stdin.stdout);
  });

  test("a tool that fails exits 1 with its message; bad input and unknown names say what is right", async () => {
    const dir = await copyProject("pr-approver");
    const draft = await bdk([
      "call",
      "inspect_pr",
      "--dir",
      dir,
      "--input",
      '{"prUrl":"https://example.com/none"}',
      "--json",
    ]);
    expect(draft.code).toBe(1);
    expect(JSON.parse(draft.stdout)).toMatchObject({
      ok: true,
      isError: true,
      result: { message: expect.any(String) },
    });
    const input = await bdk(["call", "inspect_pr", "--dir", dir, "--input", '{"prUrl":7}']);
    expect(input.code).toBe(1);
    expect(input.stderr).toContain("invalid_input");
    expect(input.stderr).toContain("prUrl");
    const name = await bdk(["call", "inspect", "--dir", dir]);
    expect(name.code).toBe(1);
    expect(name.stderr).toContain("unknown_tool");
    expect(name.stderr).toContain("inspect_pr");
  });

  test("--slug picks from a folder of several projects", async () => {
    const dir = await copyProject("office");
    const none = await bdk(["call", "find_person", "--dir", dir]);
    expect(none.code).toBe(2);
    expect(none.stderr).toContain("BDK8011");
    expect(none.stderr).toContain("archive, front-desk");
    const picked = await bdk(["call", "find_person", "--dir", dir, "--slug", "archive", "--input", "{}"]);
    expect(picked.stderr).not.toContain("BDK8011");
    const wrong = await bdk(["call", "find_person", "--dir", dir, "--slug", "attic"]);
    expect(wrong.code).toBe(2);
  });

  test("numbers keep their digits on the way", async () => {
    const dir = await devProject({ "bot/tools/echo.ts": toolFile("(input) => input") });
    const { stdout } = await bdk(["call", "echo", "--dir", dir, "--input", '{"text":"0123","dash":"-x"}']);
    expect(JSON.parse(stdout)).toEqual({ text: "0123", dash: "-x" });
  });
});
