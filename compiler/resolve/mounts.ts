import type { Definition } from "../analyze/definition.js";
import { compareBytes } from "../bytes.js";
import type { Mount, SurfaceEntry } from "./surface.js";

/** The project's mounts in order of their namespaces, each with what it adds and what its overlays took away. */
export function mountsOf(definitions: readonly Definition[], entries: readonly SurfaceEntry[]): readonly Mount[] {
  return definitions
    .filter(({ entry }) => entry.kind === "extension")
    .map(({ entry }): Mount => {
      const own = entries.filter(({ winner }) => winner.entry.mount === entry.name);
      const isRemoved = ({ winner }: SurfaceEntry) => winner.define?.startsWith("disable") === true;
      const ids = (each: readonly SurfaceEntry[]) => each.map(({ id }) => id).sort(compareBytes);
      return {
        namespace: entry.name,
        file: entry.file,
        contributes: ids(own.filter((each) => !isRemoved(each))),
        disabled: ids(own.filter(isRemoved)),
      };
    })
    .sort((a, b) => compareBytes(a.namespace, b.namespace));
}
