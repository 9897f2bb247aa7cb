import type { Logger } from "./log.js";

/** A promise that a tool forgot, or a timer that throws, must not take the other sessions down: it is logged. */
export function surviveProjectCode(log: Logger): void {
  // Whoever read the log is gone: to log that would fail in the same way, again and again. `/v1/logs` still has it all.
  for (const stream of [process.stderr, process.stdout]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE" && error.code !== "ERR_STREAM_DESTROYED") throw error;
    });
  }
  process.on("unhandledRejection", (reason) => log.error("unhandled rejection", reason));
  process.on("uncaughtException", (error) => log.error("uncaught exception", error));
}
