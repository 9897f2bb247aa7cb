// Webhooks of GitHub at a steady rate while streams are open: what is acknowledged and how fast, what is lost, what is said twice.
import { createHmac } from "node:crypto";
import { Agent, createServer, get, request } from "node:http";
import { createRequire } from "node:module";
import { setTimeout as pause } from "node:timers/promises";

export const secret = "storm";
const [, opened] = createRequire(import.meta.url)("@octokit/webhooks-examples")
  .find(({ name }) => name === "pull_request")
  .examples.map((payload, index) => [index, payload])
  .find(([, { action }]) => action === "opened");

/** The channel that is stormed: each pull request starts a turn whose reply is posted. */
export const channelSource = `
import { defaultGitHubAuth, githubChannel } from "@cursor/bdk/channels/github";

export default githubChannel({ onPullRequest: (ctx) => ({ auth: defaultGitHubAuth(ctx), message: "look" }) });
`;

/** GitHub's API as far as it is asked: takes comments, and counts them by pull request. */
export async function startRecorder() {
  const comments = new Map();
  const waiting = new Set();
  const server = createServer((incoming, response) => {
    incoming.resume().on("end", () => {
      const number = Number(/\/issues\/(\d+)\/comments$/.exec(incoming.url)?.[1]);
      comments.set(number, (comments.get(number) ?? 0) + 1);
      response.writeHead(201, { "content-type": "application/json" }).end(JSON.stringify({ id: number }));
      for (const wake of waiting) wake();
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    comments,
    /** Resolves when that many pull requests have a comment, or after `ms` milliseconds. */
    reached: (count, ms) =>
      new Promise((resolve) => {
        const done = () => {
          waiting.delete(check);
          clearTimeout(timer);
          resolve();
        };
        const check = () => {
          if (comments.size >= count) done();
        };
        const timer = setTimeout(done, ms);
        waiting.add(check);
        check();
      }),
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** What a server of the storm is started with. */
export const environmentOf = (recorder) => ({
  GITHUB_API_URL: recorder.url,
  GITHUB_TOKEN: "ghp_storm",
  GITHUB_WEBHOOK_SECRET: secret,
});

/**
 * Delivers `count` webhooks within `ms` milliseconds, evenly, whatever the answers take, with `streams` sessions followed
 * meanwhile. Gives the milliseconds to each acknowledgement, the statuses that were no 202, and how many events each
 * stream got.
 */
export async function storm(base, { count, ms, streams }) {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const followed = await Promise.all(Array.from({ length: streams }, () => follow(base)));
  const bodies = Array.from({ length: count }, (_, at) => bodyOf(at + 1));
  const began = performance.now();
  const sent = bodies.map(async ({ body, signature }, at) => {
    await pause(Math.max(0, began + (at * ms) / count - performance.now()));
    return deliver(`${base}/v1/channels/github`, agent, body, signature, `storm-${at}`);
  });
  const answers = await Promise.all(sent);
  agent.destroy();
  const events = followed.map((each) => each.close());
  return {
    times: answers.map((each) => each.ms).sort((left, right) => left - right),
    refused: answers.filter((each) => each.status !== 202).map((each) => each.status),
    events,
  };
}

function bodyOf(number) {
  const body = JSON.stringify({ ...opened, number, pull_request: { ...opened.pull_request, number } });
  return { body, signature: `sha256=${createHmac("sha256", secret).update(body).digest("hex")}` };
}

function deliver(url, agent, body, signature, id) {
  const started = performance.now();
  return new Promise((resolve, reject) => {
    const sending = request(
      url,
      {
        method: "POST",
        agent,
        headers: {
          "content-type": "application/json",
          "content-length": Buffer.byteLength(body),
          "x-github-event": "pull_request",
          "x-github-delivery": id,
          "x-hub-signature-256": signature,
        },
      },
      (incoming) => {
        incoming.resume().on("end", () => resolve({ status: incoming.statusCode, ms: performance.now() - started }));
      },
    );
    sending.on("error", reject);
    sending.end(body);
  });
}

/** A session whose stream stays open. */
async function follow(base) {
  const response = await fetch(`${base}/v1/session`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ message: "hello" }),
  });
  const { sessionId } = await response.json();
  let lines = 0;
  const reading = await new Promise((resolve, reject) => {
    const asking = get(`${base}/v1/session/${sessionId}/stream`, { agent: false }, (incoming) => {
      incoming.setEncoding("utf8").on("data", (chunk) => {
        lines += chunk.split("\n").length - 1;
      });
      incoming.on("error", () => undefined); // closed by us
      resolve(asking);
    });
    asking.on("error", reject);
  });
  return {
    close() {
      reading.destroy();
      return lines;
    },
  };
}
