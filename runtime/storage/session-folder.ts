import fs from "node:fs";
import path from "node:path";
import { RuntimeError } from "../errors.js";
import type { SessionRecord } from "../session/ports.js";
import { privateDir, privateFile, readIfThere, replaceFile } from "./files.js";
import { syncFd } from "./shared-sync.js";
import { formatVersion } from "./store-facts.js";

const fileName = "session.json";

/** Whether a session's folder holds a session. */
export function hasSession(dir: string): boolean {
  return fs.existsSync(path.join(dir, fileName));
}

/** The facts of a session; `undefined` when it was deleted, or never made to its end. */
export function readSession(dir: string): SessionRecord | undefined {
  const text = readIfThere(path.join(dir, fileName));
  if (text === undefined || !text.endsWith("\n")) return undefined;
  const { formatVersion: version, ...record } = parseRecord(dir, text);
  if (version > formatVersion) {
    throw new RuntimeError("storage_unavailable", `${dir} was written by a newer version of bdk (format ${version})`);
  }
  return record;
}

function parseRecord(dir: string, text: string): SessionRecord & { readonly formatVersion: number } {
  try {
    return JSON.parse(text) as SessionRecord & { readonly formatVersion: number };
  } catch (error) {
    const file = path.join("sessions", path.basename(dir), fileName);
    throw new RuntimeError("storage_unavailable", `${file} is damaged: it is not JSON`, {}, error);
  }
}

/**
 * Makes a session's folder with its facts. Resolves when both are durable; the folder's own name is the caller's to
 * sync. Making them takes a few tens of microseconds, less than handing each step to a thread; only syncs wait there.
 */
export async function writeSession(dir: string, record: SessionRecord): Promise<{ readonly synced: Promise<unknown> }> {
  fs.mkdirSync(dir, { mode: privateDir });
  const opened: number[] = [];
  const close = () => {
    for (const fd of opened) fs.closeSync(fd);
  };
  try {
    const file = fs.openSync(path.join(dir, fileName), "wx", privateFile);
    opened.push(file);
    opened.push(fs.openSync(dir, "r"));
    fs.writeFileSync(file, `${JSON.stringify({ formatVersion, ...record })}\n`);
  } catch (error) {
    close();
    throw error;
  }
  return { synced: Promise.all(opened.map(syncFd)).finally(close) };
}

/** Replaces a session's facts; whoever reads meanwhile sees the old ones or the new. */
export function replaceSession(dir: string, record: SessionRecord): void {
  replaceFile(path.join(dir, fileName), `${JSON.stringify({ formatVersion, ...record })}\n`);
}
