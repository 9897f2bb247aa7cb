import type { Finding, Level } from "../change.js";
import { join } from "../json.js";

export interface NameWords {
  /** What one name is: `event`. */
  readonly noun: string;
  readonly added: Level;
  readonly removed: Level;
  /** Words after an added name. */
  readonly gained?: string;
  /** Words after a removed name. */
  readonly lost?: string;
}

type Names = readonly string[] | undefined;

/** A set of names: each one that comes or goes is a finding of its own. */
export function names(words: NameWords) {
  return (before: Names, after: Names, { path }: { readonly path: string }): Finding[] => {
    const [old, now] = [new Set(before), new Set(after)];
    const all = [...new Set([...old, ...now])].sort();
    return all.flatMap((name): Finding[] => {
      if (old.has(name) === now.has(name)) return [];
      const at = join(path, name);
      const more = now.has(name) ? (words.gained ?? "added") : (words.lost ?? "removed");
      const message = `${words.noun} ${name} ${more}`;
      return now.has(name)
        ? [{ path: at, kind: "added", level: words.added, message, after: name }]
        : [{ path: at, kind: "removed", level: words.removed, message, before: name }];
    });
  };
}
