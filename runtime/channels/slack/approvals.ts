/** Tool calls that wait for a human, as buttons in the thread. */
import type { WebClient } from "@slack/web-api";
import type { SlackConversation } from "../../authoring/channels/slack.js";
import type { JsonValue, SessionEvent } from "../../session/event.js";
import type { PendingApproval } from "../../session/service.js";
import type { PackHost } from "../packs.js";
import { actionIds, askAgainPost, askPost, decidedPost, readButtonValue } from "./blocks.js";
import { reasonOf } from "./client.js";
import type { ButtonPress } from "./event.js";
import { fields, text } from "./fields.js";
import type { Outbox, SlackPost } from "./outbox.js";

export interface Approvals {
  /** Asks in the thread. */
  ask(event: SessionEvent<"action.approval_requested">, target: SlackConversation): Promise<void>;
  /** The question gives way to the answer, wherever it was given. */
  settle(event: SessionEvent<"action.approval_resolved">, target: SlackConversation): Promise<void>;
  /** Somebody pressed a button. */
  press(press: ButtonPress): Promise<void>;
}

export function createApprovals(host: PackHost, client: () => WebClient, outbox: Outbox): Approvals {
  const postName = (callId: string) => `approval:${callId}`;
  /** What was asked, for the text that remains once it is decided. */
  const askedKey = (callId: string) => `asked:${callId}`;

  async function update(channel: string, ts: string, post: SlackPost): Promise<void> {
    await client().chat.update({ channel, ts, text: post.text, blocks: [...(post.blocks ?? [])] as never });
  }

  async function tell(press: ButtonPress, told: string): Promise<void> {
    const { channelId: channel, userId: user } = press;
    await client().chat.postEphemeral({ channel, user, text: told });
  }

  async function decide(press: ButtonPress, sessionId: string, call: PendingApproval): Promise<void> {
    const { actionId, channelId, messageTs, userId, userName, teamId } = press;
    if (actionId === actionIds.approve && call.changed === true) {
      return update(channelId, messageTs, askAgainPost(sessionId, call));
    }
    const by = {
      kind: "channel",
      id: `slack:${teamId ?? ""}:${userId}`,
      ...(userName !== undefined && { claims: { name: userName } }),
    };
    const decision = actionId === actionIds.deny ? "deny" : "approve";
    await host.resolveApproval(sessionId, call.callId, decision, {
      by,
      confirm: actionId === actionIds.approveChanged,
    });
  }

  return {
    async ask(event, target) {
      const { sessionId, data } = event;
      const { callId, toolName, args, reason } = data;
      await host.kv.put(askedKey(callId), { sessionId, toolName, args });
      await outbox.post(event, postName(callId), target, askPost(sessionId, { callId, toolName, args, reason }));
    },

    async settle({ sessionId, turnId = "", data }, target) {
      const { callId, decision, by } = data;
      const ts = await outbox.find(sessionId, turnId, postName(callId));
      if (ts === undefined) return;
      const { toolName, args } = fields(await host.kv.get(askedKey(callId)));
      const call = { callId, toolName: text(toolName) ?? callId, args: (args ?? {}) as JsonValue };
      await update(target.channelId, ts, decidedPost(call, decision, nameOf(by)));
      await host.kv.delete(askedKey(callId));
    },

    async press(press) {
      const known: readonly string[] = Object.values(actionIds);
      const named = readButtonValue(press.value);
      if (named === undefined || !known.includes(press.actionId)) return;
      const { sessionId, callId } = named;
      try {
        // Only what this channel asked may be answered here.
        const isOurs = fields(await host.kv.get(askedKey(callId))).sessionId === sessionId;
        const call = isOurs ? (await host.approvals(sessionId)).find((each) => each.callId === callId) : undefined;
        if (call === undefined) await tell(press, "This call no longer waits for a decision.");
        else await decide(press, sessionId, call);
      } catch (error) {
        const code = error instanceof Error && "code" in error ? error.code : undefined;
        if (code === "approval_resolved") await tell(press, "Somebody has decided about this call already.");
        else if (code === "not_found") await tell(press, "This call no longer waits for a decision.");
        else throw new Error(`a decision could not be taken: ${reasonOf(error)}`, { cause: error });
      }
    },
  };
}

/** `channel:slack:T1:U1` was a person here; anyone else decided elsewhere. */
function nameOf(by: string | undefined): string | undefined {
  const user = /^channel:slack:[^:]*:([A-Z0-9]+)$/.exec(by ?? "")?.[1];
  return user === undefined ? undefined : `<@${user}>`;
}
