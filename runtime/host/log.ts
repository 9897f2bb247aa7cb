import { format } from "node:util";
import type { LogLine } from "./options.js";
import { renderStack } from "./stack.js";

export type LogLevel = LogLine["level"];

/** What the parts of the runtime log to. An error's stack is appended to the message, mapped to the project's own lines. */
export interface Logger {
  debug(message: string, error?: unknown): void;
  info(message: string, error?: unknown): void;
  warn(message: string, error?: unknown): void;
  error(message: string, error?: unknown): void;
}

/** The host's log: a ring of recent lines behind `GET /v1/logs`, each also handed to a writer. */
export interface HostLog extends Logger {
  /** Lines after `seq`, oldest first, and the cursor for the next poll. A cursor of an earlier process starts over. */
  after(seq: number): { readonly lines: readonly LogLine[]; readonly next: number };
}

export interface HostLogOptions {
  /** Where each line goes besides the ring. */
  readonly write: (line: LogLine) => void;
  readonly redact: (text: string) => string;
  /** Lines kept. Default 1000. */
  readonly capacity?: number;
}

/** Longest message kept, in characters; the rest is cut with a note. */
const messageLimit = 16_384;

/** Creates the host's log. */
export function createHostLog(options: HostLogOptions): HostLog {
  const capacity = options.capacity ?? 1000;
  const ring: LogLine[] = [];
  let last = 0;

  const add = (level: LogLevel) => (message: string, error?: unknown) => {
    const text = error === undefined ? message : `${message}: ${renderStack(error)}`;
    const cut = text.length > messageLimit ? `${text.slice(0, messageLimit)}… (${text.length} characters)` : text;
    const line: LogLine = { seq: ++last, at: new Date().toISOString(), level, message: options.redact(cut) };
    ring.push(line);
    if (ring.length > capacity) ring.shift();
    options.write(line);
  };

  return {
    debug: add("debug"),
    info: add("info"),
    warn: add("warn"),
    error: add("error"),
    after(seq) {
      if (seq >= last) return { lines: seq > last ? [...ring] : [], next: last };
      return { lines: ring.slice(Math.max(0, ring.length - (last - seq))), next: last };
    },
  };
}

/** A writer of readable lines: `12:00:01 warn  message`, coloured on a terminal. Debug lines are left out unless asked for. */
export function createStderrWriter(showDebug = false): (line: LogLine) => void {
  const isColoured = process.stderr.isTTY === true && process.env.NO_COLOR === undefined;
  const colour = { debug: 2, info: 36, warn: 33, error: 31 } as const;
  return ({ level, at, message }) => {
    if (level === "debug" && !showDebug) return;
    const time = at.slice(11, 19);
    const tag = level.padEnd(5);
    process.stderr.write(
      isColoured
        ? `\x1b[2m${time}\x1b[0m \x1b[${colour[level]}m${tag}\x1b[0m ${message}\n`
        : `${time} ${tag} ${message}\n`,
    );
  };
}

/**
 * Sends `console.*` of project code to the log, so that it is seen in `/v1/logs` and never mixes with what the process
 * prints on stdout. Returns a function that undoes it.
 */
export function captureConsole(log: Logger): () => void {
  const levels = { log: "info", info: "info", debug: "debug", trace: "debug", warn: "warn", error: "error" } as const;
  const names = Object.keys(levels) as (keyof typeof levels)[];
  const originals = names.map((name) => [name, console[name]] as const);
  for (const name of names) console[name] = (...values: unknown[]) => log[levels[name]](format(...values));
  return () => {
    for (const [name, original] of originals) console[name] = original;
  };
}
