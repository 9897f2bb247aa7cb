/** What the GitHub pack says on GitHub: the right calls in the right order, each once. */
import { generateKeyPairSync } from "node:crypto";
import { expect, test, vi } from "vitest";
import * as z from "zod/v4";
import {
  defaultGitHubAuth,
  type GitHubChannelOptions,
  type GitHubContext,
  githubChannel,
} from "../../runtime/authoring/channels/github.js";
import { defineTool, type ToolContext } from "../../runtime/authoring/tools.js";
import { makeBundle } from "./support/bundle.js";
import { startFakeGitHub } from "./support/fake-github.js";
import { deliver, githubParts, headSha, payloads, startGitHubHost } from "./support/github-host.js";
import { call, readEvents, startHost } from "./support/host.js";

const begin = (ctx: GitHubContext) => ({ auth: defaultGitHubAuth(ctx) });
const everything = { reactions: true, commitStatus: true, banner: true };

async function sessionsOf(base: string): Promise<readonly Record<string, unknown>[]> {
  return (await call(`${base}/v1/sessions`)).body.sessions as Record<string, unknown>[];
}

test("a comment: eyes, pending status and banner first; then the reply, the status, the banner, thumbs up", async () => {
  const { at, github, base } = await startGitHubHost({
    botName: "cart-bot",
    onPullRequest: begin,
    onIssueComment: (ctx, comment) => ({ ...begin(ctx), context: [`Asked by ${comment.author}.`] }),
    progress: everything,
  });
  await deliver(at, "pull_request", payloads.opened);
  await github.until(({ calls }) => calls.at(-1)?.method === "DELETE");
  const repo = "/repos/acme/checkout";
  expect(github.said()).toEqual([
    `POST ${repo}/issues/42/reactions`,
    `POST ${repo}/statuses/${headSha}`,
    `POST ${repo}/issues/42/comments`,
    `POST ${repo}/issues/42/comments`,
    `POST ${repo}/statuses/${headSha}`,
    `PATCH ${repo}/issues/comments/1003`,
    `POST ${repo}/issues/42/reactions`,
    `DELETE ${repo}/issues/42/reactions/1001`,
  ]);
  const [eyes, pending, banner, reply, success, bannerDone, thumbs] = github.calls.map(({ body }) => body);
  expect(eyes).toEqual({ content: "eyes" });
  expect(pending).toEqual({ state: "pending", context: "bdk/cart-bot", description: "working on it" });
  expect(banner?.body).toBe(
    `**cart-bot** :hourglass_flowing_sand: is working on this (${headSha.slice(0, 7)}).\n\n<!-- bdk:banner:github -->`,
  );
  const [{ id } = { id: "" }] = await sessionsOf(base);
  const said = (await readEvents(base, String(id))).find(({ type }) => type === "message.completed")?.data as {
    text: string;
  };
  const index = (await readEvents(base, String(id))).find(({ type }) => type === "turn.completed")?.index;
  expect(reply?.body).toBe(`${said.text}\n\n<!-- bdk:${String(id)}:${index} -->`);
  expect(success).toEqual({ state: "success", context: "bdk/cart-bot", description: "done" });
  expect(bannerDone?.body).toContain("is done");
  expect(thumbs).toEqual({ content: "+1" });
  expect(new Set(github.calls.map(({ authorization }) => authorization))).toEqual(new Set(["token ghp_test"]));

  // The next message goes on in the same session; its reaction is on the comment, its banner the one there is.
  const before = github.calls.length;
  await deliver(at, "issue_comment", payloads.comment("and now?"));
  await github.until(({ calls }) => calls.length > before && calls.at(-1)?.method === "DELETE");
  expect(github.said().slice(before)).toEqual([
    `POST ${repo}/issues/comments/7/reactions`,
    `PATCH ${repo}/issues/comments/1003`,
    `POST ${repo}/issues/42/comments`,
    `PATCH ${repo}/issues/comments/1003`,
    `POST ${repo}/issues/comments/7/reactions`,
    expect.stringMatching(/^DELETE .*\/issues\/comments\/7\/reactions\/\d+$/),
  ]);
  const sessions = await sessionsOf(base);
  expect(sessions).toHaveLength(1);
  expect(sessions[0]).toMatchObject({
    channelId: "github",
    owner: "channel:github:acme/checkout",
    title: "acme/checkout#42 Add a cart",
    continuationToken: "github:pr:acme/checkout#42",
    turns: 2,
  });
  const texts = (await readEvents(base, String(id))).flatMap(({ type, data }) =>
    type === "message.received" ? [(data as { text: string }).text] : [],
  );
  expect(texts[0]).toBe(
    [
      "GitHub: pull_request opened in acme/checkout by @mona",
      "Pull request #42: Add a cart",
      "https://github.com/acme/checkout/pull/42",
      `Head cart at ${headSha}, base main`,
      "They wrote:",
      "> It holds things.",
    ].join("\n"),
  );
  expect(texts[1]).toContain("Asked by mona.\n\nGitHub: issue_comment created in acme/checkout by @mona");
  expect(texts[1]).toContain("> and now?");
});

