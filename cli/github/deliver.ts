import { randomUUID } from "node:crypto";
import { prefixed } from "../../runtime/manifest/packs.js";
import { type AgentClient, reach } from "../client/agent-client.js";
import { failure, usageFailure } from "../exit.js";
import type { Webhook } from "./source.js";

export interface DeliverOptions {
  /** Name of the GitHub channel, where there are several. */
  readonly channel: string | undefined;
  readonly prefix: string | undefined;
  readonly isDryRun: boolean;
}

/** What became of the delivery. */
export interface Delivered {
  readonly deliveryId: string;
  readonly sessionId?: string;
  /** Why nothing came of it. */
  readonly ignored?: string;
  readonly task?: "started" | "not run";
}

interface ChannelInfo {
  readonly name: string;
  readonly pack?: string;
  readonly options?: { readonly envPrefix?: unknown };
}

/** Delivers a webhook to the agent's GitHub channel as GitHub does, signed when the secret is there, and waits. */
export async function deliverWebhook(
  client: AgentClient,
  { event, payload }: Webhook,
  { channel: name, prefix, isDryRun }: DeliverOptions,
): Promise<Delivered> {
  const channel = await chooseChannel(client, name);
  const secretName = prefixed(prefix, "GITHUB_WEBHOOK_SECRET");
  const secret = process.env[secretName] ?? "";
  const body = JSON.stringify(payload);
  const deliveryId = `replay-${randomUUID()}`;
  const { sign } = await import("@octokit/webhooks-methods");
  const response = await reach(`${client.url}/v1/channels/${encodeURIComponent(channel)}`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "x-github-event": event,
      "x-github-delivery": deliveryId,
      prefer: "wait",
      ...(secret !== "" && { "x-hub-signature-256": await sign(secret, body) }),
      ...(isDryRun && { "bdk-dry-run": "true" }),
    },
    body,
  });
  const answer = (await response.json().catch(() => ({}))) as Partial<Delivered> & { readonly message?: string };
  if (response.ok) return { ...answer, deliveryId };
  throw failure("serverRefused", {
    message:
      response.status === 500
        ? `the channel "${channel}" failed on this ${event}; the server's log says why`
        : `the channel "${channel}" answered ${response.status}: ${answer.message ?? "no reason given"}`,
    ...(response.status === 401 && { help: `it is signed with ${secretName}: set the one that the server has` }),
  });
}

async function chooseChannel(client: AgentClient, name: string | undefined): Promise<string> {
  const { agents } = await client.info();
  const channels = (agents[0]?.channels ?? []) as readonly ChannelInfo[];
  const found = channels.filter((each) => each.pack === "github" && (name ?? each.name) === each.name);
  const [only] = found;
  if (only !== undefined && found.length === 1) return only.name;
  const all = channels.flatMap((each) => (each.pack === "github" ? [each.name] : []));
  throw usageFailure("badArgument", {
    message: only === undefined ? "the agent has no such GitHub channel" : "the agent has several GitHub channels",
    help:
      all.length === 0
        ? "add one: bot/channels/github.ts with githubChannel()"
        : `there is --channel ${all.join(", --channel ")}`,
  });
}
