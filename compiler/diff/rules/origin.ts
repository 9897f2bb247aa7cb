import { type Finding, type Level, sides } from "../change.js";
import { kindOf } from "../rule.js";
import { packageName } from "../upgrade.js";

type At = { readonly path: string };

/** `source`: another line or file; never a difference in what the bot does. */
export function source(before: string | undefined, after: string | undefined, { path }: At): Finding[] {
  const message = `moved from ${before ?? "nowhere"} to ${after ?? "nowhere"}`;
  return [{ path, kind: kindOf(before, after), level: "compatible", message, ...sides(before, after) }];
}

/** `layer`: another definition wins, so other code runs under the same name. */
export function layer(before: string, after: string, { path }: At): Finding[] {
  const message = `now comes from the ${after} layer, was ${before}`;
  return [{ path, kind: "changed", level: "risky", message, before, after }];
}

/** `package`: a version is an upgrade; another package is other code. */
export function packageVersion(before: string | undefined, after: string | undefined, { path }: At): Finding[] {
  const upgrade = before !== undefined && after !== undefined && packageName(before) === packageName(after);
  const level: Level = upgrade ? "compatible" : "risky";
  const message = `package changed from ${before ?? "none"} to ${after ?? "none"}`;
  return [{ path, kind: kindOf(before, after), level, message, ...sides(before, after) }];
}

interface Shadow {
  readonly source: string;
  readonly layer: string;
  readonly package?: string | undefined;
}

/** `shadows`: what the winner hides. */
export function shadows(
  before: readonly Shadow[] | undefined,
  after: readonly Shadow[] | undefined,
  { path }: At,
): Finding[] {
  const message = `hides ${told(after)}, was ${told(before)}`;
  return [{ path, kind: kindOf(before, after), level: "compatible", message, ...sides(before, after) }];
}

function told(list: readonly Shadow[] | undefined): string {
  if (list === undefined || list.length === 0) return "nothing";
  return list.map((each) => (each.package === undefined ? each.source : `${each.source} (${each.package})`)).join(", ");
}

/** What every entry has. */
export const origin = { source, layer, package: packageVersion, shadows } as const;
