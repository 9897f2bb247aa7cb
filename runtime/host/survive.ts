import type { Logger } from "./log.js";

/** A promise that a tool forgot, or a timer that throws, must not take the other sessions down: it is logged. */
export function surviveProjectCode(log: Logger): void {
  process.on("unhandledRejection", (reason) => log.error("unhandled rejection", reason));
  process.on("uncaughtException", (error) => log.error("uncaught exception", error));
}
