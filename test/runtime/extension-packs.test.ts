/** Platform packs that a package brings: each mount has routes, secrets and settings of its own on server.mjs. */
import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { emitProject } from "./support/emitted.js";

const files = {
  "packs/extension.ts": `import { defineExtension } from "@cursor/bdk/extensions";
import { z } from "zod";
export default defineExtension({
  root: import.meta.dirname,
  description: "Hears everyone.",
  config: z.object({ prefix: z.string(), token: z.string().optional() }),
});
`,
  "packs/channels/github.ts": `import { githubChannel } from "@cursor/bdk/channels/github";
import extension from "../extension.js";
export default githubChannel({ envPrefix: extension.config.prefix, onPush: () => null });
`,
  "packs/channels/slack.ts": `import { slackChannel } from "@cursor/bdk/channels/slack";
import extension from "../extension.js";
export default slackChannel({ envPrefix: extension.config.prefix });
`,
  "packs/channels/events.ts": `import { bearerToken, webhookChannel } from "@cursor/bdk/channels";
import extension from "../extension.js";
export default webhookChannel({ verify: bearerToken(() => extension.config.token), map: () => null });
`,
  "bot/extensions/acme.ts": `import packs from "../../packs/extension.js";
export default packs({ prefix: "ACME", token: process.env.ACME_HOOK });
`,
  "bot/extensions/beta.ts": `import packs from "../../packs/extension.js";
export default packs({ prefix: "BETA", token: process.env.BETA_HOOK });
`,
};

test("github, slack and webhook channels of one package, mounted twice: the secrets of one mount open only its own", async () => {
  const bot = await emitProject({});
  await bot.build(files);
  const secrets = ["ACME", "BETA"].flatMap((name) =>
    ["GITHUB_WEBHOOK_SECRET", "SLACK_SIGNING_SECRET"].map((kind) => [`${name}_${kind}`, name] as const),
  );
  const url = await bot.start({ ...Object.fromEntries(secrets), ACME_HOOK: "ACME", BETA_HOOK: "BETA" });
  const sign = (secret: string, text: string) => createHmac("sha256", secret).update(text).digest("hex");
  const post = async (path: string, body: string, headers: Record<string, string>) =>
    (
      await fetch(`${url}/v1/channels/${path}`, {
        method: "POST",
        body,
        headers: { "content-type": "application/json", ...headers },
      })
    ).status;
  const asGitHub = (mount: string, secret: string) =>
    post(`${mount}__github`, "{}", {
      "x-github-event": "ping",
      "x-github-delivery": mount,
      "x-hub-signature-256": `sha256=${sign(secret, "{}")}`,
    });
  const asSlack = (mount: string, secret: string) => {
    const body = JSON.stringify({ type: "url_verification", challenge: "c" });
    const at = String(Math.floor(Date.now() / 1000));
    const signature = `v0=${sign(secret, `v0:${at}:${body}`)}`;
    return post(`${mount}__slack/events`, body, {
      "x-slack-request-timestamp": at,
      "x-slack-signature": signature,
    });
  };
  const asSender = (mount: string, secret: string) =>
    post(`${mount}__events`, '{"id":"1"}', { authorization: `Bearer ${secret}` });

  for (const [mount, own, other] of [
    ["acme", "ACME", "BETA"],
    ["beta", "BETA", "ACME"],
  ] as const) {
    expect([await asGitHub(mount, own), await asGitHub(mount, other)]).toEqual([200, 401]);
    expect([await asSlack(mount, own), await asSlack(mount, other)]).toEqual([200, 401]);
    expect([await asSender(mount, own), await asSender(mount, other)]).toEqual([202, 401]);
  }
  await bot.kill();
});
