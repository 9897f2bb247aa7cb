import type { SessionEvent } from "../../runtime/session/event.js";
import { openTarget } from "../client/target.js";
import { foldTrajectory, type Trajectory } from "../client/trajectory.js";
import { createTurnEnd } from "../client/turn.js";
import { exit, usageFailure } from "../exit.js";
import type { Run } from "../index.js";
import { readStdin } from "../input.js";
import { createConversation } from "../ui/conversation.js";
import { writeJson } from "../ui/terminal.js";

export const run: Run<"run"> = async ({ options }, terminal) => {
  if (options.json && options.text) {
    throw usageFailure("optionsExclude", { message: "--json and --text exclude each other", help: "choose one" });
  }
  const message = options.message === "-" ? (await readStdin()).trim() : options.message;
  if (message === undefined || message === "") {
    throw usageFailure("badOptionValue", {
      message: "bdk run needs a message",
      help: 'bdk run --message "What can you do?"',
    });
  }
  const target = await openTarget({ ...options, quiet: options.text }, terminal);
  const { client } = target;
  let stop: (() => void) | undefined;
  try {
    const { sessionId } = await client.createSession({
      message,
      ...(options.title === undefined ? {} : { title: options.title }),
      ...(options["dry-run"] ? { dryRun: true } : {}),
    });
    // Ctrl-C interrupts the turn; the stream then tells how it ended. A second one ends the process.
    stop = () => void client.stop(sessionId).catch(() => process.exit(130));
    process.once("SIGINT", stop);
    const show = options.json || options.text ? undefined : createConversation(terminal);
    const events: SessionEvent[] = [];
    const isOver = createTurnEnd();
    for await (const event of client.follow(sessionId)) {
      events.push(event);
      await show?.(event);
      if (isOver(event)) break;
    }
    const trajectory = foldTrajectory(sessionId, events);
    if (options.json) await writeJson(terminal.out, trajectory);
    else if (options.text) {
      await terminal.out.line(trajectory.reply);
      if (trajectory.error !== undefined) await terminal.err.line(trajectory.error);
    }
    return exitCodeOf(trajectory.status);
  } finally {
    if (stop !== undefined) process.removeListener("SIGINT", stop);
    await target.close();
  }
};

function exitCodeOf(status: Trajectory["status"]): number {
  switch (status) {
    case "completed":
      return exit.ok;
    case "awaiting_approval":
      return exit.waiting;
    case "failed":
    case "cancelled":
      return exit.failed;
  }
}
