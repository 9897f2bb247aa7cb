import type { Diagnostic, Span } from "../diagnostics/diagnostic.js";
import type { Slot } from "../slots.js";
import type { Definition } from "./definition.js";
import type { ExportFacts, Place, PropertyFacts } from "./facts.js";

/** A rule looks at one definition, says what is wrong with it, and knows of nothing else. */
export type Rule = (subject: Subject) => readonly Diagnostic[];

export interface Subject {
  readonly definition: Definition;
  readonly slot: Slot;
  /** The default export of its module; absent for prose. */
  readonly exported?: ExportFacts;
  /** What the slot's helper is called with; absent when something else is called. */
  readonly config?: Config;
  /** A place of its file; without one, the definition itself. */
  at(place?: Place): Span;
}

/** The written-out properties of a definition. */
export interface Config {
  /** There may be more of them than syntax shows. */
  readonly open: boolean;
  get(...path: readonly string[]): PropertyFacts | undefined;
  /** The properties directly below the path; without one, those at the top. */
  below(...path: readonly string[]): readonly PropertyFacts[];
}
