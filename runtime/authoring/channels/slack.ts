/** The Slack pack: a channel that speaks with a Slack app. */
import type { ChannelConfig, ChannelDefinition } from "../channels.js";
import type { HostServices, SessionAuth } from "../host.js";

/** A Slack message. */
export interface SlackMessage {
  /** The text as Slack sent it, mentions included. */
  readonly text: string;
  /** The text without the app's mention. */
  readonly body: string;
  readonly channelId: string;
  readonly teamId?: string;
  readonly ts: string;
  readonly threadTs?: string;
  readonly author?: { readonly id: string; readonly name?: string; readonly isBot?: boolean };
}

/** What a message handler is given besides the message. */
export interface SlackContext {
  readonly host: HostServices;
  readonly thread: { readonly channelId: string; readonly ts: string; post(text: string): Promise<void> };
}

/** Starts a session for a message. `context` lines are told to the model before it. */
export interface SlackDispatch {
  readonly auth: SessionAuth;
  readonly title?: string;
  readonly context?: readonly string[];
}

/** Decides what becomes of a message; `null` ignores it. */
export type SlackMessageHandler = (
  ctx: SlackContext,
  message: SlackMessage,
) => SlackDispatch | null | Promise<SlackDispatch | null>;

/** Options of `slackChannel`. */
export interface SlackChannelOptions {
  /** `TRIAGE` reads `TRIAGE_SLACK_BOT_TOKEN` and so on; default without a prefix. */
  readonly envPrefix?: string | undefined;
  readonly engagement?:
    | {
        readonly channelPosts?: {
          /** Channel ids or `#names`. */
          readonly allow: readonly string[];
          /** Default `top-level`. */
          readonly posts?: "top-level" | "all";
          /** Milliseconds of quiet before posts are taken together. */
          readonly debounceMs?: number;
        };
      }
    | undefined;
  readonly onAppMention?: SlackMessageHandler | undefined;
  readonly onDirectMessage?: SlackMessageHandler | undefined;
  readonly onChannelPost?: SlackMessageHandler | undefined;
  readonly reply?:
    | {
        /** `post` (default) one message at the end, `stream` edits one as it grows, `agent` leaves it to tools. */
        readonly mode?: "post" | "stream" | "agent";
        readonly status?: { readonly reasoning?: boolean; readonly tools?: boolean; readonly idle?: readonly string[] };
      }
    | undefined;
  readonly suggestedPrompts?: readonly { readonly title: string; readonly message: string }[] | undefined;
  readonly suggestedPromptsTitle?: string | undefined;
  /** `slack.dmthread/v2` gives each top-level direct message a session of its own. */
  readonly continuation?: string | undefined;
  readonly events?: ChannelConfig["events"];
}

/** What `slackChannel` returns: a channel that the Slack pack carries out. */
export type SlackChannelDefinition = ChannelDefinition & {
  readonly pack: "slack";
  readonly options: SlackChannelOptions;
};

/**
 * A Slack app as a channel.
 *
 * @example export default slackChannel({ onAppMention: (ctx, message) => ({ auth: defaultSlackAuth(message, ctx) }) });
 */
export function slackChannel(options: SlackChannelOptions = {}): SlackChannelDefinition {
  return { __agentServe: "channel", pack: "slack", routes: [], events: options.events, options };
}

/** The author of a message as the owner of its session. */
export function defaultSlackAuth(message: SlackMessage, _ctx?: SlackContext): SessionAuth {
  const author = message.author?.id ?? "unknown";
  return {
    kind: "channel",
    id: `slack:${message.teamId ?? ""}:${author}`,
    claims: {
      ...(message.author?.name === undefined ? {} : { name: message.author.name }),
      channelId: message.channelId,
    },
  };
}
