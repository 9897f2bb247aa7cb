import fs from "node:fs";
import path from "node:path";
import type { DeliveryCursor, DeliveryCursors } from "../channels/contract.js";
import { appendWhole, guardStorage, privateFile, readIfThere, replaceFile } from "./files.js";

/** Lines beyond the live ones before the file is written anew. */
const slack = 2_000;

type Line = DeliveryCursor & { readonly id: string };

/**
 * `delivery.ndjson`: one line each time a cursor moves, the last one of a session counts. Not synced: after a crash of
 * the machine events may be handed over again, and none is lost.
 */
export function openDeliveryCursors(dir: string): DeliveryCursors {
  const file = path.join(dir, "delivery.ndjson");
  const cursors = new Map<string, DeliveryCursor>();
  let fd: number | undefined;
  let size = 0;
  let lines = 0;

  for (const text of (guardStorage(() => readIfThere(file)) ?? "").split("\n")) {
    const line = parseLine(text);
    if (line === undefined) continue;
    cursors.set(line.id, { index: line.index, at: line.at });
    lines += 1;
  }

  function open(): number {
    if (fd === undefined) {
      fd = fs.openSync(file, "a", privateFile);
      size = fs.fstatSync(fd).size;
      // A line that was cut short by a crash must not swallow the next one.
      if (size > 0 && !endsLine(file)) {
        appendWhole(fd, Buffer.from("\n"), size);
        size += 1;
      }
    }
    return fd;
  }

  function compact(): void {
    close();
    replaceFile(file, [...cursors].map(([id, cursor]) => `${JSON.stringify({ id, ...cursor })}\n`).join(""));
    lines = cursors.size;
  }

  function close(): void {
    if (fd !== undefined) fs.closeSync(fd);
    fd = undefined;
  }

  return {
    get: (sessionId) => cursors.get(sessionId),
    put(sessionId, cursor) {
      cursors.set(sessionId, cursor);
      guardStorage(() => {
        const bytes = Buffer.from(`${JSON.stringify({ id: sessionId, ...cursor })}\n`);
        appendWhole(open(), bytes, size);
        size += bytes.length;
        lines += 1;
        if (lines > cursors.size * 2 + slack) compact();
      });
    },
    retain(exists) {
      const before = cursors.size;
      for (const id of cursors.keys()) if (!exists(id)) cursors.delete(id);
      if (cursors.size < before) guardStorage(compact);
    },
    close,
  };
}

function endsLine(file: string): boolean {
  return readIfThere(file)?.endsWith("\n") === true;
}

/** `undefined` for a line that was cut short: its event is handed over again. */
function parseLine(text: string): Line | undefined {
  if (!text.endsWith("}")) return undefined;
  try {
    const line = JSON.parse(text) as Partial<Line>;
    return typeof line.id === "string" && typeof line.index === "number" && typeof line.at === "string"
      ? { id: line.id, index: line.index, at: line.at }
      : undefined;
  } catch {
    return undefined; // cut short
  }
}
