import { createHash, randomUUID } from "node:crypto";
import fs from "node:fs/promises";
import path from "node:path";
import type { HostKvApi } from "../authoring/host.js";
import type { JsonValue } from "../session/event.js";
import { isMissing, makeDir, privateFile, storageError, syncPath } from "./files.js";

/**
 * `host.kv` as files: one a key, named by the key's hash so that any key works on any file system. A put is on disk
 * when it resolves; puts of one key apply in call order. Of those that wait for the disk only the last is written: it
 * stands for all of them, so that a key that many sessions write to doesn't fall behind.
 */
export function createFileKv(dir: string): HostKvApi {
  const queues = new Map<string, Promise<void>>();
  /** The last put of each file that has not begun. */
  const waiting = new Map<string, { text: string; done: Promise<void> }>();
  const fileOf = (key: string) => {
    if (typeof key !== "string")
      throw new Error(`host.kv: a key is a string, not ${key === null ? "null" : typeof key}`);
    return path.join(dir, `${createHash("sha256").update(key).digest("hex")}.json`);
  };

  /** Runs after everything asked of this file before. */
  function inOrder(file: string, act: () => Promise<void>): Promise<void> {
    const done = (queues.get(file) ?? Promise.resolve()).then(act).catch((error: unknown) => {
      throw storageError(error);
    });
    const settled = done.catch(() => undefined);
    queues.set(file, settled);
    void settled.then(() => {
      if (queues.get(file) === settled) queues.delete(file);
    });
    return done;
  }

  async function write(file: string, text: string): Promise<void> {
    makeDir(dir);
    const next = `${file}.${randomUUID()}.next`;
    await fs.writeFile(next, text, { mode: privateFile, flush: true });
    await fs.rename(next, file);
    await syncPath(dir);
  }

  return {
    async get(key) {
      const file = fileOf(key);
      await queues.get(file);
      try {
        const stored = JSON.parse(await fs.readFile(file, "utf8")) as { readonly value: JsonValue };
        return stored.value;
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw storageError(error);
      }
    },
    async put(key, value) {
      const file = fileOf(key);
      const text = toText(key, value);
      const behind = waiting.get(file);
      if (behind !== undefined) {
        behind.text = text;
        return behind.done;
      }
      const put = { text, done: Promise.resolve() };
      put.done = inOrder(file, () => {
        if (waiting.get(file) === put) waiting.delete(file);
        return write(file, put.text);
      });
      waiting.set(file, put);
      return put.done;
    },
    async delete(key) {
      const file = fileOf(key);
      waiting.delete(file);
      await inOrder(file, () => fs.rm(file, { force: true }));
    },
  };
}

function toText(key: string, value: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    throw new Error(
      `kv.put("${key}"): the value is not JSON: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  if (text === undefined) throw new Error(`kv.put("${key}"): the value is not JSON; use kv.delete to remove a key`);
  return `{"key":${JSON.stringify(key)},"value":${text}}\n`;
}
