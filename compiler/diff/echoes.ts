import type { PlacedFinding } from "./entry.js";
import { join, split } from "./json.js";

const contributes = join("", "contributes");

/**
 * Leaves out that a mount gained or lost a contribution where the contribution's own coming or going is told: the same
 * fact twice would bury what else changed in the mount.
 */
export function withoutEchoes(findings: readonly PlacedFinding[]): readonly PlacedFinding[] {
  const told = new Set(findings.flatMap(comings));
  return findings.filter(({ path, before, after }) => {
    const name = after ?? before;
    return !(typeof name === "string" && path === join(contributes, name) && told.has(name));
  });
}

/** Ids that a finding tells the coming or going of. */
function comings({ entry, previousEntry, path, kind }: PlacedFinding): readonly string[] {
  if (kind === "changed") return [];
  if (path === "") return [entry, ...(previousEntry === undefined ? [] : [previousEntry])];
  const [list, name, ...below] = split(path);
  const isKind = /^artifacts(:|$)/.test(entry) && list === "kinds" && name !== undefined && below.length === 0;
  return isKind ? [`artifacts:${name}`] : [];
}
