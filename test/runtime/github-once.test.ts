/** Each delivery once, in its conversation's order, whatever its handler does. */
import { describe, expect, test } from "vitest";
import { defaultGitHubAuth, type GitHubContext } from "../../runtime/authoring/channels/github.js";
import { deliver, payloads, startGitHubHost } from "./support/github-host.js";

/** A handler that notes what it is told, and ignores it. */
function noted() {
  const told: GitHubContext[] = [];
  const onPush = (ctx: GitHubContext) => {
    told.push(ctx);
    return null;
  };
  return { told, options: { onPush } };
}

describe("once", () => {
  test("the same delivery twice, one after another and at the same moment, runs once; after a restart too", async () => {
    const { told, options } = noted();
    const { at, github, stateRoot, close } = await startGitHubHost(options);
    const again = () => deliver(at, "push", payloads.push, { id: "same" });
    const answers = await Promise.all(Array.from({ length: 20 }, again));
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(1);
    expect(answers.filter(({ body }) => body.ignored === "delivered before")).toHaveLength(19);
    await expect.poll(() => told).toHaveLength(1);
    expect(await again()).toMatchObject({ status: 200, body: { ignored: "delivered before" } });
    await close();
    const next = await startGitHubHost(options, {}, { github, stateRoot });
    expect(await deliver(next.at, "push", payloads.push, { id: "same" })).toMatchObject({ status: 200 });
    expect((await deliver(next.at, "push", payloads.push, { id: "other" })).status).toBe(202);
    await expect.poll(() => told).toHaveLength(2);
    expect(told.map((ctx) => ctx.deliveryId)).toEqual(["same", "other"]);
  });

  test("a handler that fails is logged, and GitHub may deliver the same again", async () => {
    let calls = 0;
    const { at, lines } = await startGitHubHost({
      onPush: () => {
        calls += 1;
        if (calls === 1) throw new Error("the database is away");
        return null;
      },
    });
    const again = () => deliver(at, "push", payloads.push, { id: "retry" });
    expect((await again()).status).toBe(202);
    await expect.poll(() => lines.some(({ message }) => message.includes("the database is away"))).toBe(true);
    expect((await again()).status).toBe(202);
    await expect.poll(() => calls).toBe(2);
    expect((await again()).status).toBe(200);
  });

  test("deliveries of one pull request are handled one after another, those of others beside them", async () => {
    const order: string[] = [];
    let release = () => undefined as unknown;
    const held = new Promise<void>((done) => {
      release = done;
    });
    const { at } = await startGitHubHost({
      onIssueComment: async (_ctx, comment) => {
        if (comment.body === "first") await held;
        order.push(comment.body);
        return null;
      },
      onPush: () => {
        order.push("push");
        return null;
      },
    });
    await deliver(at, "issue_comment", payloads.comment("first"));
    await deliver(at, "issue_comment", payloads.comment("second"));
    await deliver(at, "push", payloads.push);
    await expect.poll(() => order).toEqual(["push"]);
    release();
    await expect.poll(() => order).toEqual(["push", "first", "second"]);
  });

  test("what is neither a dispatch nor null is told in the log", async () => {
    const { at, lines } = await startGitHubHost({ onPush: () => ({ title: "no auth" }) as never });
    expect((await deliver(at, "push", payloads.push)).status).toBe(202);
    await expect
      .poll(() => lines.map(({ message }) => message).join("\n"))
      .toContain("must return { auth }, { task } or null");
  });

  test("hosted: 202 with an empty body, and still once", async () => {
    const { told, options } = noted();
    const { at } = await startGitHubHost(options, {}, { hosted: true });
    for (let time = 0; time < 2; time += 1) {
      expect(await deliver(at, "push", payloads.push, { id: "hosted" })).toEqual({ status: 202, body: {} });
    }
    await expect.poll(() => told).toHaveLength(1);
  });

  test("defaultGitHubAuth is the repository, with the sender in its claims", () => {
    const repository = { owner: "acme", name: "checkout", fullName: "acme/checkout" };
    expect(defaultGitHubAuth({ repository, sender: { login: "mona", isBot: false } })).toEqual({
      kind: "channel",
      id: "github:acme/checkout",
      claims: { sender: "mona" },
    });
  });
});
