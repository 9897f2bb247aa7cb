/** Messages with buttons: a tool call that waits for a human, before and after the decision. */
import type { PendingApproval } from "../../session/service.js";
import { escapeText } from "./mrkdwn.js";
import type { SlackPost } from "./outbox.js";

/** Which button was pressed. */
export const actionIds = { approve: "bdk:approve", deny: "bdk:deny", approveChanged: "bdk:approve-changed" } as const;

/** What a call is asked about with. */
type AskedCall = Pick<PendingApproval, "callId" | "toolName" | "args"> & { readonly reason?: string | undefined };

/** Slack refuses a section of more than 3,000 characters. */
const maxArgs = 2_400;

/** The question with its two buttons. */
export function askPost(sessionId: string, call: AskedCall): SlackPost {
  return {
    text: `Approval needed: ${call.toolName}`,
    blocks: [section(described("*Approval needed:*", call)), buttons(sessionId, call, actionIds.approve, "Approve")],
  };
}

/** The question once more: the agent's code is not what it was when the call was asked about. */
export function askAgainPost(sessionId: string, call: AskedCall): SlackPost {
  const note = ":warning: The agent's code has changed since this was asked.";
  return {
    text: `Approval needed: ${call.toolName}, and the agent's code has changed since it was asked`,
    blocks: [
      section(`${described("*Approval needed:*", call)}\n${note}`),
      buttons(sessionId, call, actionIds.approveChanged, "Approve anyway"),
    ],
  };
}

/** What remains of the question. */
export function decidedPost(
  call: AskedCall,
  decision: "approve" | "deny" | "cancelled",
  by: string | undefined,
): SlackPost {
  const word = { approve: "Approved", deny: "Denied", cancelled: "No longer needed" }[decision];
  const icon = { approve: ":white_check_mark:", deny: ":no_entry_sign:", cancelled: ":grey_question:" }[decision];
  const who = by === undefined ? "" : ` by ${by}`;
  return { text: `${word}: ${call.toolName}`, blocks: [section(described(`${icon} *${word}*${who}:`, call))] };
}

/** Session and call of a pressed button. */
export function readButtonValue(value: string): { readonly sessionId: string; readonly callId: string } | undefined {
  const [sessionId, callId, ...rest] = value.split(" ");
  return sessionId && callId && rest.length === 0 ? { sessionId, callId } : undefined;
}

function described(lead: string, { toolName, args, reason }: AskedCall): string {
  const told = reason === undefined ? "" : `\n${escapeText(reason)}`;
  const json = JSON.stringify(args, null, 2) ?? "";
  if (json === "" || json === "{}") return `${lead} \`${toolName}\`${told}`;
  const short = json.length <= maxArgs ? json : `${json.slice(0, maxArgs)}\n…`;
  // A fence inside an argument would end the code early.
  return `${lead} \`${toolName}\`${told}\n\`\`\`\n${escapeText(short.replaceAll("```", "'''")).slice(0, maxArgs + 200)}\n\`\`\``;
}

function section(text: string) {
  return { type: "section", text: { type: "mrkdwn", text } };
}

function buttons(sessionId: string, { callId }: AskedCall, approveId: string, approveLabel: string) {
  const value = `${sessionId} ${callId}`;
  return {
    type: "actions",
    elements: [
      { ...button(approveLabel, approveId, value), style: "primary" },
      { ...button("Deny", actionIds.deny, value), style: "danger" },
    ],
  };
}

function button(label: string, actionId: string, value: string) {
  return { type: "button", text: { type: "plain_text", text: label }, action_id: actionId, value };
}
