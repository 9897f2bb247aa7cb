import type { Definition } from "../analyze/definition.js";
import type { Diagnostic } from "../diagnostics/diagnostic.js";
import type { AgentTree } from "../scan/tree.js";
import type { SurfaceEntry } from "./surface.js";

/** A rule looks at one agent's layers as a whole and says what is wrong with them. */
export type Rule = (subject: Subject) => readonly Diagnostic[];

export interface Subject {
  readonly agent: AgentTree;
  readonly definitions: readonly Definition[];
  readonly entries: readonly SurfaceEntry[];
}
