/** What a built server answers to webhooks that are none: its sections throw what its core has to know. */
import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { emitProject } from "./support/emitted.js";

const channel = `import { githubChannel } from "@cursor/bdk/channels/github";
export default githubChannel({ onPush: () => null });
`;

test("a signature that does not fit is 401, a request without GitHub's headers 400, on server.mjs", async () => {
  const bot = await emitProject({});
  await bot.build({ "bot/channels/github.ts": channel });
  const url = await bot.start({ GITHUB_WEBHOOK_SECRET: "s" });
  const body = '{"zen":"x"}';
  const post = async (sent: string, headers: Record<string, string>) => {
    const signature = `sha256=${createHmac("sha256", "s").update(body).digest("hex")}`;
    const all = { "content-type": "application/json", "x-hub-signature-256": signature, ...headers };
    const answer = await fetch(`${url}/v1/channels/github`, { method: "POST", body: sent, headers: all });
    return [answer.status, ((await answer.json()) as { error?: string }).error];
  };
  const ping = { "x-github-event": "ping", "x-github-delivery": "1" };
  expect(await post(body, ping)).toEqual([200, undefined]);
  expect(await post('{"zen":"y"}', ping)).toEqual([401, "unauthorized"]);
  expect(await post(body, {})).toEqual([400, "invalid_request"]);
  await bot.kill();
});
