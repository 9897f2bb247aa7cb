import type { HostKvApi } from "../authoring/host.js";
import type { JsonValue } from "../session/event.js";
import { openLineLog } from "./line-log.js";

type Line = { readonly key: string; readonly value?: JsonValue };

/**
 * Many small values that change often, in memory and in one file of lines: a put costs an append and a share of a sync,
 * where a file for each key would cost several. For what packs know of turns that are under way.
 */
export function openLogKv(file: string): HostKvApi & { close(): Promise<void> } {
  const held = new Map<string, { readonly text: string; readonly bytes: number }>();

  const log = openLineLog(file, function* () {
    for (const [key, { text }] of held) yield { key, value: JSON.parse(text) as JsonValue };
  });

  function take({ key, value }: Line, bytes: number): void {
    log.waste(held.get(key)?.bytes ?? 0);
    if (value === undefined) {
      held.delete(key);
      log.waste(bytes);
    } else held.set(key, { text: JSON.stringify(value), bytes });
  }

  log.read((line, bytes) => take(line as Line, bytes));
  return {
    async get(key) {
      const found = held.get(key);
      return found === undefined ? undefined : (JSON.parse(found.text) as JsonValue);
    },
    async put(key, value) {
      const text = JSON.stringify(value) as string | undefined;
      if (text === undefined) throw new TypeError(`the value of "${key}" is not JSON`);
      const line: Line = { key, value: JSON.parse(text) as JsonValue };
      take(line, log.append(line));
      await log.sync();
    },
    async delete(key) {
      if (held.has(key)) take({ key }, log.append({ key }));
    },
    close: () => log.close(),
  };
}
