/** A turn's reply in its thread: posted whole, or growing before the reader's eyes. */
import type { WebClient } from "@slack/web-api";
import type { SlackConversation } from "../../authoring/channels/slack.js";
import type { ChannelEventContext } from "../../authoring/channels.js";
import type { SessionEvent } from "../../session/event.js";
import type { Log } from "../../session/ports.js";
import { reasonOf } from "./client.js";
import { conversationOfKey, formatKey, isNewThreadKey } from "./conversation.js";
import { toMessages } from "./mrkdwn.js";
import type { Outbox } from "./outbox.js";
import { createStreamedReply, firstPart, type StreamedReply } from "./streamed.js";

export interface ReplyWriter {
  /** A turn begins. */
  begin(event: SessionEvent): void;
  /** Shows the text so far of a message that is being written. */
  grow(event: SessionEvent, ctx: ChannelEventContext, markdown: string): Promise<void>;
  /** What was shown stays as it is; what comes next is a message of its own, below what is posted meanwhile. */
  seal(event: SessionEvent, ctx: ChannelEventContext): Promise<void>;
  /** Whether something of this turn is shown that will be edited. */
  isShown(event: SessionEvent): Promise<boolean>;
  /** The whole reply: what was shown is put right, what does not fit follows. */
  deliver(event: SessionEvent, ctx: ChannelEventContext, markdown: string): Promise<void>;
  /** Nothing more is shown of this turn by itself. */
  end(event: SessionEvent): Promise<void>;
  /** Posts once, as the last word of the turn. */
  post(event: SessionEvent, ctx: ChannelEventContext, name: string, text: string): Promise<string>;
}

interface Growing {
  readonly turnId: string;
  readonly stream: StreamedReply;
  readonly ts: string;
  text: string;
}

/** What Slack says of a message that can be edited no more. */
const gone = /message_not_found|cant_update_message|edit_window_closed/;

/** Where the session's conversation is. */
export function targetOf({ channel }: ChannelEventContext): SlackConversation {
  const target = conversationOfKey(channel.continuationToken);
  if (target !== undefined) return target;
  throw new Error(`"${channel.continuationToken}" is no conversation in Slack`);
}

/** @param once Makes each call once: an edit that shows a part of the reply is overtaken by the next. */
export function createReplyWriter(
  client: () => WebClient,
  once: () => WebClient,
  outbox: Outbox,
  log: Log,
): ReplyWriter {
  const openedAt = new Date().toISOString();
  const growing = new Map<string, Growing>();

  /** Posts once. The first post of a conversation that has no thread begins one, and names the session after it. */
  async function post(
    event: SessionEvent,
    ctx: ChannelEventContext,
    name: string,
    text: string,
    isFinal: boolean,
  ): Promise<string> {
    const target = targetOf(ctx);
    const ts = await outbox.post(event, name, target, { text }, isFinal);
    if (isNewThreadKey(ctx.channel.continuationToken)) {
      await ctx.setContinuationToken(formatKey({ channelId: target.channelId, threadTs: ts }));
    }
    return ts;
  }

  async function edit(ctx: ChannelEventContext, ts: string, text: string): Promise<void> {
    await client().chat.update({ channel: targetOf(ctx).channelId, ts, text });
  }

  /** Name of the first message of a reply. A question in between is what begins another one; it outlives the process. */
  async function nameOf(event: SessionEvent): Promise<string> {
    return `reply:${await outbox.count(event.sessionId, turnOf(event), "approval:")}`;
  }

  const shown = async (event: SessionEvent) => outbox.find(event.sessionId, turnOf(event), await nameOf(event));

  async function end(event: SessionEvent): Promise<Growing | undefined> {
    const held = growing.get(event.sessionId);
    growing.delete(event.sessionId);
    await held?.stream.end();
    return held;
  }

  return {
    begin(event) {
      // What is older may be told for the second time.
      if (event.at > openedAt) outbox.begin(event.sessionId, turnOf(event));
    },

    post: (event, ctx, name, text) => post(event, ctx, name, text, true),

    async grow(event, ctx, markdown) {
      if (markdown.trim() === "") return;
      const held = growing.get(event.sessionId);
      if (held !== undefined && held.turnId === turnOf(event)) {
        held.text = markdown;
        held.stream.grow(markdown);
        return;
      }
      const ts = await post(event, ctx, await nameOf(event), firstPart(markdown), false);
      const stream = createStreamedReply(once, targetOf(ctx), ts, log);
      growing.set(event.sessionId, { turnId: turnOf(event), stream, ts, text: markdown });
    },

    async seal(event, ctx) {
      const held = await end(event);
      if (held !== undefined) await edit(ctx, held.ts, firstPart(held.text));
    },

    isShown: async (event) => (await shown(event)) !== undefined,

    async deliver(event, ctx, markdown) {
      const [first, ...rest] = toMessages(markdown);
      if (first === undefined) return;
      const name = await nameOf(event);
      let ts = await shown(event);
      if (ts === undefined) ts = await post(event, ctx, name, first, true);
      else {
        try {
          await edit(ctx, ts, first);
        } catch (error) {
          if (!gone.test(reasonOf(error))) throw error;
          await post(event, ctx, `${name}:again`, first, true);
        }
      }
      const target = targetOf(ctx);
      const thread = isNewThreadKey(ctx.channel.continuationToken) ? { ...target, threadTs: ts } : target;
      for (const [at, text] of rest.entries()) {
        await outbox.post(event, `${name}:${at + 1}`, thread, { text }, true);
      }
    },

    async end(event) {
      await end(event);
    },
  };
}

function turnOf({ turnId = "" }: SessionEvent): string {
  return turnId;
}