test("by default the reply is posted and nothing else; a review comment is answered in its thread, a push on its commit", async () => {
  const { at, github } = await startGitHubHost({ onReviewComment: begin, onPush: begin, onIssueComment: begin });
  await deliver(at, "pull_request_review_comment", payloads.reviewComment("why?"));
  await github.until(({ calls }) => calls.length === 1);
  await deliver(at, "push", payloads.push);
  await github.until(({ calls }) => calls.length === 2);
  await deliver(at, "issue_comment", payloads.comment("and this?"));
  await github.until(({ calls }) => calls.length === 3);
  expect(github.said()).toEqual([
    "POST /repos/acme/checkout/pulls/42/comments/9/replies",
    `POST /repos/acme/checkout/commits/${headSha}/comments`,
    "POST /repos/acme/checkout/issues/42/comments",
  ]);
});

test("a reply within a review thread is answered in that thread; where the comment is gone, beside it", async () => {
  const { at, github } = await startGitHubHost({ onReviewComment: begin });
  await deliver(at, "pull_request_review_comment", payloads.reviewComment("and why?", { id: 11, in_reply_to_id: 9 }));
  await github.until(({ comments }) => comments.length === 1);
  github.once(/replies$/, { status: 404, body: { message: "Not Found" } });
  await deliver(at, "pull_request_review_comment", payloads.reviewComment("never mind", { id: 12 }));
  await github.until(({ comments }) => comments.length === 2);
  expect(github.said()).toEqual([
    "POST /repos/acme/checkout/pulls/42/comments/9/replies",
    "POST /repos/acme/checkout/pulls/42/comments/12/replies",
    "POST /repos/acme/checkout/issues/42/comments",
  ]);
});

test("deliverReplies: false and no progress: GitHub hears nothing", async () => {
  const { at, github, base } = await startGitHubHost({ onPullRequest: begin, deliverReplies: false });
  await deliver(at, "pull_request", payloads.opened);
  await expect.poll(async () => (await sessionsOf(base))[0]).toMatchObject({ status: "waiting", turns: 1 });
  expect(github.calls).toEqual([]);
});

test("a turn that fails: no reply, a failed status, a banner without the reason, and a confused face", async () => {
  const parts = { model: "openai/gpt-5" };
  const env = { OPENAI_API_KEY: "" };
  const { at, github } = await startGitHubHost({ onPullRequest: begin, progress: everything }, parts, { env });
  await deliver(at, "pull_request", payloads.opened);
  await github.until(({ calls }) => calls.at(-1)?.method === "DELETE");
  expect(github.calls.map(({ body }) => body.state ?? body.content).filter(Boolean)).toEqual([
    "eyes",
    "pending",
    "failure",
    "confused",
  ]);
  expect(github.comments).toHaveLength(1);
  expect(github.comments[0]?.body).toContain("did not get to the end");
  expect(github.comments[0]?.body).not.toMatch(/OPENAI|key/i);
});

