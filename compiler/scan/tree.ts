import type { Kind } from "../slots.js";
import type { PluginPart } from "./plugin/plugin.js";

/** Where an entry comes from, weakest first: a later layer wins over an earlier one. */
export type Layer = "framework" | "extension" | "overlay" | "project";

/** A package that contributes entries, as its own package.json names it; or a plugin, as its manifest does. */
export interface PackageRef {
  readonly name: string;
  readonly version?: string;
  /** Folder of a package, relative to the source root; a plugin's files are the project's own. */
  readonly dir?: string;
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
  /** What a plugin's reader made of the file; nobody else reads it then. */
  readonly part?: PluginPart;
}

/** A mount, and what stands behind it. */
export interface TreeMount {
  readonly namespace: string;
  /** The mount's own module, relative to the source root. */
  readonly file: string;
  readonly package?: PackageRef;
  /**
   * - `package`: the module that defines the extension was found
   * - `plugin`: the folder of a plugin was read
   * - `inline`: the mount module defines the extension itself, from the files beside it
   * - `unknown`: only running the mount tells; what it adds is not known
   */
  readonly form: "package" | "plugin" | "inline" | "unknown";
  /** The module that calls `defineExtension`; its folder holds the slots. */
  readonly module?: string;
  /** Modules that hand the extension on to the mount, where it does not import that module itself. */
  readonly via?: readonly string[];
  /** What the mount imports the extension as. */
  readonly specifier?: string;
  /** Folder whose modules are this extension's own: two mounts of it are two instances of them. */
  readonly scope?: string;
}

/** One agent of the project folder. */
export interface AgentTree {
  readonly slug: string;
  /** Display name: package.json `name`, else the directory's name. */
  readonly name: string;
  /** Project folder of this agent relative to the source root, "" when it is the root itself. */
  readonly dir: string;
  /** `bot` or `agent`; "" for an extension package, whose slots stand at its root. */
  readonly base: "bot" | "agent" | "";
  /** In byte order of their namespaces. */
  readonly mounts: readonly TreeMount[];
  readonly entries: readonly Entry[];
  /** Files in a slot whose ending it does not take: data for a module beside them, or definitions gone astray. */
  readonly strays: readonly Stray[];
}

/** A file that stands in a slot's folder without being an entry of it. */
export interface Stray {
  readonly kind: Kind;
  readonly file: string;
}

/**
 * Phase 1's value. `mode` is `single` for one project, `multi` for a folder of several, `extension` for a package that
 * projects mount.
 */
export interface ProjectTree {
  readonly mode: "single" | "multi" | "extension";
  readonly agents: readonly AgentTree[];
}
