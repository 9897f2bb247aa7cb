import type { FileEntry } from "../../../runtime/manifest/schema.js";
import { type Finding, sides } from "../change.js";
import { join } from "../json.js";
import { kindOf, pairByKey } from "../rule.js";

/** Files laid beside a skill, by path. Their text is not in the manifest, only its hash. */
export function files(
  before: readonly FileEntry[],
  after: readonly FileEntry[],
  { path }: { readonly path: string },
): Finding[] {
  return pairByKey(before, after, (file) => file.path).flatMap((pair): Finding[] => {
    const [old, now] = [pair.before, pair.after];
    if (old?.sha256 === now?.sha256 && old?.bytes === now?.bytes) return [];
    const how =
      old === undefined ? "added" : now === undefined ? "removed" : `changed (${old.bytes} → ${now.bytes} bytes)`;
    const message = `file ${pair.key} ${how}`;
    return [{ path: join(path, pair.key), kind: kindOf(old, now), level: "compatible", message, ...sides(old, now) }];
  });
}

/** The script of an agent tool: what it does shows in its schema and description. */
export function script(
  before: FileEntry | undefined,
  after: FileEntry | undefined,
  { path }: { readonly path: string },
): Finding[] {
  const how = before === undefined ? "added" : after === undefined ? "removed" : "changed";
  return [
    { path, kind: kindOf(before, after), level: "compatible", message: `script ${how}`, ...sides(before, after) },
  ];
}

/** `sha256` of a seed. */
export function contents(before: string, after: string, { path }: { readonly path: string }): Finding[] {
  return [{ path, kind: "changed", level: "compatible", message: "contents changed", before, after }];
}

export function size(before: number, after: number, { path }: { readonly path: string }): Finding[] {
  return [
    {
      path,
      kind: "changed",
      level: "compatible",
      message: `size changed from ${before} to ${after} bytes`,
      before,
      after,
    },
  ];
}
