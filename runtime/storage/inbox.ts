import path from "node:path";
import type { Inbox, InboxEntry } from "../channels/contract.js";
import type { JsonValue } from "../session/event.js";
import { openLineLog } from "./line-log.js";

/** How long an id is known after it was done with, in milliseconds: longer than senders offer to send again. */
const memoryMs = 7 * 24 * 60 * 60 * 1000;
/** Most ids that are known. */
const mostIds = 100_000;

interface Held {
  readonly at: string;
  readonly lane?: string;
  /** Gone when it is done with. */
  payload?: JsonValue;
  /** Bytes of its line. */
  readonly bytes: number;
  isDone: boolean;
  hasBegun: boolean;
  /** Resolves when the delivery is on disk. */
  readonly taken: Promise<void>;
}

/** One line of the file: a delivery is taken, its work begins, it is done with, or it may come again. */
type Line = { readonly channel: string; readonly id: string; readonly at: string } & (
  | { readonly is: "taken"; readonly lane?: string; readonly payload: JsonValue }
  | { readonly is: "begun" | "done" | "released" }
);

/**
 * `inbox.ndjson`: what came from outside and must not be lost once its sender was told that it arrived. That a delivery
 * is done is not synced: after a crash of the machine it may be handed over again.
 */
export function openInbox(dir: string, now: () => number): Inbox {
  const held = new Map<string, Held>();
  const onDisk = Promise.resolve();
  const log = openLineLog(path.join(dir, "inbox.ndjson"), print);

  const keyOf = (channel: string, id: string) => `${channel} ${id}`;
  const instant = () => new Date(now()).toISOString();

  function apply(line: Line, bytes: number, taken: Promise<void>): void {
    const key = keyOf(line.channel, line.id);
    if (line.is === "taken") {
      const { at, lane, payload } = line;
      held.set(key, { at, ...(lane !== undefined && { lane }), payload, bytes, isDone: false, hasBegun: false, taken });
      return;
    }
    const entry = held.get(key);
    if (entry === undefined) return;
    if (line.is === "begun") {
      entry.hasBegun = true;
      return;
    }
    if (entry.payload !== undefined) log.waste(entry.bytes);
    if (line.is === "released") held.delete(key);
    entry.isDone = true;
    delete entry.payload;
  }

  function forgetOld(): void {
    const oldest = new Date(now() - memoryMs).toISOString();
    let extra = held.size - mostIds;
    for (const [key, { at, isDone }] of held) {
      if (!isDone || (at >= oldest && extra <= 0)) continue;
      held.delete(key);
      extra -= 1;
    }
  }

  function* print(): Iterable<Line> {
    forgetOld();
    for (const [key, { at, lane, payload, isDone, hasBegun }] of held) {
      const space = key.indexOf(" ");
      const same = { channel: key.slice(0, space), id: key.slice(space + 1), at };
      yield { ...same, is: "taken", ...(lane !== undefined && { lane }), payload: payload ?? null };
      if (hasBegun) yield { ...same, is: "begun" };
      if (isDone) yield { ...same, is: "done" };
    }
  }

  log.read((line, bytes) => apply(line as Line, bytes, onDisk));
  return {
    async take(channel, id, payload, lane) {
      const known = held.get(keyOf(channel, id));
      if (known !== undefined) {
        await known.taken;
        return false;
      }
      const line: Line = { is: "taken", channel, id, at: instant(), ...(lane !== undefined && { lane }), payload };
      const bytes = log.append(line);
      const taken = log.sync();
      apply(line, bytes, taken);
      try {
        await taken;
      } catch (error) {
        held.delete(keyOf(channel, id));
        throw error;
      }
      return true;
    },

    async begin(channel, id) {
      const line: Line = { is: "begun", channel, id, at: instant() };
      apply(line, log.append(line), onDisk);
      await log.sync();
    },

    settle(channel, id, how) {
      const line: Line = { is: how, channel, id, at: instant() };
      apply(line, log.append(line), onDisk);
    },

    pending(channel) {
      return [...held].flatMap(([key, { at, lane, payload, isDone, hasBegun }]): InboxEntry[] => {
        if (isDone || payload === undefined || !key.startsWith(`${channel} `)) return [];
        return [{ id: key.slice(channel.length + 1), at, payload, hasBegun, ...(lane !== undefined && { lane }) }];
      });
    },

    close: () => log.close(),
  };
}
