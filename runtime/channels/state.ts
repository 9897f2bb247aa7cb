import type { HostKvApi } from "../authoring/host.js";
import type { JsonValue } from "../session/event.js";
import type { RunningChannel } from "./contract.js";

/** One channel's durable state. */
export interface ChannelState {
  /** A copy of its own: changing it changes nothing. */
  read(): JsonValue;
  /** On disk when it resolves. */
  write(state: JsonValue): Promise<void>;
}

/** Opens a channel's state, read from disk once. */
export type OpenState = (channel: RunningChannel) => Promise<ChannelState>;

export function createStates(kv: HostKvApi): OpenState {
  /** JSON texts by channel; `undefined` where nothing was ever stored. */
  const stored = new Map<string, Promise<{ text: string | undefined }>>();
  return async ({ id, definition }) => {
    let loading = stored.get(id);
    if (loading === undefined) {
      loading = kv.get(id).then((value) => ({ text: value === undefined ? undefined : JSON.stringify(value) }));
      stored.set(id, loading);
      loading.catch(() => stored.delete(id));
    }
    const held = await loading;
    return {
      read: () => JSON.parse(held.text ?? JSON.stringify(definition.state ?? null)) as JsonValue,
      async write(state) {
        const text = JSON.stringify(state) as string | undefined;
        if (text === undefined) throw new TypeError(`setState of channel "${id}": the state is not JSON`);
        await kv.put(id, state);
        held.text = text;
      },
    };
  };
}
