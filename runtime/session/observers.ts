import type { SessionEvent } from "./event.js";
import type { EventSink, Log, ObservedSession } from "./ports.js";

export type Listener = (event: SessionEvent) => void | Promise<void>;

/** One session's line to hooks and listeners: recorded events go out in order, one at a time, never holding the turn. */
export interface Observers {
  publish(events: readonly SessionEvent[]): void;
  readonly isIdle: boolean;
  /** Resolves when nothing is left to deliver. */
  drained(): Promise<void>;
}

export function createObservers(
  sink: EventSink,
  listeners: ReadonlySet<Listener>,
  session: () => ObservedSession,
  log: Log,
): Observers {
  let queue: SessionEvent[] = [];
  let delivering: Promise<void> | undefined;

  async function deliver(): Promise<void> {
    await Promise.resolve(); // so that `delivering` is set before it can be cleared
    while (queue.length > 0) {
      const batch = queue;
      queue = [];
      for (const event of batch) {
        if (sink.wants(event.type)) await sink.dispatch(event, session());
        for (const listener of listeners) {
          try {
            await listener(event);
          } catch (error) {
            log("error", `listener of ${event.type} threw: ${error instanceof Error ? error.message : String(error)}`);
          }
        }
      }
    }
    delivering = undefined;
  }

  return {
    publish(events) {
      const wanted = listeners.size > 0 ? events : events.filter((event) => sink.wants(event.type));
      if (wanted.length === 0) return;
      for (const event of wanted) queue.push(deepFreeze(event));
      delivering ??= deliver();
    },
    get isIdle() {
      return delivering === undefined;
    },
    async drained() {
      while (delivering !== undefined) await delivering;
    },
  };
}

/** Observers share one object; none may change what the next one sees. */
function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const part of Object.values(value)) deepFreeze(part);
  return value;
}
