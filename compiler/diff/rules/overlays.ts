import type { ExtensionEntry } from "../../../runtime/manifest/schema.js";
import { type Finding, sides } from "../change.js";
import { equal, join } from "../json.js";
import { kindOf, pairByKey, type Scene } from "../rule.js";

type Overlay = NonNullable<ExtensionEntry["overlays"]>[number];

/** What stands where. What it means for callers is told at the contribution itself: another layer, or none at all. */
export function overlays(
  before: readonly Overlay[] | undefined,
  after: readonly Overlay[] | undefined,
  { path, tolerate }: Scene<ExtensionEntry>,
): Finding[] {
  return pairByKey(before ?? [], after ?? [], ({ id }) => id).flatMap((pair): Finding[] => {
    if (equal(pair.before, pair.after, tolerate)) return [];
    const message = `overlay of ${pair.key} ${told(pair.after)}, was ${told(pair.before)}`;
    const kind = kindOf(pair.before, pair.after);
    return [{ path: join(path, pair.key), kind, level: "compatible", message, ...sides(pair.before, pair.after) }];
  });
}

function told(overlay: Overlay | undefined): string {
  if (overlay === undefined) return "nowhere";
  return `${overlay.source}${overlay.disables ? ", which disables it" : ""}`;
}
