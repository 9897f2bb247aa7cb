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

/**
 * Whether an overlay takes the place of all that stands below an id: of a subagent with its instructions, or of
 * instructions in several parts.
 */
export function covers(overlay: Definition, below: Definition): boolean {
  const { kind, layer, mount, name, subagent } = overlay.entry;
  const isWhole = kind === "subagent" || (kind === "instructions" && name === "" && subagent === undefined);
  if (layer !== "overlay" || below.entry.layer !== "extension" || mount !== below.entry.mount) return false;
  return isWhole && below.id.startsWith(`${overlay.id}/`);
}

/** Definitions by the id that they share. */
function byId(definitions: readonly Definition[]): ReadonlyMap<string, readonly Definition[]> {
  const wholes = definitions.filter(({ entry }) => entry.layer === "overlay");
  const groups = new Map<string, Definition[]>();
  for (const definition of definitions) {
    const id = wholes.find((overlay) => covers(overlay, definition))?.id ?? definition.id;
    const group = groups.get(id) ?? [];
    // Two mounts of one package bring the same seed.
    if (group.some(({ entry }) => entry.file === definition.entry.file)) continue;
    group.push(definition);
    groups.set(id, group);
  }
  return groups;
}
