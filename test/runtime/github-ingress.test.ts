/** What the GitHub pack lets in: who signed the very bytes, once for each delivery, and every payload that GitHub documents. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import type { GitHubChannelOptions, GitHubContext } from "../../runtime/authoring/channels/github.js";
import { createHost } from "../../runtime/host/index.js";
import { makeBundle } from "./support/bundle.js";
import {
  deliver,
  githubParts,
  headSha,
  payloads,
  signatureOf,
  startGitHubHost,
  webhookSecret,
} from "./support/github-host.js";
import { call, temporaryFolder } from "./support/host.js";

type Payload = Readonly<Record<string, unknown>>;
const examples = createRequire(import.meta.url)("@octokit/webhooks-examples") as readonly {
  readonly name: string;
  readonly examples: readonly Payload[];
}[];
const vectors = resolve("../shared/vectors/webhooks");

/** Options that note what every handler is told. */
function noted(extra: GitHubChannelOptions = {}) {
  const told: { handler: string; ctx: GitHubContext; payload: Payload }[] = [];
  const note = (handler: string) => (ctx: GitHubContext, payload: unknown) => {
    told.push({ handler, ctx, payload: payload as Payload });
    return null;
  };
  const options: GitHubChannelOptions = {
    onPullRequest: note("onPullRequest"),
    onIssueComment: note("onIssueComment"),
    onReviewComment: note("onReviewComment"),
    onReview: note("onReview"),
    onIssue: note("onIssue"),
    onCheckRun: note("onCheckRun"),
    onCheckSuite: note("onCheckSuite"),
    onPush: note("onPush"),
    onEvent: note("onEvent"),
    ...extra,
  };
  return { told, options };
}

const all = [
  "onPullRequest onIssueComment onReviewComment onReview onIssue onCheckRun onCheckSuite onPush onEvent",
].flatMap((names) => names.split(" "));

describe("signatures", () => {
  test("the documented vector is right: signed, and then no JSON; every byte changed is 401", async () => {
    const { github: vector } = JSON.parse(readFileSync(`${vectors}/signatures.json`, "utf8")) as {
      github: { header: string; secret: string; body: string; expected: string };
    };
    const { at } = await startGitHubHost(noted().options);
    const post = (body: string | Uint8Array<ArrayBuffer>, signature: string | undefined) =>
      fetch(at, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          "x-github-event": "push",
          "x-github-delivery": "vector",
          ...(signature !== undefined && { [vector.header]: signature }),
        },
        body,
      });
    expect(vector.secret).toBe(webhookSecret);
    expect(signatureOf(vector.body, vector.secret)).toBe(vector.expected);
    expect((await post(vector.body, vector.expected)).status).toBe(400);
    for (let index = 0; index < vector.body.length; index += 1) {
      const bytes = new Uint8Array(Buffer.from(vector.body));
      bytes[index] = (bytes[index] ?? 0) ^ 1;
      expect((await post(bytes, vector.expected)).status).toBe(401);
    }
    for (const wrong of [
      undefined,
      "",
      "sha256=",
      vector.expected.slice(0, -1),
      vector.expected.replace("sha256", "sha1"),
    ]) {
      expect((await post(vector.body, wrong)).status).toBe(401);
    }
    const changed = [
      new Uint8Array(Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(vector.body)])),
      new Uint8Array(Buffer.concat([Buffer.from(vector.body), Buffer.from([0xff])])),
      new Uint8Array(),
    ];
    for (const bytes of changed) expect((await post(bytes, vector.expected)).status).toBe(401);
  });

  test("bytes that are no UTF-8 are refused, whoever signed them", async () => {
    const { at } = await startGitHubHost(noted().options);
    const bytes = new Uint8Array(Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff]), Buffer.from('"}')]));
    const headers = { "x-github-event": "push", "x-github-delivery": "1", "x-hub-signature-256": signatureOf(bytes) };
    expect((await fetch(at, { method: "POST", headers, body: bytes })).status).toBe(401);
  });

  test("the secret of another is refused; the pack's prefix names its own", async () => {
    const { told, options } = noted({ envPrefix: "TRIAGE" });
    const env = { TRIAGE_GITHUB_WEBHOOK_SECRET: "own", GITHUB_WEBHOOK_SECRET: webhookSecret };
    const { at } = await startGitHubHost(options, {}, { env });
    expect((await deliver(at, "push", payloads.push)).status).toBe(401);
    expect((await deliver(at, "push", payloads.push, { secret: "own" })).status).toBe(202);
    await expect.poll(() => told).toHaveLength(1);
  });

  test("without a secret: this machine is let in, a proxy is not, and a server for others refuses to start", async () => {
    const { told, options } = noted();
    const env = { GITHUB_WEBHOOK_SECRET: "" };
    const { at, lines } = await startGitHubHost(options, {}, { env });
    const unsigned = { "x-hub-signature-256": "" };
    expect((await deliver(at, "push", payloads.push, { headers: unsigned })).status).toBe(202);
    await expect.poll(() => told).toHaveLength(1);
    const forwarded = { ...unsigned, "x-forwarded-for": "203.0.113.9" };
    expect((await deliver(at, "push", payloads.push, { headers: forwarded })).status).toBe(401);
    expect(lines.some(({ message }) => message.includes("GITHUB_WEBHOOK_SECRET is not set"))).toBe(true);
    const bundle = makeBundle([githubParts(options)]);
    const start = createHost(
      bundle,
      { port: 0, host: "0.0.0.0", stateRoot: temporaryFolder(), log: () => undefined },
      {},
    );
    await expect(start).rejects.toThrow(/GITHUB_WEBHOOK_SECRET/);
  });
});

