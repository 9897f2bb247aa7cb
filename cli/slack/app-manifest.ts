/** The manifest of the Slack app that a project's channel needs. Source: docs.slack.dev, "App manifest reference". */
import type { AgentManifest, ChannelEntry } from "../../runtime/manifest/schema.js";

/** How Slack reaches the bot. */
export type Transport = { readonly is: "http"; readonly url: string } | { readonly is: "socket" };

/** What the channel's options ask of Slack. */
interface Needs {
  /** Posts are heard without a mention. */
  readonly hearsPosts: boolean;
  readonly suggestedPrompts: readonly { readonly title: string; readonly message: string }[];
}

export type AppManifest = Readonly<Record<string, unknown>>;

/** Slack refuses longer names and descriptions. */
const longest = { name: 35, botName: 80, description: 140, assistant: 300 } as const;

/**
 * The app manifest: the scopes that the pack's calls need, the events that it hears, and where they go.
 *
 * @example createAppManifest(agent, channel, { is: "socket" }) // { display_information: …, settings: { socket_mode_enabled: true, … } }
 */
export function createAppManifest(agent: AgentManifest, channel: ChannelEntry, transport: Transport): AppManifest {
  const { hearsPosts, suggestedPrompts } = readNeeds(channel);
  const description = typeof agent.description === "string" ? agent.description : `The agent ${agent.name}`;
  const request = transport.is === "http" ? { request_url: transport.url } : {};
  return {
    display_information: {
      name: shorten(agent.name, longest.name),
      description: shorten(description, longest.description),
    },
    features: {
      app_home: { home_tab_enabled: false, messages_tab_enabled: true, messages_tab_read_only_enabled: false },
      bot_user: { display_name: shorten(agent.name, longest.botName), always_online: true },
      assistant_view: {
        assistant_description: shorten(description, longest.assistant),
        ...(suggestedPrompts.length > 0 && { suggested_prompts: suggestedPrompts }),
      },
    },
    oauth_config: { scopes: { bot: scopes(hearsPosts) } },
    settings: {
      event_subscriptions: { ...request, bot_events: botEvents(hearsPosts) },
      interactivity: { is_enabled: true, ...request },
      org_deploy_enabled: false,
      socket_mode_enabled: transport.is === "socket",
      token_rotation_enabled: false,
    },
  };
}

/** What the environment alone tells is assumed to be wanted. */
function readNeeds({ options = {} }: ChannelEntry): Needs {
  const { channelPosts, suggestedPrompts } = options;
  return {
    hearsPosts: channelPosts !== undefined,
    suggestedPrompts: Array.isArray(suggestedPrompts) ? (suggestedPrompts as Needs["suggestedPrompts"]) : [],
  };
}

/**
 * `…:history` also serves to find out, after an answer was lost, whether a reply has arrived; `…:read` to know a channel
 * by its name.
 */
function scopes(hearsPosts: boolean): readonly string[] {
  return [
    "app_mentions:read",
    "assistant:write",
    "channels:history",
    ...(hearsPosts ? ["channels:read"] : []),
    "chat:write",
    "groups:history",
    ...(hearsPosts ? ["groups:read"] : []),
    "im:history",
    "mpim:history",
  ];
}

function botEvents(hearsPosts: boolean): readonly string[] {
  return [
    "app_mention",
    "assistant_thread_started",
    ...(hearsPosts ? ["message.channels", "message.groups"] : []),
    "message.im",
  ];
}

function shorten(text: string, limit: number): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= limit ? line : `${line.slice(0, limit - 1).trimEnd()}…`;
}
