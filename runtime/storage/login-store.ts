import fs from "node:fs";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Login, Logins } from "../connections/logins.js";
import { guardStorage, isMissing, makeDir, readIfThere, replaceFile } from "./files.js";

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
      const release = await lock(`${fileOf(name)}.lock`);
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

/** How often somebody who waits looks whether a lock is gone, and after what time its holder is taken for dead, in ms. */
const [lookMs, longestMs] = [25, 30_000] as const;

/** Waits until the file is not there, and makes it; where it can't be made, nobody is kept waiting. */
async function lock(file: string): Promise<() => void> {
  for (;;) {
    try {
      fs.closeSync(fs.openSync(file, "wx", 0o600));
      return () => fs.rmSync(file, { force: true });
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) return () => undefined;
      const madeAt = fs.statSync(file, { throwIfNoEntry: false })?.mtimeMs;
      if (madeAt !== undefined && Date.now() - madeAt > longestMs) fs.rmSync(file, { force: true });
      else await wait(lookMs);
    }
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
