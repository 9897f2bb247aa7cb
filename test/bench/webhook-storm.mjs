// Webhooks at a steady rate while streams are open: what is acknowledged and how fast, what is lost, what is said twice.
import { createHmac } from "node:crypto";
import { Agent, createServer, get, request } from "node:http";
import { createRequire } from "node:module";
import { setTimeout as pause } from "node:timers/promises";

export const secret = "storm";
const [, opened] = createRequire(import.meta.url)("@octokit/webhooks-examples")
  .find(({ name }) => name === "pull_request")
  .examples.map((payload, index) => [index, payload])
  .find(([, { action }]) => action === "opened");

/** The channels that are stormed: each delivery starts a turn whose reply is posted. */
export const channelSources = {
  "bot/channels/github.ts": `
import { defaultGitHubAuth, githubChannel } from "@cursor/bdk/channels/github";

export default githubChannel({ onPullRequest: (ctx) => ({ auth: defaultGitHubAuth(ctx), message: "look" }) });
`,
  "bot/channels/slack.ts": `
import { slackChannel } from "@cursor/bdk/channels/slack";

export default slackChannel();
`,
  "bot/channels/billing.ts": `
import { stripeSignature, webhookChannel } from "@cursor/bdk/channels/webhook";

export default webhookChannel({
  verify: stripeSignature({ secret: () => process.env.GITHUB_WEBHOOK_SECRET }),
  map: ({ body }) => ({ message: "look", continuationToken: String(body.number) }),
  events: {
    "turn.completed": async (_event, ctx) => {
      await fetch(process.env.GITHUB_API_URL + "/billing/" + ctx.channel.continuationToken, { method: "POST" });
    },
  },
});
`,
};

const hmac = (text) => createHmac("sha256", secret).update(text).digest("hex");
const instant = () => Math.floor(Date.now() / 1_000);

/** What each sender sends, by the name of its channel. */
const deliveries = {
  github(number) {
    const body = JSON.stringify({ ...opened, number, pull_request: { ...opened.pull_request, number } });
    const event = { "x-github-event": "pull_request", "x-github-delivery": `storm-${number}` };
    return { path: "github", body, headers: { ...event, "x-hub-signature-256": `sha256=${hmac(body)}` } };
  },
  slack(number) {
    const event = { type: "app_mention", user: "U1", text: "<@U0BOT> look", channel: "C1", ts: `${number}.000100` };
    const body = JSON.stringify({
      type: "event_callback",
      event_id: `Ev${number}`,
      team_id: "T1",
      api_app_id: "A1",
      event,
    });
    const at = instant();
    const signed = { "x-slack-request-timestamp": at, "x-slack-signature": `v0=${hmac(`v0:${at}:${body}`)}` };
    return { path: "slack/events", body, headers: signed };
  },
  billing(number) {
    const body = JSON.stringify({ id: `evt_${number}`, number, data: opened.pull_request });
    const at = instant();
    return { path: "billing", body, headers: { "stripe-signature": `t=${at},v1=${hmac(`${at}.${body}`)}` } };
  },
};

/** The APIs that replies are posted to, as far as they are asked: counts them by the number of the delivery. */
export async function startRecorder() {
  let replies = new Map();
  const waiting = new Set();
  const server = createServer((incoming, response) => {
    let body = "";
    incoming.setEncoding("utf8").on("data", (chunk) => {
      body += chunk;
    });
    incoming.on("end", () => {
      const thread = incoming.url.endsWith("/chat.postMessage") ? new URLSearchParams(body).get("thread_ts") : null;
      const number = parseInt(thread ?? /\/(?:issues|billing)\/(\d+)/.exec(incoming.url)?.[1], 10);
      if (!Number.isNaN(number)) replies.set(number, (replies.get(number) ?? 0) + 1);
      response.writeHead(201, { "content-type": "application/json" });
      response.end(JSON.stringify({ id: number, ok: true, ts: `${number}.000200`, user_id: "U0BOT", bot_id: "B0BOT" }));
      for (const wake of waiting) wake();
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    /** How often each delivery was answered. */
    replies: () => replies,
    forget: () => {
      replies = new Map();
    },
    /** Resolves when that many have a reply, or after `ms` milliseconds. */
    reached: (count, ms) =>
      new Promise((resolve) => {
        const done = () => {
          waiting.delete(check);
          clearTimeout(timer);
          resolve();
        };
        const check = () => {
          if (replies.size >= count) done();
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
  SLACK_API_URL: `${recorder.url}/slack/`,
  SLACK_BOT_TOKEN: "xoxb-storm",
  SLACK_SIGNING_SECRET: secret,
});

/**
 * Delivers `count` webhooks to a channel within `ms` milliseconds, evenly, whatever the answers take, with `streams` sessions followed
 * meanwhile. Gives the milliseconds to each acknowledgement, the statuses that were no success, and how many events each
 * stream got.
 */
export async function storm(base, channel, { count, ms, streams }) {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const followed = await Promise.all(Array.from({ length: streams }, () => follow(base)));
  const began = performance.now();
  const sent = Array.from({ length: count }, async (_, at) => {
    await pause(Math.max(0, began + (at * ms) / count - performance.now()));
    return deliver(base, agent, deliveries[channel](at + 1));
  });
  const answers = await Promise.all(sent);
  agent.destroy();
  const events = followed.map((each) => each.close());
  return {
    times: answers.map((each) => each.ms).sort((left, right) => left - right),
    refused: answers.filter((each) => each.status !== 202 && each.status !== 200).map((each) => each.status),
    events,
  };
}

function deliver(base, agent, { path, body, headers }) {
  const length = Buffer.byteLength(body);
  const started = performance.now();
  return new Promise((resolve, reject) => {
    const sending = request(
      `${base}/v1/channels/${path}`,
      { method: "POST", agent, headers: { "content-type": "application/json", "content-length": length, ...headers } },
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
