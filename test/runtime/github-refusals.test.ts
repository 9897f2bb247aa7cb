/** What the GitHub pack does where GitHub refuses, fails or has it wait: nothing is lost, and nothing said twice. */
import { expect, test } from "vitest";
import { defaultGitHubAuth, type GitHubContext } from "../../runtime/authoring/channels/github.js";
import { deliver, payloads, startGitHubHost } from "./support/github-host.js";

const begin = (ctx: GitHubContext) => ({ auth: defaultGitHubAuth(ctx) });
const everything = { reactions: true, commitStatus: true, banner: true };

test("a gateway that fails after the comment was made: it is found, not posted again; a limit is waited for", async () => {
  const { at, github } = await startGitHubHost({ onPullRequest: begin, onIssueComment: begin });
  github.once(/^POST .*\/issues\/42\/comments$/, { status: 502, happens: true });
  await deliver(at, "pull_request", payloads.opened);
  await github.until(({ calls }) => calls.at(-1)?.method === "GET");
  expect(github.said()).toEqual([
    "POST /repos/acme/checkout/issues/42/comments",
    "GET /repos/acme/checkout/issues/42/comments",
  ]);
  expect(github.comments).toHaveLength(1);
  github.once(/^POST/, { status: 429, headers: { "retry-after": "0" }, body: { message: "slow down" } });
  await deliver(at, "issue_comment", payloads.comment("again"));
  await github.until(({ comments }) => comments.length === 2);
  expect(github.said().slice(2)).toEqual([
    "POST /repos/acme/checkout/issues/42/comments",
    "GET /repos/acme/checkout/issues/42/comments",
    "POST /repos/acme/checkout/issues/42/comments",
  ]);
});

test("progress that GitHub refuses is logged, and the reply is posted all the same", async () => {
  const { at, github, lines } = await startGitHubHost({ onPullRequest: begin, progress: everything });
  const forbidden = { status: 403, body: { message: "Resource not accessible by integration" } };
  github.once(/reactions$/, forbidden);
  github.once(/statuses/, forbidden);
  github.once(/statuses/, forbidden);
  await deliver(at, "pull_request", payloads.opened);
  await github.until(({ calls }) => calls.filter(({ path }) => path.endsWith("/reactions")).length === 2);
  expect(github.comments.map(({ body }) => /is done|bdk:ses_/.test(body))).toEqual([true, true]);
  const warned = lines.filter(({ level }) => level === "warn").map(({ message }) => message);
  expect(warned.some((message) => message.includes("the commit status failed"))).toBe(true);
  expect(warned.join("\n")).not.toContain("ghp_test");
});

test("a reply that has to wait an hour is not lost to a restart, and progress does not wait for so long", async () => {
  const limit = { status: 403, headers: { "retry-after": "3600" }, body: { message: "secondary rate limit" } };
  const options = { onPullRequest: begin, progress: { reactions: true } };
  const first = await startGitHubHost(options, {}, { shutdownTimeoutMs: 100 });
  const { github, lines, stateRoot } = first;
  github.once(/reactions$/, limit);
  github.once(/comments$/, limit);
  await deliver(first.at, "pull_request", payloads.opened);
  await expect.poll(() => lines.map(({ message }) => message).join("\n")).toContain("asks to wait 3600 s");
  await first.close();
  expect(github.comments).toEqual([]);
  await startGitHubHost(options, {}, { github, stateRoot });
  await github.until(({ comments }) => comments.length === 1);
});
