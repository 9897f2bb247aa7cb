import type { Server } from "node:http";

/** The requests that a server is answering, so that closing can wait for them. */
export interface Connections {
  /** Resolves when no request is being answered, or after `ms` milliseconds. */
  settled(ms: number): Promise<void>;
}

/** Follows the requests of a server from now on. */
export function trackConnections(server: Server): Connections {
  let active = 0;
  let onIdle = (): void => undefined;
  const onClose = (): void => {
    active -= 1;
    if (active === 0) onIdle();
  };
  server.on("request", (_request, response) => {
    active += 1;
    response.on("close", onClose);
  });
  return {
    settled: (ms) =>
      new Promise((resolve) => {
        if (active === 0) return resolve();
        const timer = setTimeout(resolve, ms);
        onIdle = () => {
          clearTimeout(timer);
          resolve();
        };
      }),
  };
}
