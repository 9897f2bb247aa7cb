import fs from "node:fs";
import path from "node:path";
import { RuntimeError } from "../errors.js";
import type { Claim, SessionIndex, SessionRow } from "../session/ports.js";
import { appendWhole, guardStorage, privateFile, readIfThere, replaceFile } from "./files.js";
import { shareSync, syncFd } from "./shared-sync.js";

/** Journal lines beyond the live ones before the file is written anew. */
const slack = 2_000;
const claimKeptMs = 24 * 60 * 60 * 1000;

/** Stands first, so that an index that never held a row is not taken for a lost one. */
const head = `${JSON.stringify({ index: 1 })}\n`;

type Line =
  | { readonly index: number }
  | SessionRow
  | { readonly id: string; readonly gone: true }
  | { readonly claim: Claim };

export interface IndexFile extends SessionIndex {
  /** The file was lost or is not what was written: the rows must be made again from the logs. */
  readonly isDamaged: boolean;
  /** Drops every row, to be filled from the logs. */
  clear(): void;
  /** Writes the file anew, without what is out of date. */
  compact(): void;
  /** Writes nothing more: each attempt throws this. */
  refuse(error: RuntimeError): void;
  close(): void;
}

/**
 * `index.ndjson`: one row a session, the last one counts. In memory a map; on disk a journal whose rows aren't synced:
 * after a machine crash they are made again from the logs, which are. Claims are: no log has them. A store that `isNew` has nothing to lose: its
 * folders are not looked into.
 */
export function openIndex(dir: string, now: () => number, isNew: boolean): IndexFile {
  const file = path.join(dir, "index.ndjson");
  const rows = new Map<string, SessionRow>();
  const claims = new Map<string, Claim>();
  const keys = new Map<string, string>();
  /** Ids in order of creation, for listing; gone ones are skipped. */
  let order: string[] = [];
  let lines = 0;
  let isDamaged = false;
  let refusal: RuntimeError | undefined;

  const keyOf = (channelId: string, key: string) => `${channelId}:${key}`;

  function keep(row: SessionRow): void {
    const known = rows.get(row.id);
    if (known === undefined) insert(row.id);
    else if (known.continuationKey !== row.continuationKey) forgetKey(known);
    rows.set(row.id, row);
    nameKey(row);
  }

  /** Only a session that takes follow-ups holds its key. */
  function nameKey({ id, mode, channelId, continuationKey }: SessionRow): void {
    if (continuationKey !== undefined && mode === "chat") keys.set(keyOf(channelId, continuationKey), id);
  }

  /** Ids sort by time, so a new one nearly always goes last. */
  function insert(id: string): void {
    const last = order.at(-1);
    if (last === undefined || last < id) order.push(id);
    else order.splice(positionOf(id), 0, id);
  }

  function positionOf(id: string): number {
    let low = 0;
    let high = order.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((order[middle] ?? "") < id) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  function drop(id: string): void {
    const row = rows.get(id);
    if (row === undefined) return;
    rows.delete(id);
    const position = positionOf(id);
    if (order[position] === id) order.splice(position, 1);
    forgetKey(row);
  }

  function forgetKey({ id, channelId, continuationKey }: SessionRow): void {
    if (continuationKey === undefined) return;
    const key = keyOf(channelId, continuationKey);
    if (keys.get(key) === id) keys.delete(key);
  }

  function load(): void {
    const text = readIfThere(file) ?? "";
    const whole = text.slice(0, text.lastIndexOf("\n") + 1);
    if (whole.length < text.length) fs.truncateSync(file, Buffer.byteLength(whole));
    if (whole === "") {
      isDamaged = !isNew && fs.readdirSync(path.join(dir, "sessions")).length > 0;
      fs.writeFileSync(file, head, { mode: privateFile });
      return;
    }
    const parsed = parseLines(whole.slice(0, -1));
    lines = parsed.length;
    const latest = new Map<string, SessionRow | undefined>();
    for (const line of parsed) {
      if (!isLine(line)) {
        isDamaged = true;
        continue;
      }
      if ("index" in line) continue;
      if ("claim" in line) claims.set(line.claim.key, line.claim);
      else latest.set(line.id, "gone" in line ? undefined : line);
    }
    order = [...latest].flatMap(([id, row]) => (row === undefined ? [] : [id])).sort();
    for (const row of latest.values()) {
      if (row === undefined) continue;
      rows.set(row.id, row);
      nameKey(row);
    }
  }

  function compact(): void {
    const oldest = now() - claimKeptMs;
    for (const [key, { at }] of claims) if (at < oldest) claims.delete(key);
    const live: Line[] = [
      ...order.flatMap((id) => rows.get(id) ?? []),
      ...[...claims.values()].map((claim) => ({ claim })),
    ];
    replaceFile(file, head + live.map((line) => `${JSON.stringify(line)}\n`).join(""));
    fs.closeSync(fd);
    fd = fs.openSync(file, "a", privateFile);
    size = fs.fstatSync(fd).size;
    lines = live.length;
  }

  function write(line: Line): void {
    if (refusal !== undefined) throw refusal;
    guardStorage(() => {
      const bytes = Buffer.from(`${JSON.stringify(line)}\n`);
      appendWhole(fd, bytes, size);
      size += bytes.length;
      lines += 1;
      if (lines > (rows.size + claims.size) * 2 + slack) compact();
    });
  }

  load();
  let fd = fs.openSync(file, "a", privateFile);
  let size = fs.fstatSync(fd).size;
  // One that is overtaken by a compaction has nothing left to do: what that wrote is on disk.
  const sync = shareSync(() => syncFd(fd));

  return {
    isDamaged,
    get: (id) => rows.get(id),
    put(row) {
      write(row);
      keep(row);
    },
    forget(id) {
      if (!rows.has(id)) return;
      drop(id);
      try {
        write({ id, gone: true });
      } catch (error) {
        // The row comes back at the next start and is found to have no session then.
        if (!(error instanceof RuntimeError)) throw error;
      }
    },
    byKey(channelId, key) {
      const id = keys.get(keyOf(channelId, key));
      return id === undefined ? undefined : rows.get(id);
    },
    *rows(cursor) {
      let position = cursor === undefined ? order.length : positionOf(cursor);
      while (position > 0) {
        position -= 1;
        const row = rows.get(order[position] ?? "");
        if (row !== undefined) yield row;
        position = Math.min(position, order.length);
      }
    },
    open: () => [...rows.values()].filter((row) => row.open),
    claim: (key) => claims.get(key),
    putClaim(claim) {
      write({ claim });
      claims.set(claim.key, claim);
      return sync();
    },
    clear() {
      rows.clear();
      keys.clear();
      order = [];
    },
    compact,
    refuse(error) {
      refusal = error;
    },
    close() {
      fs.closeSync(fd);
    },
  };
}

/** The values of the lines; `undefined` for one that is no JSON. */
function parseLines(text: string): readonly unknown[] {
  try {
    return JSON.parse(`[${text.replaceAll("\n", ",")}]`) as readonly unknown[];
  } catch {
    return text.split("\n").map(parseLine); // which of them is wrong
  }
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined; // told by its being no line
  }
}

function isLine(value: unknown): value is Line {
  if (typeof value !== "object" || value === null) return false;
  return "claim" in value || "index" in value || ("id" in value && typeof value.id === "string");
}
