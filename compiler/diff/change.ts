/** What `diff()` says: plain, JSON-safe values, ordered, ready for any renderer. */

/**
 * How much a change matters.
 * - `breaking`: something that callers rely on stops working (a tool's name or input, an output field, a route, a slug).
 * - `risky`: the bot may do more, is checked less, needs something new around it, or stops doing something by itself.
 * - `compatible`: everything else.
 */
export type Level = "breaking" | "risky" | "compatible";

/** Levels, the gravest first; renderers and sorting follow it. */
export const levels: readonly Level[] = ["breaking", "risky", "compatible"];

export type ChangeKind = "added" | "removed" | "renamed" | "changed";

/** `name@version` of the package that brings the entry, on either side. */
export interface PackageTransition {
  readonly before?: string;
  readonly after?: string;
}

/** What one rule found, before it is placed in an entry. */
export interface Finding {
  /** Below the entry: `/inputSchema/properties/reason`; list items stand under their key. `""` is the entry itself. */
  readonly path: string;
  readonly kind: ChangeKind;
  readonly level: Level;
  /** One sentence without the entry's name and without a final stop. */
  readonly message: string;
  readonly before?: unknown;
  readonly after?: unknown;
  /** Unified hunks of a changed prose text; each line starts with ` `, `+`, `-`, `\` or `@`. */
  readonly textDiff?: string;
}

/** One difference between two manifests. */
export interface Change extends Finding {
  /** Slug of the agent; absent for what belongs to the whole project (`env`, `external:…`, `manifest`). */
  readonly agent?: string;
  /** `tool:ci__job_log`, `agent`, `instructions`, `seed:notes/a.md`; the newer name when it was renamed. */
  readonly entry: string;
  /** Older name of a renamed entry. */
  readonly previousEntry?: string;
  /** Older slug of a renamed agent. */
  readonly previousAgent?: string;
  readonly package?: PackageTransition;
}

/** How many changes there are of each level. */
export function countLevels(changes: readonly Change[]): Readonly<Record<Level, number>> {
  const counts: Record<Level, number> = { breaking: 0, risky: 0, compatible: 0 };
  for (const change of changes) counts[change.level] += 1;
  return counts;
}

/** `before` and `after` of a finding; a side that is absent is left out rather than undefined. */
export function sides(before: unknown, after: unknown): { readonly before?: unknown; readonly after?: unknown } {
  return { ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) };
}
