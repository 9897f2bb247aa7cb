import type { SessionEvent } from "../../runtime/session/event.js";
import type { AgentClient } from "../client/agent-client.js";
import { openTarget } from "../client/target.js";
import { foldTrajectory, type Trajectory } from "../client/trajectory.js";
import { createTurnEnd } from "../client/turn.js";
import { CommandFailure, exit, usageFailure } from "../exit.js";
import { deliverWebhook } from "../github/deliver.js";
import { readWebhook } from "../github/source.js";
import type { Run } from "../index.js";
import { createConversation } from "../ui/conversation.js";
import { type Terminal, writeJson } from "../ui/terminal.js";

export const run: Run<"github"> = async ({ args, options }, terminal) => {
  const [action = "", source = ""] = args;
  if (action !== "replay") {
    throw usageFailure("badArgument", {
      message: `there is no command "github ${action}"`,
      help: "there is bdk github replay <payload.json|url>",
    });
  }
  const { event, prefix, channel, json } = options;
  const webhook = await readWebhook(source, { event, prefix });
  const target = await openTarget({ ...options, quiet: true, dev: true, modelWarnings: false }, terminal);
  try {
    const { client } = target;
    const isDryRun = options["dry-run"];
    const delivered = await deliverWebhook(client, webhook, { channel, prefix, isDryRun });
    const { sessionId, ignored, task } = delivered;
    if (sessionId === undefined) {
      if (json) await writeJson(terminal.out, { ...delivered, event: webhook.event });
      else
        await terminal.err.line(task === undefined ? `${webhook.event}: ${ignored}` : `${webhook.event}: task ${task}`);
      return exit.ok;
    }
    const trajectory = await follow(client, sessionId, json ? undefined : terminal).catch(unlessForbidden);
    if (trajectory === undefined) {
      // A server in production shows a channel's sessions to nobody else.
      if (json) await writeJson(terminal.out, { ...delivered, event: webhook.event });
      else
        await terminal.err.line(
          `${webhook.event}: session ${sessionId} is at work; this server shows it to its owner only`,
        );
      return exit.ok;
    }
    if (json) await writeJson(terminal.out, trajectory);
    return trajectory.status === "completed"
      ? exit.ok
      : trajectory.status === "awaiting_approval"
        ? exit.waiting
        : exit.failed;
  } finally {
    await target.close();
  }
};

function unlessForbidden(error: unknown): undefined {
  if (error instanceof CommandFailure && error.diagnostics.some(({ message }) => message.startsWith("forbidden:"))) {
    return undefined;
  }
  throw error;
}

/** Follows the turn that the delivery began; earlier ones of the conversation are passed over. */
async function follow(client: AgentClient, sessionId: string, terminal: Terminal | undefined): Promise<Trajectory> {
  const recorded = await client.events(sessionId);
  const start = recorded.findLast(({ type }) => type === "message.received")?.index ?? 0;
  const show = terminal && createConversation(terminal);
  const isOver = createTurnEnd();
  const events: SessionEvent[] = [];
  for await (const event of client.follow(sessionId)) {
    if (event.index < start) continue;
    events.push(event);
    await show?.(event);
    if (isOver(event)) break;
  }
  return foldTrajectory(sessionId, events);
}
