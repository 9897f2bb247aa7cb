/** A reply that grows before the reader's eyes: one message, edited as the text comes. */
import type { WebClient } from "@slack/web-api";
import type { SlackConversation } from "../../authoring/channels/slack.js";
import type { Log } from "../../session/ports.js";
import { reasonOf } from "./client.js";
import { splitMessage, toMrkdwn } from "./mrkdwn.js";

export interface StreamedReply {
  /** The text so far, of one message of the turn; soon to be seen. */
  grow(text: string): void;
  /** Nothing more is shown; resolves when no edit is under way. */
  end(): Promise<void>;
}

/** Milliseconds between two edits: Slack lets an app edit some fifty times a minute. */
const interval = 1_200;

export function createStreamedReply(
  client: () => WebClient,
  { channelId }: SlackConversation,
  ts: string,
  log: Log,
): StreamedReply {
  let wanted: string | undefined;
  let running: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let lastAt = Date.now();
  let hasEnded = false;

  async function edit(text: string): Promise<void> {
    try {
      await client().chat.update({ channel: channelId, ts, text: firstPart(text) });
    } catch (error) {
      // The whole text follows at the end.
      log("debug", `slack: a growing reply could not be edited: ${reasonOf(error)}`);
    }
  }

  function pump(): void {
    if (hasEnded || running !== undefined || timer !== undefined || wanted === undefined) return;
    const wait = lastAt + interval - Date.now();
    if (wait > 0) {
      timer = setTimeout(() => {
        timer = undefined;
        pump();
      }, wait).unref();
      return;
    }
    const text = wanted;
    wanted = undefined;
    lastAt = Date.now();
    running = edit(text).finally(() => {
      running = undefined;
      pump();
    });
  }

  return {
    grow(text) {
      wanted = text;
      pump();
    },
    async end() {
      hasEnded = true;
      clearTimeout(timer);
      await running;
    },
  };
}

/** What fits into one message. */
export function firstPart(markdown: string): string {
  const [first = "…", ...rest] = splitMessage(toMrkdwn(markdown));
  return rest.length === 0 ? first : `${first} …`;
}
