import fs from "node:fs";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Login, Logins } from "../connections/logins.js";
import { RuntimeError } from "../errors.js";
import { guardStorage, isMissing, makeDir, readIfThere, replaceFile } from "./files.js";
import { lockStore } from "./lock.js";

/**
 * Logins of one agent as private files below the state root (not the agent's own folder: `--mode single` has them, too).
 *
 * @param stateRoot absolute
 */
export function openLogins(stateRoot: string, slug: string): Logins {
  const folder = path.join(stateRoot, ".oauth", slug);
  const fileOf = (name: string) => path.join(folder, `${encodeURIComponent(name)}.json`);
  return {
    read(name) {
      const text = guardStorage(() => readIfThere(fileOf(name)));
      if (text === undefined) return undefined;
      const login = parse(text);
      if (login === undefined) throw new Error(`the stored login is damaged: run bdk mcp oauth ${name}`);
      return login;
    },
    write: (name, login) =>
      guardStorage(() => {
        makeDir(folder);
        replaceFile(fileOf(name), `${JSON.stringify(login, null, 2)}\n`);
      }),
    async alone(name, work) {
      const release = await lock(path.join(folder, `${encodeURIComponent(name)}.renewal`));
      try {
        return await work();
      } finally {
        release();
      }
    },
    remove: (name) =>
      guardStorage(() => {
        try {
          fs.unlinkSync(fileOf(name));
          return true;
        } catch (error) {
          if (isMissing(error)) return false;
          throw error;
        }
      }),
  };
}

/** How often somebody who waits looks whether a lock is free, and after what time a holder counts as stuck, in ms. */
const [lookMs, longestMs] = [25, 30_000] as const;

/** Waits until no live process has the folder; where it can't be had, nobody is kept waiting. */
async function lock(folder: string): Promise<() => void> {
  const end = Date.now() + longestMs;
  for (;;) {
    try {
      makeDir(folder);
      return lockStore(folder);
    } catch (error) {
      const isTaken = error instanceof RuntimeError;
      if (!isTaken || Date.now() > end) return () => undefined;
    }
    await wait(lookMs);
  }
}

function parse(text: string): Login | undefined {
  try {
    const login = JSON.parse(text) as Partial<Login>;
    const isWhole =
      login.formatVersion === 1 &&
      typeof login.url === "string" &&
      typeof login.resource === "string" &&
      typeof login.authorizationServer?.url === "string" &&
      typeof login.client?.client_id === "string" &&
      typeof login.tokens?.access_token === "string";
    return isWhole ? (login as Login) : undefined;
  } catch {
    return undefined;
  }
}