test("a pull request that changes interrupts the turn; its end is shown before the next begins", async () => {
  let release = () => undefined as unknown;
  const held = new Promise<void>((done) => {
    release = done;
  });
  let calls = 0;
  const tools = {
    wait: defineTool({
      description: "Waits.",
      inputSchema: z.object({}),
      effect: "read",
      execute: async (_input: unknown, ctx: ToolContext) => {
        calls += 1;
        if (calls === 1) await Promise.race([held, new Promise((done) => ctx.signal.addEventListener("abort", done))]);
        return "waited";
      },
    }),
  };
  const options: GitHubChannelOptions = {
    onPullRequest: (ctx) => ({ ...begin(ctx), message: "/wait {}" }),
    progress: { commitStatus: true },
  };
  const { at, github } = await startGitHubHost(options, { tools });
  await deliver(at, "pull_request", payloads.opened);
  await expect.poll(() => calls).toBe(1);
  await deliver(at, "pull_request", payloads.synchronized);
  await github.until(({ calls: said }) => said.at(-1)?.body.state === "success");
  release();
  expect(github.calls.map(({ body }) => body.state ?? "reply")).toEqual([
    "pending",
    "error",
    "pending",
    "reply",
    "success",
  ]);
});

test("a comment waits behind the running turn, and both are answered", async () => {
  const { at, github } = await startGitHubHost({ onIssueComment: begin });
  await Promise.all(
    [1, 2, 3].map((id) => deliver(at, "issue_comment", payloads.comment(`number ${id}`, undefined, id))),
  );
  await github.until(({ comments }) => comments.some(({ body }) => /number 3/.test(body)) || comments.length === 3);
  expect(github.said().every((each) => each === "POST /repos/acme/checkout/issues/42/comments")).toBe(true);
});

test("an approval that is asked for is shown", async () => {
  const tools = {
    merge: defineTool({
      description: "Merges.",
      inputSchema: z.object({}),
      needsApproval: true,
      execute: () => "merged",
    }),
  };
  const options: GitHubChannelOptions = {
    onPullRequest: (ctx) => ({ ...begin(ctx), message: "/merge {}" }),
    progress: { commitStatus: true, banner: true },
  };
  const { at, github, base } = await startGitHubHost(options, { tools });
  await deliver(at, "pull_request", payloads.opened);
  await github.until(({ calls }) => calls.at(-1)?.method === "PATCH");
  expect(github.calls.map(({ body }) => body.description ?? body.body)).toEqual([
    "working on it",
    expect.stringContaining("is working on this"),
    "waiting for an approval",
    expect.stringContaining("waits for an approval"),
  ]);
  const [{ id } = { id: "" }] = await sessionsOf(base);
  const { approvals } = (await call(`${base}/v1/session/${String(id)}/approvals`)).body as {
    approvals: { callId: string }[];
  };
  const settle = `${base}/v1/session/${String(id)}/approvals/${approvals[0]?.callId}`;
  expect((await call(settle, { body: { decision: "approve" } })).status).toBe(200);
  await github.until(({ comments }) => comments[0]?.body.includes("is done") === true);
});

test("a task is answered 202, runs in the background and once, and no session begins", async () => {
  const ran: string[] = [];
  const { at, base, lines } = await startGitHubHost({
    onIssueComment: (ctx, comment) => ({
      task: async () => {
        ran.push(`${ctx.deliveryId} ${comment.body}`);
        if (comment.body === "fail") throw new Error("the task broke");
      },
    }),
  });
  const send = (id: string, body: string) => deliver(at, "issue_comment", payloads.comment(body), { id });
  expect((await send("one", "run")).status).toBe(202);
  expect((await send("one", "run")).status).toBe(200);
  expect((await send("two", "fail")).status).toBe(202);
  await expect.poll(() => lines.some(({ message }) => message.includes("the task broke"))).toBe(true);
  expect((await send("two", "fail")).status).toBe(200);
  expect(ran).toEqual(["one run", "two fail"]);
  expect(await sessionsOf(base)).toEqual([]);
});

test("ctx.host.github: a token's client in handlers and tools; without credentials the variables are named", async () => {
  const logins: unknown[] = [];
  const tools = {
    whoami: defineTool({
      description: "Who am I?",
      inputSchema: z.object({}),
      effect: "read",
      execute: async (_input: unknown, { host }: ToolContext) => {
        const { rest } = await host.github.getOctokit();
        const answer = await rest.users?.getAuthenticated?.();
        return (answer?.data as { login: string } | undefined)?.login;
      },
    }),
  };
  const options: GitHubChannelOptions = {
    onPush: async (ctx) => {
      const octokit = await ctx.host.github.getOctokit();
      logins.push(((await octokit.request("GET /user")).data as { login: string }).login);
      return null;
    },
  };
  const { at, base, github } = await startGitHubHost(options, { tools });
  await deliver(at, "push", payloads.push);
  await expect.poll(() => logins).toEqual(["octobot"]);
  expect((await call(`${base}/v1/tools/whoami`, { body: { input: {} } })).body).toMatchObject({ result: "octobot" });
  expect(github.calls.map(({ authorization }) => authorization)).toEqual(["token ghp_test", "token ghp_test"]);
  const none = await startGitHubHost(options, { tools }, { env: { GITHUB_TOKEN: "" } });
  expect((await call(`${none.base}/v1/tools/whoami`, { body: { input: {} } })).body).toMatchObject({
    isError: true,
    result: { message: expect.stringContaining("set GITHUB_TOKEN, or GITHUB_APP_ID and GITHUB_APP_PRIVATE_KEY") },
  });
});

