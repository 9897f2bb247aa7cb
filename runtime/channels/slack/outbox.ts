/**
 * Messages that reach Slack once. Each carries an id as metadata. When nobody knows whether it arrived (an earlier
 * process may have posted it, or the answer was lost), Slack is asked for a message with that id before it is posted.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { ChatPostMessageArguments, WebClient } from "@slack/web-api";
import type { SlackConversation } from "../../authoring/channels/slack.js";
import type { HostKvApi } from "../../authoring/host.js";
import type { JsonValue, SessionEvent } from "../../session/event.js";
import type { Log } from "../../session/ports.js";
import { reasonOf } from "./client.js";
import { fields, list, text } from "./fields.js";

/** What is said: text for notifications and plain views, blocks where it has more than text. */
export interface SlackPost {
  readonly text: string;
  readonly blocks?: readonly Readonly<Record<string, unknown>>[];
}

export interface Outbox {
  /** A turn begins in this process: nothing of it has been posted. */
  begin(sessionId: string, turnId: string): void;
  /**
   * Posts, unless it was posted before.
   *
   * @param event What it is posted for. What is remembered of a session is its last turn.
   * @param name Unique within the turn, such as `reply:0`.
   * @param isFinal Nobody asks for it again in a later process: where it is need not be noted on disk.
   * @returns `ts` of the message.
   */
  post(
    event: Pick<SessionEvent, "sessionId" | "turnId" | "at">,
    name: string,
    target: SlackConversation,
    message: SlackPost,
    isFinal?: boolean,
  ): Promise<string>;
  /** `ts` of what was posted under this name. */
  find(sessionId: string, turnId: string, name: string): Promise<string | undefined>;
  /** How many names of the turn begin so. */
  count(sessionId: string, turnId: string, prefix: string): Promise<number>;
}

/** What was posted in a session's last turn: `ts` by name. */
interface Posted {
  readonly turnId: string;
  readonly posts: Readonly<Record<string, string>>;
  /** The turn began in this process: what is not listed was not posted. */
  readonly isOurs: boolean;
}

export interface OutboxSources {
  /** Makes each call once. */
  readonly client: () => WebClient;
  readonly kv: HostKvApi;
  readonly log: Log;
}

const metadataType = "bdk_post";
const maxAttempts = 9;
const longestWaitMs = 60_000;

export function createOutbox({ client, kv, log }: OutboxSources): Outbox {
  const key = (sessionId: string) => `posts:${sessionId}`;
  const known = new Map<string, Posted>();

  async function read(sessionId: string, turnId: string): Promise<Posted> {
    const held = known.get(sessionId);
    if (held?.turnId === turnId) return held;
    const stored = parse(await kv.get(key(sessionId)));
    return stored?.turnId === turnId ? stored : { turnId, posts: {}, isOurs: false };
  }

  function remember(sessionId: string, posted: Posted): void {
    known.delete(sessionId);
    known.set(sessionId, posted);
    for (const oldest of known.keys()) if (known.size > maxKnown) known.delete(oldest);
  }

  /** The message with this id, if it is among the conversation's newest. */
  async function lookUp(target: SlackConversation, id: string, since: number): Promise<string | undefined> {
    const { channelId: channel, threadTs } = target;
    const range = { oldest: String(since / 1_000), limit: 200, include_all_metadata: true };
    const found =
      threadTs === undefined
        ? await client().conversations.history({ channel, ...range })
        : await client().conversations.replies({ channel, ts: threadTs, ...range });
    for (const each of list(found.messages)) {
      const { metadata, ts } = fields(each);
      const { event_type: type, event_payload: payload } = fields(metadata);
      if (type === metadataType && fields(payload).id === id) return text(ts);
    }
    return undefined;
  }

  /** Never rejects: a conversation that may not be read is one whose message is posted again rather than lost. */
  async function arrived(target: SlackConversation, id: string, since: number): Promise<string | undefined> {
    try {
      return await lookUp(target, id, since);
    } catch (error) {
      log("warn", `slack: can't tell whether a message arrived, so it is posted again: ${reasonOf(error)}`);
      return undefined;
    }
  }

  async function send(
    target: SlackConversation,
    message: SlackPost,
    id: string,
    since: number,
    mayHaveArrived: boolean,
  ): Promise<string> {
    let isDoubtful = mayHaveArrived;
    for (let attempt = 1; ; attempt += 1) {
      const before = isDoubtful ? await arrived(target, id, since) : undefined;
      if (before !== undefined) return before;
      try {
        const { ts } = await client().chat.postMessage(toArguments(target, message, id));
        if (ts === undefined) throw new Error("chat.postMessage answered without ts");
        return ts;
      } catch (error) {
        const again = retryOf(error, attempt);
        if (again === undefined || attempt >= maxAttempts) {
          throw new Error(`posting to ${target.channelId} failed: ${reasonOf(error)}`, { cause: error });
        }
        isDoubtful = again.isDoubtful;
        // A server that shuts down meanwhile has not delivered: the next one begins again here.
        await delay(again.afterMs, undefined, { ref: false });
      }
    }
  }

  return {
    begin(sessionId, turnId) {
      remember(sessionId, { turnId, posts: {}, isOurs: true });
    },
    async post({ sessionId, turnId = "", at }, name, target, message, isFinal = false) {
      const before = await read(sessionId, turnId);
      const earlier = before.posts[name];
      if (earlier !== undefined) return earlier;
      const since = Date.parse(at) - slackMs;
      const ts = await send(target, message, `${turnId}:${name}`, since, !before.isOurs);
      const posted = { ...before, posts: { ...before.posts, [name]: ts } };
      remember(sessionId, posted);
      if (!isFinal) await kv.put(key(sessionId), { turnId, posts: posted.posts });
      return ts;
    },
    async find(sessionId, turnId, name) {
      return (await read(sessionId, turnId)).posts[name];
    },
    async count(sessionId, turnId, prefix) {
      return Object.keys((await read(sessionId, turnId)).posts).filter((name) => name.startsWith(prefix)).length;
    },
  };
}

