import { createSink, type Sink } from "./sink.js";

/** Where a command speaks: data on `out`, everything said about the work on `err`. */
export interface Terminal {
  readonly out: Sink;
  readonly err: Sink;
  /** True when a person can be asked. */
  readonly interactive: boolean;
}

export function createTerminal(): Terminal {
  return {
    out: createSink(process.stdout),
    err: createSink(process.stderr),
    interactive: process.stdin.isTTY === true && process.stdout.isTTY === true,
  };
}

/** Prints one JSON value, indented for people to read and the same for machines. */
export function writeJson(sink: Sink, value: unknown): Promise<void> {
  return sink.line(JSON.stringify(value, null, 2));
}