test("a GitHub App: the installation of the payload, else of the repository", async () => {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const pem = privateKey.export({ type: "pkcs1", format: "pem" }).toString();
  const env = { GITHUB_TOKEN: "", GITHUB_APP_ID: "123", GITHUB_APP_PRIVATE_KEY: pem.replaceAll("\n", "\\n") };
  const { at, github } = await startGitHubHost({ onPullRequest: begin, onPush: begin }, {}, { env });
  await deliver(at, "pull_request", { ...payloads.opened, installation: { id: 55 } });
  await github.until(({ comments }) => comments.length === 1);
  expect(github.said()).toEqual([
    "POST /app/installations/55/access_tokens",
    "POST /repos/acme/checkout/issues/42/comments",
  ]);
  expect(github.calls[1]?.authorization).toBe("token ghs_of_55");
  await deliver(at, "push", payloads.push);
  await github.until(({ comments }) => comments.length === 2);
  expect(github.said().slice(2)).toEqual([
    "GET /repos/acme/checkout/installation",
    "POST /app/installations/77/access_tokens",
    `POST /repos/acme/checkout/commits/${headSha}/comments`,
  ]);
});

test("the prefix names the credentials, also for the agent's own tools", async () => {
  const { at, github } = await startGitHubHost(
    { envPrefix: "TRIAGE", onPullRequest: begin },
    {},
    { env: { TRIAGE_GITHUB_WEBHOOK_SECRET: "s", TRIAGE_GITHUB_TOKEN: "ghp_triage" } },
  );
  await deliver(at, "pull_request", payloads.opened, { secret: "s" });
  await github.until(({ comments }) => comments.length === 1);
  expect(github.calls[0]?.authorization).toBe("token ghp_triage");
});

test("receive with a target: a conversation on a pull request that nobody began there", async () => {
  const github = await startFakeGitHub();
  const channel = githubChannel({ progress: { banner: true } });
  const told: unknown[] = [];
  const parts = githubParts({});
  const bundle = makeBundle([
    {
      ...parts,
      definitions: {
        "channel:github": channel,
        "schedule:nightly": {
          __agentServe: "schedule",
          cron: "0 0 * * *",
          run: async ({
            receive,
            appAuth,
          }: {
            receive: (...args: unknown[]) => Promise<{ id: string }>;
            appAuth: unknown;
          }) => {
            const common = { message: "Look again.", auth: appAuth };
            const target = { repository: "acme/checkout", number: 42 };
            told.push((await receive(channel, { ...common, target })).id);
            const wrong = receive(channel, { ...common, target: { channelId: "C1" } });
            told.push(await wrong.catch((error: Error) => error.message));
          },
        },
      },
      manifest: {
        ...parts.manifest,
        schedules: [
          {
            id: "schedule:nightly",
            source: "bot/schedules/nightly.ts:1",
            layer: "project",
            name: "nightly",
            cron: "0 0 * * *",
            form: "run",
          },
        ],
      },
    },
  ]);
  vi.stubEnv("GITHUB_API_URL", github.url);
  vi.stubEnv("GITHUB_TOKEN", "ghp_test");
  const host = await startHost(bundle, { dev: true });
  expect((await call(`${host.base}/v1/dev/schedules/nightly`, { method: "POST" })).status).toBe(200);
  expect(told).toEqual([expect.stringMatching(/^ses_/), 'a target on GitHub is { repository: "owner/name", number }']);
  await github.until(({ comments }) => comments.length === 2 && comments[0]?.body.includes("is done") === true);
  expect(github.comments.map(({ place }) => place)).toEqual(Array(2).fill("/repos/acme/checkout/issues/42/comments"));
});