/** Sessions whose posts are kept in memory. */
const maxKnown = 1_000;
/** How long before its event a message may have been posted, in milliseconds: clocks differ, and a reply grows. */
const slackMs = 3_600_000;

function parse(stored: JsonValue | undefined): Posted | undefined {
  const { turnId, posts } = fields(stored);
  if (typeof turnId !== "string") return undefined;
  const entries = Object.entries(fields(posts)).flatMap(([name, ts]) =>
    typeof ts === "string" ? [[name, ts] as const] : [],
  );
  return { turnId, posts: Object.fromEntries(entries), isOurs: false };
}

function toArguments(target: SlackConversation, message: SlackPost, id: string): ChatPostMessageArguments {
  return {
    channel: target.channelId,
    ...(target.threadTs !== undefined && { thread_ts: target.threadTs }),
    text: message.text,
    ...(message.blocks !== undefined && { blocks: message.blocks }),
    unfurl_links: false,
    unfurl_media: false,
    metadata: { event_type: metadataType, event_payload: { id } },
  } as ChatPostMessageArguments;
}

/** Slack's codes for failures of its own, which pass; whether the message was taken they do not tell. */
const passing: ReadonlySet<string> = new Set([
  "fatal_error",
  "internal_error",
  "request_timeout",
  "service_unavailable",
  "ratelimited",
]);

/** Also what is no code of Slack's at all: the page of a proxy in between. */
function isPassing(error: unknown): boolean {
  const code = text(fields(fields(error).data).error);
  return code !== undefined && (passing.has(code) || !/^[a-z0-9_]+$/.test(code));
}

/** Whether to try again, when, and whether the message may be there already; `undefined`: Slack has refused it. */
function retryOf(
  error: unknown,
  attempt: number,
): { readonly afterMs: number; readonly isDoubtful: boolean } | undefined {
  const { code, retryAfter, statusCode } = fields(error);
  const afterMs = Math.min(longestWaitMs, 250 * 2 ** attempt) * (0.75 + Math.random() / 2);
  if (code === "slack_webapi_rate_limited_error") {
    return { afterMs: typeof retryAfter === "number" ? retryAfter * 1_000 : afterMs, isDoubtful: false };
  }
  if (code === "slack_webapi_request_error" || isPassing(error)) return { afterMs, isDoubtful: true };
  if (code === "slack_webapi_http_error" && typeof statusCode === "number" && statusCode >= 500) {
    return { afterMs, isDoubtful: true };
  }
  return undefined;
}
