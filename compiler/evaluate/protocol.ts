/** What the compiler and its evaluation child say to each other. Plain JSON. */

import type { CodeName } from "../diagnostics/codes.js";
import type { Severity } from "../diagnostics/diagnostic.js";
import type { Kind } from "../slots.js";

/** One definition to read. */
export interface EvaluationEntry {
  readonly slug: string;
  readonly id: string;
  readonly kind: Kind;
  /** Of an extension: key of the module that defines it, whose folder holds what it brings. */
  readonly definedIn?: string;
  /** Keys of all modules that it reaches, itself included; filled in for guarded runs. */
  readonly needs: readonly string[];
}

/** In the environment of a run: mounts are pardoned for settings that they refuse (`runtime/authoring/extensions.ts`). */
export const pardonMark = "BDK_PARDONED_SETTINGS";

/** Load this text and read these definitions from it. */
export interface EvaluationRun {
  readonly text: string;
  /** Every entry loads by itself (`templates/entry.ts`). */
  readonly guarded: boolean;
  readonly entries: readonly EvaluationEntry[];
  /** Absolute folder that stands for the project's in `import.meta`. */
  readonly root: string;
  readonly folders: Readonly<Record<string, string>>;
  readonly externals: readonly { readonly name: string; readonly from: string; readonly imports: readonly string[] }[];
  /** Absolute folder that other packages are found from. */
  readonly resolveFrom: string;
  /** The whole environment of this run. */
  readonly env: Readonly<Record<string, string>>;
  /** Milliseconds that one load may take. */
  readonly timeoutMs: number;
}

/** Something wrong with what a module exports. */
export interface Problem {
  readonly code: CodeName;
  /** Dotted path of the field, `""` for the definition itself. */
  readonly path: string;
  readonly message: string;
  /** Another field that has to do with it. */
  readonly also?: { readonly path: string; readonly text: string };
  readonly help?: string;
  readonly severity?: Severity;
}

/** Why a module did not load. */
export interface Failure {
  /** `unmounted`: it reads the settings of an extension whose mount has given none. */
  readonly kind: "threw" | "timeout" | "exit" | "died" | "unmounted";
  readonly message: string;
  /** Stack of the text that ran, not yet in terms of the sources. */
  readonly stack: string;
  /** Key of the innermost module that was loading. */
  readonly module?: string;
}

/** Something that a module did while loading and should not. */
export interface Incident {
  readonly kind: "exit" | "listen" | "rejection";
  readonly message: string;
  readonly stack: string;
}

/** What a definition says, in the manifest's terms; checked and completed by the manifest phase. */
export type Facts = Readonly<Record<string, unknown>>;

export interface EntryOutcome {
  readonly slug: string;
  readonly id: string;
  readonly facts?: Facts;
  readonly problems: readonly Problem[];
  readonly failure?: Failure;
}

/** The end of a run. */
export interface RunReport {
  readonly outcomes: readonly EntryOutcome[];
  /** Why the text as a whole did not load (flat runs). */
  readonly failure?: Failure;
  readonly incidents: readonly Incident[];
  /** Names of the environment that were read, by the module that was loading (`""` when none was). */
  readonly reads: Readonly<Record<string, readonly string[]>>;
}

export type ChildMessage =
  | { readonly type: "ready" }
  /** A guarded entry begins. */
  | { readonly type: "loading"; readonly slug: string; readonly id: string }
  /** A module begins: told at once, so that one that never returns can be named. */
  | { readonly type: "module"; readonly key: string }
  | { readonly type: "entry"; readonly outcome: EntryOutcome }
  | { readonly type: "report"; readonly report: RunReport };
