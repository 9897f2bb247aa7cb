/** Slack's event envelopes, read into what the pack acts on. */
import type { SlackMessage } from "../../authoring/channels/slack.js";
import { type Fields, fields, list, text } from "./fields.js";

/** Who the app is in the workspace, as `auth.test` tells. */
export interface SlackIdentity {
  readonly userId?: string | undefined;
  readonly botId?: string | undefined;
}

/** Where a message was said: with the app's mention, to the app alone, or in a channel. */
export type MessageKind = "mention" | "direct" | "post";

/** What an envelope means to the pack. */
export type SlackEvent =
  | {
      readonly is: "message";
      readonly kind: MessageKind;
      readonly message: SlackMessage;
    }
  /** A person opened a conversation with the app in its own pane. */
  | { readonly is: "thread-started"; readonly channelId: string; readonly threadTs: string }
  | { readonly is: "button"; readonly press: ButtonPress }
  /** Nothing to do; `why` is for the log. */
  | { readonly is: "ignored"; readonly why: string };

/** A press of a button that the app posted. */
export interface ButtonPress {
  readonly actionId: string;
  readonly value: string;
  readonly userId: string;
  readonly userName?: string;
  readonly teamId?: string;
  readonly channelId: string;
  /** The message that holds the button. */
  readonly messageTs: string;
}

/** Messages of these kinds are said by someone; others tell of edits, joins and the like. */
const said = new Set([undefined, "file_share", "thread_broadcast", "bot_message", "me_message"]);

/** Reads an `event_callback` envelope, or the payload of an interaction. */
export function readSlackEvent(payload: unknown, identity: SlackIdentity): SlackEvent {
  const envelope = fields(payload);
  if (envelope.type === "block_actions") return readPress(envelope);
  if (envelope.type !== "event_callback") return ignored(`a payload of type ${String(envelope.type)}`);
  const event = fields(envelope.event);
  if (event.type === "assistant_thread_started") return readThreadStart(event);
  if (event.type === "app_mention" || event.type === "message") return readMessage(envelope, event, identity);
  return ignored(`an event of type ${String(event.type)}`);
}

/** What makes a delivery the same as another: Slack's own id of the event, which its repetitions carry too. */
export function deliveryId(payload: unknown): string | undefined {
  const envelope = fields(payload);
  return text(envelope.event_id) ?? text(envelope.trigger_id);
}

function readMessage(envelope: Fields, event: Fields, identity: SlackIdentity): SlackEvent {
  const subtype = text(event.subtype);
  if (!said.has(subtype) || event.hidden === true) return ignored(`a message event of subtype ${subtype ?? "hidden"}`);
  const channelId = text(event.channel);
  const ts = text(event.ts);
  if (channelId === undefined || ts === undefined) return ignored("a message without channel or time");
  const botUser = identity.userId ?? botUserOf(envelope);
  if (isOwn(envelope, event, identity, botUser)) return ignored("the app's own message");

  const author = authorOf(event);
  const raw = text(event.text) ?? "";
  const isMention = event.type === "app_mention";
  const teamId = text(event.team) ?? text(envelope.team_id);
  const threadTs = text(event.thread_ts);
  const message: SlackMessage = {
    text: raw,
    body: [withoutMention(raw, botUser, isMention), ...attachedTexts(event)].filter((part) => part !== "").join("\n"),
    channelId,
    ...(teamId !== undefined && { teamId }),
    ts,
    ...(threadTs !== undefined && { threadTs }),
    ...(author !== undefined && { author }),
  };
  const isDirect = event.channel_type === "im" || channelId.startsWith("D");
  if (isMention && !isDirect) return { is: "message", kind: "mention", message };
  if (isMention) return ignored("a mention in a direct message, which comes as that too");
  if (isDirect) {
    // Slackbot's notices and other apps' messages are not said to the app by anyone.
    return author?.isBot === true ? ignored("a bot's direct message") : { is: "message", kind: "direct", message };
  }
  if (botUser !== undefined && raw.includes(`<@${botUser}`))
    return ignored("a mention, which comes as an event of its own");
  return { is: "message", kind: "post", message };
}

