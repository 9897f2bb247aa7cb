import { type Finding, sides } from "../change.js";
import { show } from "../json.js";
import { kindOf } from "../rule.js";
import { diffText } from "../text.js";

/** For a field that no rule knows: always reported, and worth a look as nobody has judged it. */
export function fallback(field: string, before: unknown, after: unknown, path: string): Finding {
  const multiline = typeof before === "string" && typeof after === "string" && /\n/.test(before + after);
  return {
    path,
    kind: kindOf(before, after),
    level: "risky",
    message: multiline ? `${field} changed` : `${field} changed from ${show(before)} to ${show(after)}`,
    ...sides(before, after),
    ...(multiline ? { textDiff: diffText(before, after) } : {}),
  };
}
