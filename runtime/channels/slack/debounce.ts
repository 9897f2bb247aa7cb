/** Posts that follow each other closely, taken together. */

export interface Batches<Item> {
  /** Resolves when the batch that took the item is done; rejects as it does. */
  add(key: string, item: Item): Promise<void>;
  /** Nobody waits any longer: what is there is taken now, and what comes later at once. */
  flush(): void;
}

interface Batch<Item> {
  readonly items: Item[];
  readonly startedAt: number;
  readonly done: Promise<void>;
  settle(result: Promise<void>): void;
  timer: NodeJS.Timeout | undefined;
}

/** A stream of posts that never pauses is cut after so many times the quiet. */
const patience = 10;

/**
 * @param quietMs Milliseconds without another item after which a batch is taken.
 * @param take Called with the items in the order of their arrival.
 */
export function createBatches<Item>(
  quietMs: number,
  take: (key: string, items: readonly Item[]) => Promise<void>,
): Batches<Item> {
  const batches = new Map<string, Batch<Item>>();
  let isFlushed = false;

  function close(key: string, batch: Batch<Item>): void {
    if (batches.get(key) === batch) batches.delete(key);
    clearTimeout(batch.timer);
    batch.settle(take(key, batch.items));
  }

  return {
    add(key, item) {
      let batch = batches.get(key);
      if (batch === undefined) {
        let settle: (result: Promise<void>) => void = () => undefined;
        const done = new Promise<void>((resolve) => {
          settle = resolve;
        });
        batch = { items: [], startedAt: Date.now(), done, settle, timer: undefined };
        batches.set(key, batch);
      }
      const open = batch;
      open.items.push(item);
      clearTimeout(open.timer);
      const left = open.startedAt + quietMs * patience - Date.now();
      if (isFlushed || quietMs <= 0) close(key, open);
      else open.timer = setTimeout(() => close(key, open), Math.max(0, Math.min(quietMs, left)));
      return open.done;
    },
    flush() {
      isFlushed = true;
      for (const [key, batch] of [...batches]) close(key, batch);
    },
  };
}