function isOwn(envelope: Fields, event: Fields, identity: SlackIdentity, botUser: string | undefined): boolean {
  const app = text(envelope.api_app_id);
  const from = text(event.app_id) ?? text(fields(event.bot_profile).app_id);
  if (app !== undefined && from === app) return true;
  if (identity.botId !== undefined && event.bot_id === identity.botId) return true;
  return botUser !== undefined && event.user === botUser;
}

/** The bot user that the event was sent for. */
function botUserOf(envelope: Fields): string | undefined {
  for (const each of list(envelope.authorizations)) {
    const { user_id: id, is_bot: isBot } = fields(each);
    if (isBot === true) return text(id);
  }
  return undefined;
}

function authorOf(event: Fields): SlackMessage["author"] | undefined {
  const bot = text(event.bot_id);
  const id = text(event.user) ?? bot;
  if (id === undefined) return undefined;
  const name =
    text(fields(event.user_profile).display_name) ?? text(event.username) ?? text(fields(event.bot_profile).name);
  const isBot = bot !== undefined || id === "USLACKBOT";
  return { id, ...(name !== undefined && { name }), isBot };
}

/** Without the app's mention; when nobody knows who the app is, the mention that the message begins with is its. */
function withoutMention(raw: string, botUser: string | undefined, isMention: boolean): string {
  const own = botUser === undefined ? undefined : new RegExp(`<@${botUser}(?:\\|[^>]*)?>`, "g");
  const without = own === undefined ? raw : raw.replace(own, "");
  const rest = isMention && without === raw ? raw.replace(/^\s*<@[A-Z0-9]+(?:\|[^>]*)?>/, "") : without;
  return rest.replace(/[ \t]{2,}/g, " ").trim();
}

/** Alerts of other apps often say everything in attachments; files are named, not fetched. */
function attachedTexts(event: Fields): readonly string[] {
  const attachments = list(event.attachments).map((each) => {
    const { pretext, title, text: body, fallback } = fields(each);
    const parts = [pretext, title, body].flatMap((part) => text(part) ?? []);
    return parts.length > 0 ? parts.join("\n") : (text(fallback) ?? "");
  });
  const files = list(event.files).flatMap((each) => {
    const { name, mimetype, url_private: url } = fields(each);
    const told = [text(mimetype), text(url)].filter((part) => part !== undefined).join(", ");
    return text(name) === undefined ? [] : [`[file: ${String(name)}${told === "" ? "" : ` (${told})`}]`];
  });
  return [...attachments, ...files];
}

function readThreadStart(event: Fields): SlackEvent {
  const thread = fields(event.assistant_thread);
  const channelId = text(thread.channel_id);
  const threadTs = text(thread.thread_ts);
  if (channelId === undefined || threadTs === undefined) return ignored("a started thread without channel or time");
  return { is: "thread-started", channelId, threadTs };
}

function readPress(payload: Fields): SlackEvent {
  const action = fields(list(payload.actions)[0]);
  const user = fields(payload.user);
  const container = fields(payload.container);
  const actionId = text(action.action_id);
  const value = text(action.value);
  const userId = text(user.id);
  const channelId = text(container.channel_id) ?? text(fields(payload.channel).id);
  const messageTs = text(container.message_ts) ?? text(fields(payload.message).ts);
  if (!actionId || !value || !userId || !channelId || !messageTs) return ignored("an interaction of another kind");
  const userName = text(user.username) ?? text(user.name);
  const teamId = text(fields(payload.team).id) ?? text(user.team_id);
  return {
    is: "button",
    press: {
      actionId,
      value,
      userId,
      ...(userName !== undefined && { userName }),
      ...(teamId !== undefined && { teamId }),
      channelId,
      messageTs,
    },
  };
}

function ignored(why: string): SlackEvent {
  return { is: "ignored", why };
}
