import { foldTrajectory } from "../client/trajectory.js";
import { exit, failure, usageFailure } from "../exit.js";
import type { Run } from "../index.js";
import { readTrace } from "../state/folder.js";
import { writeJson } from "../ui/terminal.js";

export const run: Run<"trajectory"> = async ({ options }, terminal) => {
  const { events: file } = options;
  if (file === undefined) {
    throw usageFailure("badOptionValue", {
      message: "bdk trajectory needs a trace",
      help: "bdk trajectory --events .bdk/<slug>/traces/<sessionId>.ndjson",
    });
  }
  const events = readTrace(file);
  const [first] = events;
  if (first === undefined) throw failure("badInput", { message: `${file} holds no events` });
  await writeJson(terminal.out, foldTrajectory(first.sessionId, events));
  return exit.ok;
};
