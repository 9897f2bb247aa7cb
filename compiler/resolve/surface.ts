import type { Definition } from "../analyze/definition.js";
import type { PackageRef, TreeMount } from "../scan/tree.js";

/** One name of the agent's surface: the definition that holds it, and those it hides. */
export interface SurfaceEntry {
  readonly id: string;
  readonly winner: Definition;
  /** Weakest first. */
  readonly shadowed: readonly Definition[];
}

/** A mounted extension or plugin. */
export interface Mount {
  readonly namespace: string;
  /** The mount file, relative to the project root. */
  readonly file: string;
  readonly form: TreeMount["form"];
  readonly package?: PackageRef;
  /**
   * The module that defines the extension, those that hand it on, the folder whose modules are its own, and what the mount
   * imports it as.
   */
  readonly module?: string;
  readonly via?: readonly string[];
  readonly scope?: string;
  readonly specifier?: string;
  /** Ids that it adds, sorted. */
  readonly contributes: readonly string[];
  /** Ids that an overlay removed. */
  readonly disabled: readonly string[];
  /** What overlays replace or remove; sorted by id. */
  readonly overlays: readonly SurfaceEntry[];
}

/** Phase 3's value: one surface an agent, entries sorted by id. */
export interface Surface {
  readonly slug: string;
  readonly name: string;
  readonly dir: string;
  readonly base: "bot" | "agent" | "";
  readonly entries: readonly SurfaceEntry[];
  readonly mounts: readonly Mount[];
}
