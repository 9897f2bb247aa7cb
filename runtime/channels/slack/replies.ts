/** What a session's events become in its thread: status lines, the reply, questions, and what went wrong. */

import type { SlackChannelOptions } from "../../authoring/channels/slack.js";
import type { ChannelEventContext, ChannelEvents } from "../../authoring/channels.js";
import type { JsonValue, SessionEvent } from "../../session/event.js";
import type { Approvals } from "./approvals.js";
import { conversationOfKey } from "./conversation.js";
import { type ReplyWriter, targetOf } from "./reply.js";
import type { StatusLines } from "./status.js";

/** The part of a turn that this process has seen. */
interface TurnView {
  readonly turnId: string;
  /** The message that is being written. */
  growing: { readonly messageId: string; readonly text: string } | undefined;
  /** The reply, once it is whole. */
  reply: string | undefined;
  /** What the model thinks, its last lines. */
  reasoning: string;
}

/** Status lines tell of now: what is older than this, in milliseconds, is left out. */
const freshMs = 30_000;
const thinking = "is thinking…";

export function createReplies(
  options: SlackChannelOptions,
  parts: { readonly writer: ReplyWriter; readonly status: StatusLines; readonly approvals: Approvals },
): ChannelEvents<JsonValue> {
  const { writer, status, approvals } = parts;
  const mode = options.reply?.mode ?? "post";
  const lines = options.reply?.status ?? {};
  const views = new Map<string, TurnView>();

  function viewOf({ sessionId, turnId = "" }: SessionEvent): TurnView {
    let view = views.get(sessionId);
    if (view?.turnId !== turnId) {
      view = { turnId, growing: undefined, reply: undefined, reasoning: "" };
      views.set(sessionId, view);
    }
    return view;
  }

  function show(event: SessionEvent, ctx: ChannelEventContext, text: string): void {
    const target = conversationOfKey(ctx.channel.continuationToken);
    if (lines === false || target === undefined || Date.now() - Date.parse(event.at) > freshMs) return;
    status.show(event.sessionId, target, text, text === thinking ? lines.idle : undefined);
  }

  return {
    "turn.started"(event, ctx) {
      writer.begin(event);
      show(event, ctx, thinking);
    },

    "reasoning.appended"(event, ctx) {
      if (lines === false || lines.reasoning !== true || event.data.parentCallId !== undefined) return;
      const view = viewOf(event);
      view.reasoning = `${view.reasoning}${event.data.delta}`.split("\n").slice(-2).join("\n");
      const said = view.reasoning.replace(/[*_#`]/g, "").trim();
      if (said !== "") show(event, ctx, `is thinking: ${said.split("\n").at(-1) ?? ""}`);
    },

    async "message.appended"(event, ctx) {
      const { delta, messageId, parentCallId } = event.data;
      if (mode !== "stream" || parentCallId !== undefined) return;
      const view = viewOf(event);
      const before = view.growing?.messageId === messageId ? view.growing.text : "";
      view.growing = { messageId, text: before + delta };
      // The text takes the place of the line. Slack takes the line away when something is posted, not when it is edited.
      await status.end(event.sessionId, await writer.isShown(event));
      await writer.grow(event, ctx, view.growing.text);
    },

    "message.completed"(event) {
      const { text, finishReason, parentCallId } = event.data;
      if (finishReason === "stop" && parentCallId === undefined) viewOf(event).reply = text;
    },

    "actions.requested"(event, ctx) {
      if (lines === false || lines.tools !== true || event.data.parentCallId !== undefined) return;
      const names = [...new Set(event.data.calls.map(({ toolName }) => toolName))];
      show(event, ctx, `is running ${names.join(", ")}…`);
    },

    "action.result"(event, ctx) {
      if (lines !== false && lines.tools === true && event.data.parentCallId === undefined) show(event, ctx, thinking);
    },

    async "action.approval_requested"(event, ctx) {
      await status.end(event.sessionId, false);
      await writer.seal(event, ctx);
      await approvals.ask(event, targetOf(ctx));
    },

    async "action.approval_resolved"(event, ctx) {
      await approvals.settle(event, targetOf(ctx));
      if (event.data.decision !== "cancelled") show(event, ctx, thinking);
    },

    async "turn.completed"(event, ctx) {
      const view = viewOf(event);
      views.delete(event.sessionId);
      await writer.end(event);
      const { result } = event.data;
      const reply = view.reply ?? (typeof result === "string" ? result : undefined);
      const hasReply = mode !== "agent" && reply !== undefined && reply.trim() !== "";
      await status.end(event.sessionId, !hasReply || (await writer.isShown(event)));
      if (hasReply) await writer.deliver(event, ctx, reply);
    },

    async "turn.failed"(event, ctx) {
      views.delete(event.sessionId);
      await writer.end(event);
      const isCancelled = event.data.status === "cancelled";
      await status.end(event.sessionId, isCancelled);
      if (isCancelled) return;
      const why = event.data.code === undefined ? "" : ` (${event.data.code})`;
      const told = `:warning: Something went wrong${why}. Session \`${event.sessionId}\``;
      await writer.post(event, ctx, "failure", told);
    },
  };
}
