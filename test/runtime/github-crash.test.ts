/**
 * `kill -9` of the emitted server at random points after it took a webhook: each delivery it answered for ends in one
 * turn and one comment, whatever happens, and the same delivery sent again runs nothing. BDK_CRASH_RUNS sets how often.
 */
import { randomInt } from "node:crypto";
import { expect, test } from "vitest";
import { emitProject } from "./support/emitted.js";
import { type FakeGitHub, startFakeGitHub } from "./support/fake-github.js";
import { deliver, payloads, webhookSecret } from "./support/github-host.js";

const runs = Number(process.env.BDK_CRASH_RUNS ?? 6);

const channel = `
import { defaultGitHubAuth, githubChannel } from "@cursor/bdk/channels/github";

export default githubChannel({
  onPullRequest: (ctx, pr) => ({ auth: defaultGitHubAuth(ctx), message: \`look at \${pr.number}\` }),
  onPush: (ctx) => ({
    task: async () => {
      const octokit = await ctx.host.github.getOctokit();
      await octokit.request("GET /repos/{owner}/{repo}", { owner: ctx.repository.owner, repo: ctx.deliveryId });
      await new Promise(() => undefined);
    },
  }),
});
`;

interface Row {
  readonly continuationToken: string;
  readonly turns: number;
  readonly status: string;
}

function pullRequest(number: number) {
  const { pull_request: pull } = payloads.opened;
  return { ...payloads.opened, number, pull_request: { ...pull, number } };
}

const comments = ({ comments }: FakeGitHub, number: number) =>
  comments.filter(({ place }) => place === `/repos/acme/checkout/issues/${number}/comments`).length;

test(`kill -9, ${runs} times at random points of a delivery`, { timeout: 60_000 + runs * 10_000 }, async () => {
  const github = await startFakeGitHub();
  const bot = await emitProject({ "bot/channels/github.ts": channel });
  const env = { GITHUB_API_URL: github.url, GITHUB_TOKEN: "ghp_test", GITHUB_WEBHOOK_SECRET: webhookSecret };
  const taken: number[] = [];
  let url = await bot.start(env, ["--allow-anonymous"]);
  for (let run = 0; run < runs; run += 1) {
    const numbers = Array.from({ length: 4 }, (_, index) => run * 4 + index + 1);
    // Every other time the answers come first, and the kill before what they promise.
    const isEarly = run % 2 === 1;
    const dead = isEarly && new Promise<void>((done) => setTimeout(() => bot.kill().then(done), randomInt(120)));
    await Promise.all(
      numbers.map(async (number) => {
        const answer = await deliver(`${url}/v1/channels/github`, "pull_request", pullRequest(number), {
          id: `delivery of ${number}`,
        }).catch(() => undefined); // the connection dies with the server: that is the test
        if (answer?.status === 202) taken.push(number);
      }),
    );
    await (isEarly ? dead : bot.kill());
    url = await bot.start(env, ["--allow-anonymous"]);
    await github.until((each) => taken.every((number) => comments(each, number) === 1));
  }
  expect(taken.length).toBeGreaterThanOrEqual(4 * Math.ceil(runs / 2));
  for (const number of taken) {
    const again = await deliver(`${url}/v1/channels/github`, "pull_request", pullRequest(number), {
      id: `delivery of ${number}`,
    });
    expect(again).toMatchObject({ status: 200, body: { ignored: "delivered before" } });
  }
  const { sessions } = (await (await fetch(`${url}/v1/sessions?limit=500`)).json()) as { sessions: Row[] };
  for (const number of taken) {
    const rows = sessions.filter(({ continuationToken }) => continuationToken === `github:pr:acme/checkout#${number}`);
    expect(rows.map(({ turns, status }) => [turns, status])).toEqual([[1, "waiting"]]);
    expect(comments(github, number)).toBe(1);
  }
  // A number that was not answered for may have been taken all the same; nothing of it is said twice.
  for (let number = 1; number <= runs * 4; number += 1) expect(comments(github, number)).toBeLessThanOrEqual(1);
  await bot.kill();
});

test("a task that kill -9 cut off is not run again, nor when GitHub delivers it again", {
  timeout: 60_000,
}, async () => {
  const github = await startFakeGitHub();
  const bot = await emitProject({ "bot/channels/github.ts": channel });
  const env = { GITHUB_API_URL: github.url, GITHUB_TOKEN: "ghp_test", GITHUB_WEBHOOK_SECRET: webhookSecret };
  let url = await bot.start(env);
  expect((await deliver(`${url}/v1/channels/github`, "push", payloads.push, { id: "first" })).status).toBe(202);
  await github.until(({ calls }) => calls.length === 1);
  await bot.kill();
  url = await bot.start(env);
  expect((await deliver(`${url}/v1/channels/github`, "push", payloads.push, { id: "first" })).status).toBe(200);
  expect((await deliver(`${url}/v1/channels/github`, "push", payloads.push, { id: "second" })).status).toBe(202);
  await github.until(({ calls }) => calls.length === 2);
  expect(github.said()).toEqual(["GET /repos/acme/first", "GET /repos/acme/second"]);
  await bot.kill();
});
