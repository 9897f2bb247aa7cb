/** The line below a thread that tells what the agent is doing. Slack takes it away when the app posts. */
import { setTimeout as delay } from "node:timers/promises";
import type { WebClient } from "@slack/web-api";
import type { SlackConversation } from "../../authoring/channels/slack.js";
import type { Log } from "../../session/ports.js";
import { reasonOf } from "./client.js";

export interface StatusLines {
  /** Shows a text, soon: of several that follow each other closely, the last. */
  show(sessionId: string, target: SlackConversation, status: string, loading?: readonly string[]): void;
  /**
   * Nothing is shown from here on; resolves when no call is under way.
   *
   * @param clear Take the line away: nothing is going to be posted that would.
   */
  end(sessionId: string, clear: boolean): Promise<void>;
}

interface Line {
  readonly target: SlackConversation;
  wanted: { readonly status: string; readonly loading: readonly string[] } | undefined;
  shown: string | undefined;
  running: Promise<void> | undefined;
  timer: NodeJS.Timeout | undefined;
  lastAt: number;
}

/** Milliseconds between two texts of one thread. */
const interval = 1_500;
/** Milliseconds that a reply waits for the line above it. */
const patienceMs = 2_000;
/** Slack shows about as much. */
const maxLength = 50;

/** @param client Makes each call once: what the line said is stale by the time that Slack would take it. */
export function createStatusLines(client: () => WebClient, log: Log): StatusLines {
  const lines = new Map<string, Line>();
  /** Said once: an app without the permission would fail with each turn. */
  let isRefused = false;

  async function call(line: Line, status: string, loading: readonly string[]): Promise<void> {
    const { channelId, threadTs } = line.target;
    if (threadTs === undefined || isRefused) return;
    try {
      await client().assistant.threads.setStatus({
        channel_id: channelId,
        thread_ts: threadTs,
        status,
        ...(loading.length > 0 && { loading_messages: loading.slice(0, 10) }),
      });
    } catch (error) {
      const reason = reasonOf(error);
      isRefused = /scope|not_allowed|unknown_method|invalid_auth|is not set/.test(reason);
      log(isRefused ? "warn" : "debug", `slack: the status line could not be set: ${reason}`);
    }
  }

  function pump(line: Line): void {
    if (line.running !== undefined || line.timer !== undefined || line.wanted === undefined) return;
    const wait = line.lastAt + interval - Date.now();
    if (wait > 0) {
      line.timer = setTimeout(() => {
        line.timer = undefined;
        pump(line);
      }, wait).unref();
      return;
    }
    const { status, loading } = line.wanted;
    line.wanted = undefined;
    if (status === line.shown) return;
    line.shown = status;
    line.lastAt = Date.now();
    line.running = call(line, status, loading).finally(() => {
      line.running = undefined;
      pump(line);
    });
  }

  return {
    show(sessionId, target, status, loading = []) {
      if (target.threadTs === undefined) return;
      let line = lines.get(sessionId);
      if (line === undefined || line.target.threadTs !== target.threadTs) {
        line = { target, wanted: undefined, shown: undefined, running: undefined, timer: undefined, lastAt: 0 };
        lines.set(sessionId, line);
      }
      line.wanted = { status: shorten(status), loading };
      pump(line);
    },
    async end(sessionId, clear) {
      // Decoration: a reply does not wait for a call that hangs, whose line is then taken away when it has come through.
      const line = lines.get(sessionId);
      if (line === undefined) return;
      lines.delete(sessionId);
      clearTimeout(line.timer);
      line.wanted = undefined;
      const { running, shown } = line;
      if (shown === undefined) return;
      const done = Promise.resolve(running).then(() => (clear ? call(line, "", []) : undefined));
      const late = await Promise.race([done.then(() => false), delay(patienceMs, true, { ref: false })]);
      if (late && !clear) void done.then(() => call(line, "", []));
    },
  };
}

function shorten(status: string): string {
  const line = status.replace(/\s+/g, " ").trim();
  return line.length <= maxLength ? line : `${line.slice(0, maxLength - 1).trimEnd()}…`;
}
