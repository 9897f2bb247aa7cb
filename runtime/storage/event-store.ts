import fs from "node:fs";
import path from "node:path";
import { RuntimeError } from "../errors.js";
import type { SessionEvent } from "../session/event.js";
import type { EventLog, EventStore, Log, SessionRecord, SessionRow } from "../session/ports.js";
import { reduce } from "../session/reduce.js";
import { initialState } from "../session/state.js";
import { toRow } from "../session/views/summary.js";
import { guardStorage, makeDir, storageError } from "./files.js";
import { takeStore } from "./lock.js";
import { gapAfterCrash, LogFile } from "./log-file.js";
import { Positions, readLines } from "./log-reader.js";
import { NewLog } from "./new-log.js";
import { hasSession, readSession, replaceSession, writeSession } from "./session-folder.js";
import { type IndexFile, openIndex } from "./session-index.js";
import { createSharedSync, type SharedSync } from "./shared-sync.js";
import { readFacts, writeFacts } from "./store-facts.js";

/** How often sessions in use are checked for having been deleted from outside, in milliseconds. */
const goneCheckMs = 1_000;

interface Handle {
  readonly id: string;
  readonly file: LogFile;
  readonly positions: Positions;
  holders: number;
}

export interface FileEventStore extends EventStore {
  /** Flushes, gives the lock back. */
  close(): Promise<void>;
}

/**
 * Sessions as plain files: `sessions/<id>/session.json`, `traces/<id>.ndjson`, `index.ndjson`. Decisions 9 and 14.
 *
 * @throws RuntimeError `storage_unavailable` when the folder can't be used, is in use, or is from a newer version.
 */
export async function openEventStore(dir: string, log: Log): Promise<FileEventStore> {
  return guardStorageAsync(async () => {
    makeDir(dir);
    const sessions = path.join(dir, "sessions");
    const isNew = !fs.existsSync(sessions);
    makeDir(sessions);
    makeDir(dir, "traces");
    let store: Store | undefined;
    const unlock = await takeStore(
      dir,
      (message) => log("warn", message),
      () => store?.lose(),
    );
    try {
      const { isCrashed } = readFacts(dir);
      writeFacts(dir, false);
      store = new Store(dir, log, unlock, isNew);
      if (isCrashed) {
        log("warn", "the machine went down while the server ran: reading all sessions once to rebuild the index");
        await store.rebuildIndex({ isTorn: true });
      } else if (store.index.isDamaged) {
        log("warn", "index.ndjson is lost or damaged: reading all sessions once to make it anew");
        await store.rebuildIndex({ isTorn: false });
      }
      return store;
    } catch (error) {
      unlock();
      throw error;
    }
  });
}

async function guardStorageAsync<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw storageError(error);
  }
}

class Store implements FileEventStore {
  readonly index: IndexFile;
  readonly #dir: string;
  readonly #log: Log;
  readonly #unlock: () => void;
  readonly #handles = new Map<string, Handle>();
  readonly #goneListeners: ((id: string) => void)[] = [];
  readonly #timer: NodeJS.Timeout;
  readonly #closing = new Set<Promise<void>>();
  readonly #making = new Set<string>();
  /** Sessions whose log may have lost its unsynced end when the machine went down. */
  readonly #torn = new Set<string>();
  /** Why nothing may be written any more. */
  #lost: RuntimeError | undefined;
  /** `sessions/` and `traces/`, for new names in them. */
  readonly #folders: SharedSync;

  constructor(dir: string, log: Log, unlock: () => void, isNew: boolean) {
    this.#dir = dir;
    this.#log = log;
    this.#unlock = unlock;
    this.index = openIndex(dir, Date.now, isNew);
    this.#folders = createSharedSync([path.join(dir, "sessions"), path.join(dir, "traces")]);
    this.#timer = setInterval(() => this.#checkGone(), goneCheckMs).unref();
  }

