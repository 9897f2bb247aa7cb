/**
 * Recorded events to the channel that owns the session: in order, at least once. Decision 36: a cursor a session says
 * what is done with; an event is handed over before its cursor moves, so that a process that dies between the two hands
 * it over again. Receivers tell a repetition by `sessionId:index`.
 */
import type { ChannelEventContext } from "../authoring/channels.js";
import type { SessionEvent } from "../session/event.js";
import type { ObservedSession } from "../session/ports.js";
import { sessionInfo } from "../tools/context.js";
import { messageOf } from "../tools/result.js";
import type { ChannelSources, DeliveryCursors, RunningChannel } from "./contract.js";
import { hostCaller } from "./conversations.js";
import type { OpenState } from "./state.js";

type Handler = (event: SessionEvent, ctx: ChannelEventContext) => unknown;

export interface Delivery {
  deliver(event: SessionEvent, session: ObservedSession): Promise<void>;
  recover(): Promise<void>;
  /** Notes since when each of the running channels has had handlers. */
  start(): void;
}

const pageSize = 500;

export function createDelivery(
  sources: ChannelSources,
  channels: () => ReadonlyMap<string, RunningChannel>,
  openState: OpenState,
): Delivery {
  const { sessions, log } = sources;
  /** Sessions of earlier processes, whose missed events are handed over first. */
  const caughtUp = new Map<string, Promise<void>>();
  let opened: DeliveryCursors | undefined;

  function cursors(): DeliveryCursors {
    opened ??= sources.cursors();
    return opened;
  }

  /** Packs hold in memory what they show of a turn: it is told to its end by the one that heard it begin. */
  const telling = new Map<string, RunningChannel>();

  function owner({ type }: SessionEvent, { record }: ObservedSession): RunningChannel | undefined {
    const channel = telling.get(record.id) ?? channels().get(record.channelId);
    if (channel?.pack !== undefined && type === "turn.started") telling.set(record.id, channel);
    if (type === "turn.completed" || type === "turn.failed") telling.delete(record.id);
    return channel === undefined || !hasHandlers(channel) ? undefined : channel;
  }

  async function handOver(channel: RunningChannel, event: SessionEvent, session: ObservedSession): Promise<void> {
    for (const handler of handlersOf(channel, event.type)) {
      try {
        await handler(event, await contextOf(channel, event, session));
      } catch (error) {
        log("error", `channel "${channel.id}" handler for ${event.type} threw: ${messageOf(error)}`);
      }
    }
    cursors().put(event.sessionId, { index: event.index, at: event.at });
  }

  async function contextOf(
    channel: RunningChannel,
    event: SessionEvent,
    { record, continuationToken }: ObservedSession,
  ): Promise<ChannelEventContext> {
    const state = await openState(channel);
    return {
      channel: {
        id: channel.id,
        get state() {
          return state.read();
        },
        setState: (next) => state.write(next),
        continuationToken: continuationToken === null ? null : (record.continuationKey ?? null),
      },
      session: sessionInfo(record),
      host: sources.services(record),
      artifacts: sources.artifacts({ record, turnId: event.turnId }),
      signal: sources.signal,
      setContinuationToken: (key) => sessions.rekey(channel.id, record.id, key),
    };
  }

  /** Whether a session that an earlier process worked on may have events that its channel has not seen. */
  function startOf(channelId: string, id: string, createdAt: string): number | undefined {
    const since = cursors().get(sinceKey(channelId))?.at;
    const cursor = cursors().get(id);
    if (since === undefined) return undefined;
    if (cursor !== undefined && cursor.at >= since) return cursor.index + 1;
    // What happened before there were handlers is not theirs.
    return createdAt >= since ? 0 : undefined;
  }

  function catchUp(channel: RunningChannel, session: ObservedSession): Promise<void> {
    const { id, createdAt } = session.record;
    const known = caughtUp.get(id);
    if (known !== undefined) return known;
    const start = startOf(channel.id, id, createdAt);
    const done = start === undefined ? Promise.resolve() : handOverFrom(start, channel, session);
    caughtUp.set(id, done);
    return done;
  }

  async function handOverFrom(start: number, channel: RunningChannel, session: ObservedSession): Promise<void> {
    const { id } = session.record;
    try {
      for await (const lines of await sessions.read(hostCaller, id, start)) {
        for (const line of lines) {
          const type = /^\{"type":"([^"]+)"/.exec(line)?.[1];
          if (type === undefined || (handlersOf(channel, type).length === 0 && line !== lines.at(-1))) continue;
          await handOver(channel, JSON.parse(line) as SessionEvent, session);
        }
      }
    } catch (error) {
      log("error", `events of ${id} could not be handed to channel "${channel.id}": ${messageOf(error)}`);
    }
  }

  return {
    start() {
      for (const [id, { id: channel }] of telling) if (!channels().has(channel)) telling.delete(id);
      for (const channel of channels().values()) {
        const key = sinceKey(channel.id);
        const handles = hasHandlers(channel);
        const since = opened === undefined && !handles ? undefined : cursors().get(key)?.at;
        const isNoted = since !== undefined && since !== never;
        if (handles && !isNoted) cursors().put(key, { index: 0, at: new Date().toISOString() });
        if (!handles && isNoted) cursors().put(key, { index: 0, at: never });
      }
    },

    async deliver(event, session) {
      const channel = owner(event, session);
      if (channel === undefined) return;
      if (session.record.createdAt < sources.startedAt) await catchUp(channel, session);
      const cursor = cursors().get(event.sessionId);
      if (cursor === undefined || cursor.index < event.index) await handOver(channel, event, session);
    },

    async recover() {
      let cursor: string | undefined;
      do {
        const page = await sessions.list(hostCaller, { limit: pageSize, ...(cursor !== undefined && { cursor }) });
        for (const { id, channelId, createdAt, updatedAt, continuationToken } of page.sessions) {
          const channel = channels().get(channelId);
          if (sources.signal.aborted) return;
          if (channel === undefined || !hasHandlers(channel) || createdAt >= sources.startedAt) continue;
          const done = cursors().get(id);
          // Several events share a millisecond: of the last one, only the log tells whether all were handed over.
          if (done !== undefined && done.at > updatedAt) continue;
          const record = sources.record(id);
          if (record !== undefined) await catchUp(channel, { record, continuationToken });
        }
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      const isGone = (id: string) => !id.startsWith("channel:") && sources.record(id) === undefined;
      opened?.retain((id) => !isGone(id));
    },
  };
}

/** Later than any event: nothing of the time without handlers is handed over later. */
const never = "9999-12-31T23:59:59.999Z";

/** Where the cursors keep since when a channel has had handlers. */
function sinceKey(channelId: string): string {
  return `channel:${channelId}`;
}

function hasHandlers({ handlers }: RunningChannel): boolean {
  return handlers.some((events) => Object.values(events).some((handler) => handler !== undefined));
}

function handlersOf({ handlers }: RunningChannel, type: string): readonly Handler[] {
  return handlers.flatMap((of) => {
    const events = of as Readonly<Record<string, unknown>>;
    return [type, "*"].flatMap((key) => {
      const handler = Object.hasOwn(events, key) ? events[key] : undefined;
      return typeof handler === "function" ? [(event, ctx) => handler.call(events, event, ctx) as unknown] : [];
    });
  });
}
