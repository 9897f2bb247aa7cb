import { type Change, countLevels, type Level, levels } from "./change.js";
import { byBytes } from "./json.js";
import { packageName, packageVersionOf } from "./upgrade.js";

/** Changes as people read them: the project's own by level, then each package once with what it brings. */
export interface Report {
  readonly counts: Readonly<Record<Level, number>>;
  /** The project's own changes; levels without any are left out. */
  readonly own: readonly LevelGroup[];
  readonly packages: readonly PackageGroup[];
  /** More than one agent is concerned, so entries need their slug. */
  readonly severalAgents: boolean;
}

export interface LevelGroup {
  readonly level: Level;
  readonly changes: readonly Change[];
}

export interface PackageGroup {
  readonly name: string;
  /** `1.0.0 → 2.0.0`, `2.0.0, new`, or the version both sides have. */
  readonly versions: string;
  readonly counts: Readonly<Record<Level, number>>;
  /** The gravest first. */
  readonly changes: readonly Change[];
}

export function createReport(changes: readonly Change[]): Report {
  const own = changes.filter((change) => change.package === undefined);
  const agents = new Set(changes.flatMap((change) => (change.agent === undefined ? [] : [change.agent])));
  return {
    counts: countLevels(changes),
    own: levels
      .map((level) => ({ level, changes: own.filter((change) => change.level === level) }))
      .filter((group) => group.changes.length > 0),
    packages: groupPackages(changes.filter((change) => change.package !== undefined)),
    severalAgents: agents.size > 1,
  };
}

function groupPackages(changes: readonly Change[]): PackageGroup[] {
  const byName = new Map<string, Change[]>();
  for (const change of changes) {
    const name = packageName(change.package?.after ?? change.package?.before ?? "");
    byName.set(name, [...(byName.get(name) ?? []), change]);
  }
  return [...byName]
    .sort(([a], [b]) => byBytes(a, b))
    .map(([name, group]) => ({
      name,
      versions: versions(name, group),
      counts: countLevels(group),
      changes: levels.flatMap((level) => group.filter((change) => change.level === level)),
    }));
}

function versions(name: string, changes: readonly Change[]): string {
  const before = side(name, changes, "before");
  const after = side(name, changes, "after");
  if (before === after) return before;
  if (before === "") return `${after}, new`;
  return after === "" ? `${before}, removed` : `${before} → ${after}`;
}

/** Versions of the package on one side; several when mounts differ. */
function side(name: string, changes: readonly Change[], which: "before" | "after"): string {
  const found = changes.flatMap((change) => {
    const value = change.package?.[which];
    return value === undefined || packageName(value) !== name ? [] : [packageVersionOf(value)];
  });
  return [...new Set(found)].sort(byBytes).join(", ");
}

/** `tool:ci__job_log`, with the slug in front when several agents are concerned. */
export function entryLabel(change: Change, severalAgents: boolean): string {
  return severalAgents && change.agent !== undefined ? `${change.agent} ${change.entry}` : change.entry;
}

/** `2 breaking, 1 risky, 3 compatible`, or that there is nothing. */
export function summary(counts: Readonly<Record<Level, number>>): string {
  const parts = levels.filter((level) => counts[level] > 0).map((level) => `${counts[level]} ${level}`);
  return parts.length === 0 ? "no changes" : parts.join(", ");
}

/** Lines added and removed in a text diff. */
export function countLines(textDiff: string): { readonly added: number; readonly removed: number } {
  const lines = textDiff.split("\n");
  return {
    added: lines.filter((line) => line.startsWith("+")).length,
    removed: lines.filter((line) => line.startsWith("-")).length,
  };
}
