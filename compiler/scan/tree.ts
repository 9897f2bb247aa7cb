import type { Kind } from "../slots.js";

/** Where an entry comes from, weakest first: a later layer wins over an earlier one. */
export type Layer = "framework" | "extension" | "overlay" | "project";

/** A package that contributes entries, as its own package.json names it. */
export interface PackageRef {
  readonly name: string;
  readonly version: string;
}

/** One thing that the slot table found: a file or folder with a kind and a name, nothing read yet. */
export interface Entry {
  readonly kind: Kind;
  /**
   * Short name from the path: `approve_pr`, `audit/usage`, the path of a seed below its folder, the file stem of a part
   * of `instructions/`; empty for single-file slots.
   */
  readonly name: string;
  /** The defining file, POSIX, relative to the source root. */
  readonly file: string;
  /** Files that belong to it besides `file`: a skill's siblings. In byte order. */
  readonly files: readonly string[];
  readonly layer: Layer;
  /** Namespace of the mount that brings it (extension and overlay layers). */
  readonly mount?: string;
  /** The subagent whose folder it stands in (its instructions). */
  readonly subagent?: string;
  readonly package?: PackageRef;
}

/** One agent of the project folder. */
export interface AgentTree {
  readonly slug: string;
  /** Display name: package.json `name`, else the directory's name. */
  readonly name: string;
  /** Project folder of this agent relative to the source root, "" when it is the root itself. */
  readonly dir: string;
  /** `bot` or `agent`. */
  readonly base: "bot" | "agent";
  readonly entries: readonly Entry[];
  /** Files in a slot whose ending it does not take: data for a module beside them, or definitions gone astray. */
  readonly strays: readonly Stray[];
}

/** A file that stands in a slot's folder without being an entry of it. */
export interface Stray {
  readonly kind: Kind;
  readonly file: string;
}

/** Phase 1's value. `mode` is `single` for one project, `multi` for a folder of several. */
export interface ProjectTree {
  readonly mode: "single" | "multi";
  readonly agents: readonly AgentTree[];
}
