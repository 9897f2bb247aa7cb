/**
 * What packs take from outside: on disk before the sender is told, handled once, in the background. A delivery that a
 * process left unfinished is taken up by the next one.
 */
import type { JsonValue } from "../session/event.js";
import { messageOf } from "../tools/result.js";
import type { ChannelSources, Inbox, InboxEntry } from "./contract.js";
import type { ServedChannel } from "./served.js";
import type { Turnstile } from "./turnstile.js";

export interface Intake {
  /** False when the id was taken before. */
  accept(channelId: string, id: string, payload: JsonValue, lane?: string): Promise<boolean>;
  /** Handles what an earlier process left of these channels. */
  resume(channels: Iterable<ServedChannel>): void;
}

/** Longest id that a sender may give a delivery. */
const longestId = 256;

export function createIntake(
  sources: ChannelSources,
  turnstile: Turnstile,
  find: (channelId: string) => ServedChannel | undefined,
  waitUntil: (what: string, promise: Promise<unknown>) => void,
): Intake {
  const lanes = new Map<string, Promise<void>>();
  /** Those that this process has in hand. */
  const inHand = new Set<string>();
  let opened: Inbox | undefined;

  function inbox(): Inbox {
    opened ??= sources.inbox();
    return opened;
  }

  function enqueue(channelId: string, entry: InboxEntry, isRepeat: boolean): void {
    inHand.add(`${channelId} ${entry.id}`);
    const lane = entry.lane === undefined ? undefined : `${channelId} ${entry.lane}`;
    const before = (lane !== undefined && lanes.get(lane)) || Promise.resolve();
    const done = before.then(() => turnstile.pass()).then(() => handle(channelId, entry, isRepeat));
    if (lane !== undefined) {
      lanes.set(lane, done);
      void done.then(() => {
        if (lanes.get(lane) === done) lanes.delete(lane);
      });
    }
    waitUntil(`channel "${channelId}"`, done);
  }

  async function handle(channelId: string, entry: InboxEntry, isRepeat: boolean): Promise<void> {
    const { id, payload, at, hasBegun } = entry;
    try {
      const deliver = find(channelId)?.pack?.deliver;
      if (deliver === undefined || sources.signal.aborted) return; // stays for the next process
      await deliver({ id, payload, at, isRepeat, hasBegun, begin: () => inbox().begin(channelId, id) });
      inbox().settle(channelId, id, "done");
    } catch (error) {
      // A store that is full, or a server that shuts down, is no fault of the delivery: it stays for the next process.
      const isOurs = error instanceof Error && "code" in error && error.code === "storage_unavailable";
      sources.log("error", `channel "${channelId}": delivery ${id} failed: ${messageOf(error)}`);
      if (!isOurs) inbox().settle(channelId, id, "released");
    } finally {
      inHand.delete(`${channelId} ${id}`);
    }
  }

  return {
    async accept(channelId, id, payload, lane) {
      if (id === "" || id.length > longestId)
        throw sources.fail("invalid_request", "a delivery's id is 1 to 256 characters");
      if (!(await inbox().take(channelId, id, payload, lane))) return false;
      const entry = { id, payload, at: new Date().toISOString(), hasBegun: false };
      enqueue(channelId, lane === undefined ? entry : { ...entry, lane }, false);
      return true;
    },
    resume(channels) {
      for (const { id, pack } of channels) {
        if (pack?.deliver === undefined) continue;
        for (const entry of inbox().pending(id)) {
          if (!inHand.has(`${id} ${entry.id}`)) enqueue(id, entry, true);
        }
      }
    },
  };
}
