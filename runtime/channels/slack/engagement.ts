/** Which channel posts are heard without a mention. */
import type { WebClient } from "@slack/web-api";
import type { SlackChannelOptions, SlackMessage } from "../../authoring/channels/slack.js";
import type { Log } from "../../session/ports.js";
import { reasonOf } from "./client.js";

/** Whether a post in a channel is the agent's business. */
export type IsEngaged = (message: SlackMessage) => Promise<boolean>;

/** How long a channel's name is believed, in milliseconds. */
const nameLife = 10 * 60_000;

export function createEngagement(options: SlackChannelOptions, client: () => WebClient, log: Log): IsEngaged {
  const { channelPosts } = options.engagement ?? {};
  if (channelPosts === undefined) return () => Promise.resolve(false);
  const { posts = "top-level" } = channelPosts;
  const ids = new Set(channelPosts.allow.filter(isId));
  const names = new Set(channelPosts.allow.filter((each) => !isId(each)).map((each) => each.replace(/^#/, "")));
  const known = new Map<string, { readonly name: string | undefined; readonly at: number }>();

  async function nameOf(channel: string): Promise<string | undefined> {
    const before = known.get(channel);
    if (before !== undefined && Date.now() - before.at < nameLife) return before.name;
    try {
      const { channel: found } = await client().conversations.info({ channel });
      known.set(channel, { name: found?.name, at: Date.now() });
      return found?.name;
    } catch (error) {
      log("warn", `slack: the name of channel ${channel} could not be read: ${reasonOf(error)}`);
      return before?.name;
    }
  }

  return async ({ channelId, threadTs, ts }) => {
    if (posts === "top-level" && threadTs !== undefined && threadTs !== ts) return false;
    if (ids.has(channelId)) return true;
    if (names.size === 0) return false;
    const name = await nameOf(channelId);
    return name !== undefined && names.has(name);
  };
}

/** Names of channels are lower case. */
function isId(channel: string): boolean {
  return /^[CG][A-Z0-9]+$/.test(channel);
}
