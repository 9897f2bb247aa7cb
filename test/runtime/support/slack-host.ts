/** A host whose one channel, `slack`, is carried out by the Slack pack against a fake Slack. */

import { afterEach, vi } from "vitest";
import { type SlackChannelOptions, slackChannel } from "../../../runtime/authoring/channels/slack.js";
import type { HostOptions } from "../../../runtime/host/options.js";
import { packFacts } from "../../../runtime/manifest/packs.js";
import { type AgentParts, makeBundle } from "./bundle.js";
import { type FakeSlack, signingSecret, startFakeSlack } from "./fake-slack.js";
import { startHost, type TestHost } from "./host.js";

export interface SlackHost extends TestHost {
  readonly slack: FakeSlack;
  /** Where Slack sends events. */
  readonly events: string;
}

afterEach(() => {
  vi.unstubAllEnvs();
});

/** The manifest's row and the definition of a Slack channel. */
export function slackParts(
  options: SlackChannelOptions,
  parts: AgentParts = {},
  definition: unknown = slackChannel(options),
): AgentParts {
  const channel = {
    id: "channel:slack",
    source: "bot/channels/slack.ts:1",
    layer: "project" as const,
    name: "slack",
    pack: "slack",
    routes: [],
    events: [...new Set([...(packFacts.slack?.events ?? []), ...Object.keys(options.events ?? {})])].sort(),
  };
  return {
    ...parts,
    manifest: { ...parts.manifest, channels: [channel] },
    definitions: { ...parts.definitions, "channel:slack": definition },
  };
}

export async function startSlackHost(
  options: SlackChannelOptions = {},
  parts: AgentParts = {},
  host: HostOptions & {
    readonly slack?: FakeSlack;
    readonly env?: Readonly<Record<string, string>>;
    /** The channel itself, where something else has to name it. */
    readonly definition?: unknown;
    /** Of the code; another one is an update of the bot. */
    readonly hash?: string;
  } = {},
): Promise<SlackHost> {
  const { slack = await startFakeSlack(), env = {}, definition, hash = "sha256:one", ...hostOptions } = host;
  const variables = {
    SLACK_API_URL: slack.url,
    SLACK_BOT_TOKEN: "xoxb-test-token",
    SLACK_SIGNING_SECRET: signingSecret,
    ...env,
  };
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  const started = await startHost(makeBundle([slackParts(options, parts, definition)], { hash }), {
    dev: true,
    ...hostOptions,
  });
  return Object.assign(started, { slack, events: `${started.base}/v1/channels/slack/events` });
}
