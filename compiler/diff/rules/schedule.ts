import { type Finding, type Level, sides } from "../change.js";
import { show } from "../json.js";
import { kindOf } from "../rule.js";

/** `cron`, `catchUp`, `overlap`, `form`: when and how the bot acts by itself. */
export function timing(noun: string, level: Level) {
  return (before: unknown, after: unknown, { path }: { readonly path: string }): Finding[] => {
    const message = `${noun} changed from ${show(before)} to ${show(after)}`;
    return [{ path, kind: kindOf(before, after), level, message, ...sides(before, after) }];
  };
}
