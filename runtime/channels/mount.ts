/** An agent's channels as the rest of the runtime holds them: the optional part is loaded when something needs it. */
import type { Receive } from "../authoring/channels.js";
import type { Sections } from "../host/sections.js";
import type { AgentGeneration } from "../manifest/bundle.js";
import { packFacts } from "../manifest/packs.js";
import type { ChannelEntry } from "../manifest/schema.js";
import type { EventSink, SessionRecord } from "../session/ports.js";
import type { ChannelAnswer, ChannelRequest, ChannelSources, Channels, ChannelsSection } from "./contract.js";

/** Channels that cost nothing while there are none. */
export interface ChannelMount {
  /** Delivery to channels, for the sessions they own. */
  readonly sink: EventSink;
  handle(request: ChannelRequest): Promise<ChannelAnswer>;
  /** The running code is new: runs its `onStart`. */
  start(): Promise<void>;
  /** Hands over what an earlier process recorded and did not deliver. */
  recover(): Promise<void>;
  readonly receive: Receive;
  /** Whether, and until when, a turn of a hand-written channel waits. What packs take waits before it is sent. */
  pace(record: SessionRecord, signal: AbortSignal): Promise<void> | undefined;
  /** Resolves when no background work of a handler is left, or after `graceMs` milliseconds (default 10 s). */
  settled(graceMs?: number): Promise<void>;
}

export function mountChannels(
  sections: Sections,
  generation: () => AgentGeneration,
  sources: () => ChannelSources,
): ChannelMount {
  let loading: Promise<Channels> | undefined;
  let wanted: { readonly of: AgentGeneration; readonly types: ReadonlySet<string> } | undefined;

  async function load(): Promise<Channels> {
    loading ??= open();
    const channels = await loading;
    await channels.ready();
    return channels;
  }

  async function open(): Promise<Channels> {
    const section = (await sections.channels?.()) as ChannelsSection | undefined;
    if (section === undefined) {
      throw new Error("this server was built without channels; build it with `bdk build --include channels`");
    }
    return section.createChannels(sources());
  }

  const hasChannels = () => generation().agent.channels.length > 0;

  /** What some channel handles; besides, what ends a stretch of work, so that the cursor tells that it is done. */
  function wants(type: string): boolean {
    const of = generation();
    if (wanted?.of !== of) {
      const types = new Set(of.agent.channels.flatMap(handledBy));
      if (types.size > 0)
        for (const each of ["session.waiting", "session.completed", "session.failed"]) types.add(each);
      wanted = { of, types };
    }
    return wanted.types.has(type) || wanted.types.has("*");
  }

  return {
    sink: {
      wants,
      dispatch: async (event, session) => {
        if (!wants(event.type)) return;
        if (generation().agent.channels.some(({ name }) => name === session.record.channelId)) {
          await (await load()).deliver(event, session);
        }
      },
    },
    async handle(request) {
      if (hasChannels()) return (await load()).handle(request);
      return { is: "refused", code: "not_found", message: "no such channel" };
    },
    async start() {
      if (hasChannels() || loading !== undefined) (await load()).start();
    },
    async recover() {
      if (hasChannels()) await (await load()).recover();
    },
    pace({ channelId }, signal) {
      const isOurs = ({ name, pack }: ChannelEntry) => name === channelId && pack === undefined;
      if (loading === undefined || !generation().agent.channels.some(isOurs)) return undefined;
      return loading.then(
        (channels) => channels.pace(signal),
        () => undefined, // a server without channels has no bursts of them
      );
    },
    receive: async (channel, options) => (await load()).receive(channel, options),
    async settled(graceMs = 10_000) {
      if (loading === undefined) return;
      const channels = await loading;
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, graceMs);
      });
      await Promise.race([channels.settled(), late]);
      clearTimeout(timer);
    },
  };
}

/** Types of events that a channel's own handlers, and its pack's, are for. */
function handledBy({ events, pack }: ChannelEntry): readonly string[] {
  return pack === undefined ? events : [...events, ...(packFacts[pack]?.events ?? [])];
}

/** Channels first, then hooks. */
export function inOrder(first: EventSink, second: EventSink): EventSink {
  return {
    wants: (type) => first.wants(type) || second.wants(type),
    async dispatch(event, session) {
      if (first.wants(event.type)) await first.dispatch(event, session);
      if (second.wants(event.type)) await second.dispatch(event, session);
    },
  };
}
