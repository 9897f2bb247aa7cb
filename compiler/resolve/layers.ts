import type { Definition } from "../analyze/definition.js";
import type { Layer } from "../scan/tree.js";
import type { SurfaceEntry } from "./surface.js";

const strength: { readonly [L in Layer]: number } = { framework: 0, extension: 1, overlay: 2, project: 3 };

/** One entry a name: the definition of the strongest layer wins, and keeps those below it as shadowed. */
export function layered(definitions: readonly Definition[]): readonly SurfaceEntry[] {
  return [...byId(definitions)].flatMap(([id, sharing]) => {
    const [winner, ...hidden] = [...sharing].sort((a, b) => strength[b.entry.layer] - strength[a.entry.layer]);
    return winner === undefined ? [] : [{ id, winner, shadowed: hidden.reverse() }];
  });
}

/** Definitions by the id that they share. */
function byId(definitions: readonly Definition[]): ReadonlyMap<string, readonly Definition[]> {
  const groups = new Map<string, Definition[]>();
  for (const definition of definitions) {
    const group = groups.get(definition.id) ?? [];
    group.push(definition);
    groups.set(definition.id, group);
  }
  return groups;
}
