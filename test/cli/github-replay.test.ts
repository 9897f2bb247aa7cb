import { writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { eventOf } from "../../cli/github/event-name.js";
import { startFakeGitHub } from "../runtime/support/fake-github.js";
import { payloads } from "../runtime/support/github-host.js";
import { bdk, copyProject, startBdk } from "./bdk.js";

const examples = createRequire(import.meta.url)("@octokit/webhooks-examples") as readonly {
  readonly name: string;
  readonly examples: readonly Readonly<Record<string, unknown>>[];
}[];

async function setUp(payload: unknown = payloads.opened) {
  const github = await startFakeGitHub();
  const dir = await copyProject("gatekeeper");
  const file = join(dir, "payload.json");
  await writeFile(file, JSON.stringify(payload));
  const env = { GITHUB_API_URL: github.url, GATEKEEPER_GITHUB_TOKEN: "ghp_test" };
  const replay = (...args: string[]) =>
    bdk(["github", "replay", ...args, "--dir", dir, "--model", "offline", "--prefix", "GATEKEEPER"], { env });
  return { github, dir, file, env, replay };
}

describe("bdk github replay", () => {
  test("a recorded payload, in process: the reply on stdout, and on GitHub what the channel says there", async () => {
    const { github, file, replay } = await setUp();
    const { code, stdout, stderr } = await replay(file);
    expect([code, stderr]).toEqual([0, expect.not.stringContaining("error")]);
    expect(stdout.trim()).not.toBe("");
    expect(github.said().filter((each) => each.startsWith("POST"))).toEqual([
      "POST /repos/acme/checkout/issues/42/reactions",
      expect.stringContaining("/statuses/"),
      "POST /repos/acme/checkout/issues/42/comments",
      "POST /repos/acme/checkout/issues/42/comments",
      expect.stringContaining("/statuses/"),
      "POST /repos/acme/checkout/issues/42/reactions",
    ]);
  });

  test("- reads the payload from stdin", async () => {
    const { dir, env } = await setUp();
    const args = ["github", "replay", "-", "--dry-run", "--json", "--dir", dir, "--model", "offline"];
    const { code, stdout } = await bdk([...args, "--prefix", "GATEKEEPER"], {
      env,
      stdin: JSON.stringify(payloads.opened),
    });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ status: "completed" });
  });

  test("--dry-run: the turn runs, GitHub hears nothing, a task isn't run", async () => {
    const { github, dir, env, file, replay } = await setUp();
    const { code, stdout } = await replay(file, "--dry-run", "--json");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ status: "completed", sessionId: expect.stringMatching(/^ses_/) });
    await writeFile(join(dir, "push.json"), JSON.stringify(payloads.push));
    const push = await bdk(["github", "replay", join(dir, "push.json"), "--dry-run", "--json", "--dir", dir], { env });
    expect(push.stderr).not.toContain("XAI_API_KEY");
    expect(JSON.parse(push.stdout)).toMatchObject({ event: "push", task: "not run" });
    expect(github.calls).toEqual([]);
  });

  test("the address of a pull request, and owner/repo#n: read from GitHub, delivered as just opened", async () => {
    const { github, replay } = await setUp();
    for (const source of ["https://github.com/acme/checkout/pull/7/files", "acme/checkout#7"]) {
      const { code, stdout } = await replay(source, "--dry-run", "--json");
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({ status: "completed" });
    }
    expect(github.said()).toEqual([
      "GET /repos/acme/checkout",
      "GET /repos/acme/checkout/pulls/7",
      "GET /repos/acme/checkout",
      "GET /repos/acme/checkout/pulls/7",
    ]);
  });

  test("owner/repo#n may be an issue's; a review comment's address is its own event", async () => {
    const { github, replay } = await setUp();
    const user = { login: "mona" };
    github.once(/pulls\/8$/, { status: 404 });
    github.once(/issues\/8$/, { status: 200, body: { number: 8, title: "Broken", user } });
    github.once(/pulls\/comments\/9$/, { status: 200, body: { id: 9, body: "why?", user } });
    const asked = async (source: string) => JSON.parse((await replay(source, "--dry-run", "--json")).stdout) as unknown;
    expect(await asked("acme/checkout#8")).toMatchObject({ reply: expect.stringContaining("issues opened") });
    const ofComment = "https://github.com/acme/checkout/pull/7#discussion_r9";
    expect(await asked(ofComment)).toMatchObject({ event: "pull_request_review_comment" });
  });

  test("on a running server that wants signatures: signed with the secret, each replay a delivery of its own", async () => {
    const { dir, env, file } = await setUp({ ...payloads.push });
    const secret = { GATEKEEPER_GITHUB_WEBHOOK_SECRET: "s" };
    const server = await startBdk(["serve", "--dir", dir, "--port", "0", "--json", "--model", "offline"], {
      env: { ...env, ...secret },
    });
    const url = await server.line((line) =>
      line.startsWith("{") ? (JSON.parse(line) as { url?: string }).url : undefined,
    );
    const replay = (extra: Record<string, string>) =>
      bdk(["github", "replay", file, "--url", `${url}/gatekeeper`, "--prefix", "GATEKEEPER"], {
        env: { ...env, ...extra },
      });
    for (let time = 0; time < 2; time += 1) {
      expect(await replay(secret)).toMatchObject({ code: 0, stderr: "push: task started\n" });
    }
    const opened = join(dir, "opened.json");
    await writeFile(opened, JSON.stringify(payloads.opened));
    const args = ["github", "replay", opened, "--url", `${url}/gatekeeper`, "--prefix", "GATEKEEPER"];
    expect(await bdk(args, { env: { ...env, ...secret } })).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/session ses_\w+ is at work; this server shows it to its owner only/),
    });
    const refused = await replay({ GATEKEEPER_GITHUB_WEBHOOK_SECRET: "other" });
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain("GATEKEEPER_GITHUB_WEBHOOK_SECRET");
  });

  test("what the handler ignores is told; what is no payload, no source or no command exits 2", async () => {
    const { dir, file, replay } = await setUp({ ...payloads.opened, action: "labeled" });
    expect(await replay(file)).toMatchObject({ code: 0, stderr: expect.stringContaining("the handler returned null") });
    await writeFile(join(dir, "odd.json"), "[1]");
    await writeFile(join(dir, "unknown.json"), '{"some":"thing"}');
    for (const source of ["missing.json", join(dir, "odd.json"), join(dir, "unknown.json")]) {
      expect(await replay(source)).toMatchObject({ code: 2, stderr: expect.stringContaining("BDK8012") });
    }
    expect(await bdk(["github", "forward", "x"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("BDK8004"),
    });
    const other = await replay(file, "--channel", "nope");
    expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining("there is --channel github") });
  });
});

test("the event of a payload is told by its members, or not at all", () => {
  const wrong: string[] = [];
  const unknown = new Set<string>();
  for (const { name, examples: payloads } of examples) {
    for (const payload of payloads) {
      const found = eventOf(payload);
      if (found === undefined) unknown.add(name);
      else if (found !== name) wrong.push(`${name} is taken for ${found}`);
    }
  }
  expect(wrong).toEqual([]);
  const heard = ["pull_request", "issue_comment", "issues", "push", "check_run", "check_suite", "pull_request_review"];
  expect(heard.filter((name) => unknown.has(name))).toEqual([]);
});