describe("payloads", () => {
  test("every example of every event is accepted, and its handler told; a ping is answered", {
    timeout: 60_000,
  }, async () => {
    const { told, options } = noted();
    const { at } = await startGitHubHost(options);
    const handled: Readonly<Record<string, string>> = {
      pull_request: "onPullRequest",
      issue_comment: "onIssueComment",
      pull_request_review_comment: "onReviewComment",
      pull_request_review: "onReview",
      issues: "onIssue",
      check_run: "onCheckRun",
      check_suite: "onCheckSuite",
      push: "onPush",
    };
    expect(examples).toHaveLength(58);
    const expected: string[] = [];
    for (const { name, examples: payloads } of examples) {
      for (const [index, payload] of payloads.entries()) {
        const { status, body } = await deliver(at, name, payload, { id: `${name}-${index}` });
        expect([name, index, status, body.ok]).toEqual([name, index, name === "ping" ? 200 : 202, true]);
        if (name !== "ping") expected.push(`${handled[name] ?? "onEvent"} ${name}-${index}`);
      }
    }
    await expect.poll(() => told.length).toBe(expected.length);
    expect(told.map(({ handler, ctx }) => `${handler} ${ctx.deliveryId}`).sort()).toEqual(expected.sort());
    for (const { handler, ctx, payload } of told) {
      expect(payload.raw).toEqual(
        examples.find(({ name }) => name === ctx.event)?.examples[Number(ctx.deliveryId.split("-").at(-1))],
      );
      if (
        handler === "onPullRequest" ||
        handler === "onIssue" ||
        handler.endsWith("Comment") ||
        handler === "onReview"
      ) {
        expect(payload).toMatchObject({ action: expect.stringMatching(/\w/), number: expect.any(Number) });
        expect(payload.url).toMatch(/^https:\/\//);
      }
    }
    expect(new Set(told.map(({ handler }) => handler))).toEqual(new Set(all));
  });

  test("each one unsigned is 401, and signed for another channel's secret too", async () => {
    const { told, options } = noted();
    const { at } = await startGitHubHost(options);
    for (const { name, examples: payloads } of examples) {
      const [payload] = payloads;
      expect((await deliver(at, name, payload, { secret: "wrong" })).status).toBe(401);
      expect((await deliver(at, name, payload, { headers: { "x-hub-signature-256": "" } })).status).toBe(401);
    }
    expect(told).toEqual([]);
  });

  test("what Slack sends is refused: it carries no signature of GitHub's, and no event of GitHub's either", async () => {
    const { told, options } = noted();
    const { at } = await startGitHubHost(options);
    const { slack } = JSON.parse(readFileSync(`${vectors}/signatures.json`, "utf8")) as {
      slack: { headers: Record<string, string> };
    };
    const body = readFileSync(`${vectors}/slack-docs-samples.json`, "utf8");
    const post = (headers: Record<string, string>) => fetch(at, { method: "POST", headers, body });
    expect((await post(slack.headers)).status).toBe(401);
    const answer = await post({ "x-hub-signature-256": signatureOf(body) });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ ok: false, error: "invalid_request" });
    expect(told).toEqual([]);
  });

  test("a form's payload field is read, and a large payload is no larger than GitHub's limit", async () => {
    const { told, options } = noted();
    const { at } = await startGitHubHost(options);
    const form = new URLSearchParams({ payload: JSON.stringify(payloads.push) }).toString();
    const type = { "content-type": "application/x-www-form-urlencoded" };
    expect((await deliver(at, "push", form, { headers: type })).status).toBe(202);
    const large = { ...payloads.push, filler: "x".repeat(3 * 1024 * 1024) };
    expect((await deliver(at, "push", large)).status).toBe(202);
    await expect.poll(() => told.map(({ handler }) => handler)).toEqual(["onPush", "onPush"]);
    expect((await deliver(at, "push", "x".repeat(26 * 1024 * 1024))).status).toBe(413);
  });

  test.each([
    ["[]", "push"],
    ["null", "push"],
    ['"text"', "push"],
    ["{", "push"],
    ['{"__proto__":{"a":1}}', "push"],
  ])("%s is 400", async (body, event) => {
    const { at } = await startGitHubHost(noted().options);
    expect((await deliver(at, event, body)).status).toBe(400);
  });

  test("a payload without what GitHub documents reaches onEvent, or nobody, and breaks nothing", async () => {
    const { told, options } = noted();
    const { at, lines } = await startGitHubHost(options);
    for (const event of ["pull_request", "issue_comment", "pull_request_review", "issues", "made_up"]) {
      expect((await deliver(at, event, { repository: 7, pull_request: "none", issue: [] })).status).toBe(202);
    }
    await expect.poll(() => told).toHaveLength(5);
    expect(new Set(told.map(({ handler }) => handler))).toEqual(new Set(["onEvent"]));
    expect(lines.filter(({ level }) => level === "error")).toEqual([]);
  });
});

