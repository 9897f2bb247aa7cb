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

/** The thread that a message belongs to, or would begin. */
export interface SlackThread {
  readonly channelId: string;
  /** `ts` of the thread's first message; for a message that is in none, its own. */
  readonly ts: string;
  /** Posts Markdown into the thread. Rejects with Slack's own error code, such as `channel_not_found`. */
  post(text: string): Promise<void>;
}

/** What a message handler is given besides the message. */
export interface SlackContext {
  readonly host: HostServices;
  readonly thread: SlackThread;
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

/**
 * Options of `slackChannel`. A handler that is left out answers people, as themselves, and of bots only what they post at
 * the top of a channel; channel posts are heard only where `engagement.channelPosts` says.
 */
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
          /** Posts that follow each other within so many milliseconds are taken together, as one turn. Default 0. */
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
        /** The line below a thread while the agent works; `false`: none. Default: that it is thinking. */
        readonly status?:
          | false
          | {
              /** Show what it is thinking about. */
              readonly reasoning?: boolean;
              /** Show which tools it runs. */
              readonly tools?: boolean;
              /** Texts that take turns while there is nothing else to show; ten at most. */
              readonly idle?: readonly string[];
            };
      }
    | undefined;
  readonly suggestedPrompts?: readonly { readonly title: string; readonly message: string }[] | undefined;
  readonly suggestedPromptsTitle?: string | undefined;
  /**
   * `slack.dmthread/v2` gives each top-level direct message a session of its own, answered in its thread. Default: all
   * top-level messages of one person are one conversation.
   */
  readonly continuation?: string | undefined;
  /** Base of Slack's Web API, with a slash at the end. Default `SLACK_API_URL`, else `https://slack.com/api/`. */
  readonly apiUrl?: string | undefined;
  readonly events?: ChannelConfig["events"];
}

/** What `slackChannel` returns: a channel that the Slack pack carries out. */
export type SlackChannelDefinition = ChannelDefinition & {
  readonly pack: "slack";
  readonly options: SlackChannelOptions;
};

/** Where a conversation is: the key of its session, read. */
export interface SlackConversation {
  readonly channelId: string;
  /** Left out: the whole of a direct conversation, or a thread that the first reply will begin. */
  readonly threadTs?: string;
}

/** `C0123456789:1700000000.000100`, or the channel alone. */
export function formatSlackContinuationKey({ channelId, threadTs }: SlackConversation): string {
  return threadTs === undefined ? channelId : `${channelId}:${threadTs}`;
}

/**
 * Reads `ctx.session.continuationKey` of a Slack session; `undefined` for the key of another channel.
 *
 * @example parseSlackContinuationKey("C0123456789:1700000000.000100")?.threadTs // "1700000000.000100"
 */
export function parseSlackContinuationKey(key: string | undefined): SlackConversation | undefined {
  const [, channelId, threadTs] = /^([CDG][A-Z0-9]+)(?::(\d+\.\d+)|:new-[\w-]+)?$/.exec(key ?? "") ?? [];
  if (channelId === undefined) return undefined;
  return threadTs === undefined ? { channelId } : { channelId, threadTs };
}

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
