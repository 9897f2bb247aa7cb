import { setTimeout as wait } from "node:timers/promises";
import type { LogLine } from "../../runtime/host/options.js";
import { openServer } from "../client/target.js";
import { exit } from "../exit.js";
import type { Run } from "../index.js";
import { stateRootOf } from "../state/folder.js";
import { plainText } from "../ui/plain.js";
import type { Sink } from "../ui/sink.js";

/** How often a followed log is asked for more, in milliseconds. */
const pollMs = 1_000;

export const run: Run<"logs"> = async ({ options }, terminal) => {
  const server = await openServer(options, options.url ?? { stateRoot: stateRootOf(options) });
  const stop = new AbortController();
  const onSignal = () => stop.abort();
  process.once("SIGINT", onSignal);
  try {
    let cursor = options.after;
    do {
      const { lines, next } = await server.logs(cursor);
      for (const line of lines) await show(line, options.json, terminal.out);
      cursor = next;
      if (options.follow) await wait(pollMs, undefined, { signal: stop.signal }).catch(() => undefined);
    } while (options.follow && !stop.signal.aborted);
    return exit.ok;
  } finally {
    process.removeListener("SIGINT", onSignal);
  }
};

async function show(line: LogLine, json: boolean, out: Sink): Promise<void> {
  if (json) return out.line(JSON.stringify(line));
  const { colors } = out;
  const level = { debug: colors.dim, info: colors.green, warn: colors.yellow, error: colors.red }[line.level];
  await out.line(`${colors.dim(line.at)} ${level(line.level.padEnd(5))} ${plainText(line.message)}`);
}
