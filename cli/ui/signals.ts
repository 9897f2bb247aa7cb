/**
 * Resolves at the first SIGINT, SIGTERM or SIGHUP. A second one ends the process at once, for when closing takes too long.
 */
export function untilInterrupted(): Promise<NodeJS.Signals> {
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  return new Promise((resolve) => {
    let isFirst = true;
    for (const signal of signals) {
      process.on(signal, () => {
        if (!isFirst) process.exit(130);
        isFirst = false;
        resolve(signal);
      });
    }
  });
}
