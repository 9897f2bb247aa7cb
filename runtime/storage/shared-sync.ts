import fs from "node:fs";

/** `fsync` of a few folders on behalf of many: who asks while one runs shares the next with everyone else who does. */
export interface SharedSync {
  /** Resolves when names made before the call are durable. */
  sync(): Promise<void>;
  close(): void;
}

export function createSharedSync(folders: readonly string[]): SharedSync {
  const fds = folders.map((folder) => fs.openSync(folder, "r"));
  return {
    sync: shareSync(() => Promise.all(fds.map(syncFd))),
    close() {
      for (const fd of fds) fs.closeSync(fd);
    },
  };
}

/** One run after another, each begun after it was asked for and shared by everyone who asked until then. */
export function shareSync(act: () => Promise<unknown>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  async function run(earlier: Promise<void> | undefined): Promise<void> {
    await earlier?.catch(() => undefined); // its own callers were told
    running = next;
    next = undefined;
    await act();
  }

  return () => {
    next ??= run(running);
    return next;
  };
}

/** `fsync` of an open file. */
export function syncFd(fd: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fs.fsync(fd, (error) => (error === null ? resolve() : reject(error)));
  });
}
