import { randomUUID } from "node:crypto";
import fs from "node:fs/promises";
import path from "node:path";
import type { CommitEntry, CommitLedger } from "../session/ports.js";
import { guardStorage, privateFile, readIfThere, storageError, syncPath } from "./files.js";

/** Each session's last commit, in its own folder: `sessions/<id>/commit.json`. */
export function createCommitLedger(stateRoot: string): CommitLedger {
  const dirOf = (sessionId: string) => path.join(stateRoot, "sessions", sessionId);
  return {
    read(sessionId) {
      return guardStorage(() => {
        const text = readIfThere(path.join(dirOf(sessionId), "commit.json"));
        return text === undefined ? undefined : (JSON.parse(text) as CommitEntry);
      });
    },
    async write(sessionId, entry) {
      const dir = dirOf(sessionId);
      const next = path.join(dir, `commit.${randomUUID()}.next`);
      try {
        await fs.writeFile(next, `${JSON.stringify(entry)}\n`, { mode: privateFile, flush: true });
        await fs.rename(next, path.join(dir, "commit.json"));
        await syncPath(dir);
      } catch (error) {
        throw storageError(error);
      }
    },
  };
}