  /** Another server has the store: not a line of ours may get between its own. */
  lose(): void {
    const lost = new RuntimeError("storage_unavailable", `another server has taken over ${this.#dir}`);
    this.#lost = lost;
    this.#log("error", `${lost.message}; this one writes nothing more: stop it`);
    this.index.refuse(lost);
    for (const { file } of this.#handles.values()) file.refuse(lost);
  }

  #requireHeld(): void {
    if (this.#lost !== undefined) throw this.#lost;
  }

  create(record: SessionRecord): EventLog {
    this.#requireHeld();
    const { id } = record;
    this.#making.add(id);
    const opening = LogFile.create(this.#tracePath(id)).then(
      (file) => this.#hold(id, file),
      (error: unknown) => {
        throw storageError(error);
      },
    );
    const made = this.#make(record, opening).finally(() => this.#making.delete(id));
    const log = new NewLog(
      opening.then(({ file }) => file),
      made,
    );
    let isReleased = false;
    return {
      get nextIndex() {
        return log.nextIndex;
      },
      append: (events) => log.append(events),
      read: (startIndex) => this.read(id, startIndex),
      release: () => {
        if (isReleased) return;
        isReleased = true;
        opening.then((handle) => this.#letGo(handle)).catch(() => undefined); // never opened: nothing to give back
      },
    };
  }

  /** Everything of a new session but its events, durably; on failure nothing of it stays. */
  async #make(record: SessionRecord, opening: Promise<Handle>): Promise<void> {
    const dir = this.#sessionDir(record.id);
    const [opened, written] = await Promise.allSettled([opening, writeSession(dir, record)]);
    try {
      if (opened.status === "rejected") throw opened.reason;
      if (written.status === "rejected") throw written.reason;
      await Promise.all([written.value.synced, this.#folders.sync()]);
    } catch (error) {
      fs.rmSync(dir, { recursive: true, force: true });
      fs.rmSync(this.#tracePath(record.id), { force: true });
      throw storageError(error);
    }
  }

  async open(id: string): Promise<{ readonly record: SessionRecord; readonly log: EventLog } | undefined> {
    this.#requireHeld();
    return guardStorage(() => {
      const record = readSession(this.#sessionDir(id));
      const handle = record === undefined ? undefined : this.#acquire(id);
      if (record === undefined || handle === undefined) return undefined;
      if (handle.file.nextIndex > 0) {
        if (this.#torn.delete(id)) handle.file.skipIndexes(gapAfterCrash);
        return { record, log: this.#asLog(handle) };
      }
      // Died between making the session and its first event: nobody was told of it.
      this.#letGo(handle);
      fs.rmSync(this.#sessionDir(id), { recursive: true, force: true });
      fs.rmSync(this.#tracePath(id), { force: true });
      return undefined;
    });
  }

  async *read(id: string, startIndex: number): AsyncGenerator<readonly string[]> {
    const handle = this.#acquire(id);
    if (handle === undefined) return;
    try {
      yield* readLines(handle.file, handle.positions, startIndex);
    } finally {
      this.#letGo(handle);
    }
  }

  async *follow(
    id: string,
    startIndex: number,
    signal: AbortSignal,
    hasEnded: () => boolean,
  ): AsyncGenerator<readonly string[]> {
    const handle = this.#acquire(id);
    if (handle === undefined) return;
    try {
      yield* readLines(handle.file, handle.positions, startIndex, { signal, hasEnded });
    } finally {
      this.#letGo(handle);
    }
  }

  rewrite(record: SessionRecord): void {
    this.#requireHeld();
    guardStorage(() => replaceSession(this.#sessionDir(record.id), record));
  }

  exists(id: string): boolean {
    return this.#making.has(id) || hasSession(this.#sessionDir(id));
  }

  onGone(listener: (id: string) => void): void {
    this.#goneListeners.push(listener);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    const open = [...this.#handles.values()].map(({ file }) => file.finish());
    this.#handles.clear();
    try {
      await Promise.all([...open, ...this.#closing]);
      if (this.#lost === undefined) {
        this.index.compact();
        writeFacts(this.#dir, true);
      }
    } catch (error) {
      this.#log("warn", `the session store was not closed cleanly: ${storageError(error).message}`);
    }
    this.index.close();
    this.#folders.close();
    this.#unlock();
  }

  /** Rows from the logs; `isTorn`: with a gap before the next index of every open turn. */
  async rebuildIndex({ isTorn }: { readonly isTorn: boolean }): Promise<void> {
    this.index.clear();
    for (const id of fs.readdirSync(path.join(this.#dir, "sessions")).sort()) {
      try {
        const row = await this.#readRow(id);
        if (row === undefined) continue;
        this.index.put(row);
        if (isTorn && row.open) this.#torn.add(id);
      } catch (error) {
        // One damaged session must not keep the others from being served.
        this.#log("error", `session ${id} can't be read and is left out: ${String(error)}`);
      }
    }
    this.index.compact();
  }

  async #readRow(id: string): Promise<SessionRow | undefined> {
    const record = readSession(this.#sessionDir(id));
    if (record === undefined) return undefined;
    let state = initialState;
    for await (const lines of this.read(id, 0)) {
      for (const line of lines) state = reduce(state, JSON.parse(line) as SessionEvent);
    }
    return state.nextIndex === 0 ? undefined : toRow(record, state);
  }

  #sessionDir(id: string): string {
    return path.join(this.#dir, "sessions", id);
  }

  #tracePath(id: string): string {
    return path.join(this.#dir, "traces", `${id}.ndjson`);
  }

  #hold(id: string, file: LogFile): Handle {
    const handle: Handle = { id, file, positions: new Positions(), holders: 1 };
    this.#handles.set(id, handle);
    return handle;
  }

  #acquire(id: string): Handle | undefined {
    const handle = this.#handles.get(id);
    if (handle !== undefined) {
      handle.holders += 1;
      return handle;
    }
    if (!this.exists(id)) return undefined;
    const file = LogFile.open(this.#tracePath(id), (message) => this.#log("warn", message));
    return file === undefined ? undefined : this.#hold(id, file);
  }

  #letGo(handle: Handle): void {
    handle.holders -= 1;
    if (handle.holders > 0) return;
    const closed = handle.file
      .close()
      .catch((error: unknown) => this.#log("warn", `${handle.file.path} was not closed: ${String(error)}`))
      .finally(() => this.#closing.delete(closed));
    this.#closing.add(closed);
    if (this.#handles.get(handle.id) === handle) this.#handles.delete(handle.id);
  }

  #asLog(handle: Handle): EventLog {
    const { file, positions } = handle;
    let isReleased = false;
    return {
      get nextIndex() {
        return file.nextIndex;
      },
      append: (events) => file.append(events),
      read: (startIndex) => readLines(file, positions, startIndex),
      release: () => {
        if (isReleased) return;
        isReleased = true;
        this.#letGo(handle);
      },
    };
  }

  #checkGone(): void {
    for (const { id, file } of [...this.#handles.values()]) {
      if (this.exists(id)) continue;
      for (const listener of this.#goneListeners) listener(id);
      file.end();
      this.#handles.delete(id);
    }
  }
}