describe("what is heard", () => {
  test("events without a handler, and those that webhookEvents leaves out, are answered and ignored", async () => {
    const { told, options } = noted({ onEvent: undefined, webhookEvents: ["push", "star"] });
    const { at } = await startGitHubHost(options);
    const ignored = { status: 200, body: { ok: true, ignored: "no handler for this event" } };
    expect(await deliver(at, "star", { action: "created" })).toMatchObject(ignored);
    expect(await deliver(at, "pull_request", payloads.opened)).toMatchObject(ignored);
    expect((await deliver(at, "push", payloads.push)).status).toBe(202);
    await expect.poll(() => told.map(({ handler }) => handler)).toEqual(["onPush"]);
  });

  test("the bot's own comments are ignored, by its name and by its mark; mentions are told", async () => {
    const { told, options } = noted({ botName: "cart-bot" });
    const { at } = await startGitHubHost(options);
    const own = { status: 200, body: { ignored: "the bot's own comment" } };
    for (const login of ["cart-bot", "Cart-Bot[bot]"]) {
      const from = { login, type: "Bot" };
      expect(await deliver(at, "issue_comment", payloads.comment("done", from))).toMatchObject(own);
    }
    const marked = payloads.comment("done\n\n<!-- bdk:ses_1:12 -->", { login: "someone", type: "User" });
    expect(await deliver(at, "issue_comment", marked)).toMatchObject(own);
    const bodies = ["hey @cart-bot look", "@cart-bot[bot]", "mail me@cart-bot", "@cart-bot-two", "nothing"];
    for (const body of bodies) expect((await deliver(at, "issue_comment", payloads.comment(body))).status).toBe(202);
    // A push by the bot is no comment of its own.
    const pushed = { ...payloads.push, sender: { login: "cart-bot[bot]", type: "Bot" } };
    expect((await deliver(at, "push", pushed)).status).toBe(202);
    await expect.poll(() => told).toHaveLength(6);
    const heard = told.filter(({ handler }) => handler === "onIssueComment");
    expect(heard.map(({ payload }) => [payload.body, payload.mentionsBot])).toEqual([
      [bodies[0], true],
      [bodies[1], true],
      [bodies[2], false],
      [bodies[3], false],
      [bodies[4], false],
    ]);
    expect(told.find(({ handler }) => handler === "onPush")?.ctx.sender).toEqual({
      login: "cart-bot[bot]",
      isBot: true,
    });
  });

  test("what a handler is told", async () => {
    const { told, options } = noted();
    const { at } = await startGitHubHost(options);
    await deliver(at, "pull_request", payloads.opened, { id: "told" });
    await expect.poll(() => told).toHaveLength(1);
    const [{ ctx, payload } = { ctx: undefined, payload: undefined }] = told;
    expect(ctx).toMatchObject({
      event: "pull_request",
      deliveryId: "told",
      repository: { owner: "acme", name: "checkout", fullName: "acme/checkout" },
      sender: { login: "mona", isBot: false },
    });
    expect(payload).toEqual({
      action: "opened",
      number: 42,
      url: "https://github.com/acme/checkout/pull/42",
      title: "Add a cart",
      draft: false,
      merged: false,
      author: "mona",
      headSha,
      headRef: "cart",
      baseRef: "main",
      raw: payloads.opened,
    });
  });

  test("missing headers are 400, other methods 405, other paths 404", async () => {
    const { at } = await startGitHubHost(noted().options);
    const body = JSON.stringify(payloads.push);
    const headers = { "x-hub-signature-256": signatureOf(body) };
    expect((await fetch(at, { method: "POST", headers, body })).status).toBe(400);
    expect((await fetch(at, { method: "POST", headers: { ...headers, "x-github-event": "push" }, body })).status).toBe(
      400,
    );
    expect((await deliver(at, "push", payloads.push, { id: "x".repeat(257) })).status).toBe(400);
    expect((await fetch(at)).status).toBe(405);
    expect((await call(`${at}/more`)).status).toBe(404);
  });
});
