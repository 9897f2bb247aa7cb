import type { Definition } from "../analyze/definition.js";
import { compareBytes } from "../bytes.js";
import type { AgentTree, Entry } from "../scan/tree.js";
import type { Mount, SurfaceEntry } from "./surface.js";

/** The project's mounts in order of their namespaces, each with what it adds and what its overlays took away. */
export function mountsOf(
  { mounts }: AgentTree,
  definitions: readonly Definition[],
  entries: readonly SurfaceEntry[],
): readonly Mount[] {
  return mounts.map((mount): Mount => {
    const brought = new Set(definitions.filter(({ entry }) => isOf(entry, mount.namespace)).map(idAndFile));
    const own = entries.filter(({ winner }) => isOf(winner.entry, mount.namespace) || brought.has(idAndFile(winner)));
    const ids = (each: readonly SurfaceEntry[]) => each.map(({ id }) => id).sort(compareBytes);
    return {
      ...mount,
      contributes: ids(own.filter(({ winner }) => !isDisabled(winner))),
      disabled: ids(own.filter(({ winner }) => isDisabled(winner))),
      overlays: own.filter(({ winner }) => winner.entry.layer === "overlay").sort((a, b) => compareBytes(a.id, b.id)),
    };
  });
}

/** Whether an entry stands for something that the mount adds. Instructions of a subagent are a part of it. */
function isOf({ mount, subagent }: Entry, namespace: string): boolean {
  return mount === namespace && subagent === undefined;
}

/** Seeds of one package that is mounted twice are one entry, and both mounts bring it. */
function idAndFile({ id, entry }: Definition): string {
  return `${id}\0${entry.file}`;
}

/** An overlay that removes what it stands on; it has no place on the surface itself. */
export function isDisabled({ define, entry }: Definition): boolean {
  return entry.layer === "overlay" && define !== undefined && /^disable/.test(define);
}
