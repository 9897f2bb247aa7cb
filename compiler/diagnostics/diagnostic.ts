import { compareBytes } from "../bytes.js";
import { type CodeName, codes } from "./codes.js";

/** A place in a project file. Lines and columns start at 1; `file` is a POSIX path relative to the project root. */
export interface Span {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly endLine?: number;
  readonly endColumn?: number;
}

/** A span with a word about it; the primary one is where the caret goes. */
export interface Label {
  readonly span: Span;
  readonly text?: string;
  readonly primary?: boolean;
}

export type Severity = "error" | "warning" | "info";

/** One thing to say about a project: a plain value, never thrown inside a phase. */
export interface Diagnostic {
  /** Permanent code such as `BDK2003`; `bdk explain BDK2003` tells more. */
  readonly code: string;
  readonly severity: Severity;
  readonly message: string;
  readonly labels: readonly Label[];
  /** How to mend it, in one sentence. */
  readonly help?: string;
  /** Output that belongs to it, such as the message of the module that threw. */
  readonly notes?: readonly string[];
}

/** What every phase returns: its value, and all it has to say. */
export interface Result<T> {
  readonly value: T;
  readonly diagnostics: readonly Diagnostic[];
}

/** The varying part of a diagnostic; code and severity come from the table in `codes.ts`. */
export interface DiagnosticInit {
  readonly message: string;
  /** The primary place, or several labels where one is primary. */
  readonly at?: Span | readonly Label[];
  readonly help?: string;
  readonly notes?: readonly string[];
  /** Overrides the table's severity (used where a build defers what `validate` refuses). */
  readonly severity?: Severity;
}

/**
 * Makes a diagnostic from its entry in the code table.
 *
 * @example diagnostic("unknownFolder", { message: 'unknown folder "tool/"', at: span, help: "did you mean tools/?" })
 */
export function diagnostic(name: CodeName, init: DiagnosticInit): Diagnostic {
  const { code, severity } = codes[name];
  const labels: readonly Label[] =
    init.at === undefined ? [] : "file" in init.at ? [{ span: init.at, primary: true }] : init.at;
  return {
    code,
    severity: init.severity ?? severity,
    message: init.message,
    labels,
    ...(init.help === undefined ? {} : { help: init.help }),
    ...(init.notes === undefined ? {} : { notes: init.notes }),
  };
}

/** Where the caret goes; undefined for a diagnostic without a place. */
export function primarySpan(each: Diagnostic): Span | undefined {
  return (each.labels.find((label) => label.primary) ?? each.labels[0])?.span;
}

/** By place, then by code; what says the same about the same place is said once. */
export function inOrder(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const keyed = new Map(diagnostics.map((each) => [sortKey(each), each]));
  return [...keyed].sort(([a], [b]) => compareBytes(a, b)).map(([, each]) => each);
}

function sortKey(each: Diagnostic): string {
  const { file, line, column } = primarySpan(each) ?? { file: "", line: 0, column: 0 };
  const digits = (value: number) => String(value).padStart(9, "0");
  return [file, digits(line), digits(column), each.code, each.message].join("\0");
}

/** True when the pipeline must stop at the next phase boundary. */
export function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some((each) => each.severity === "error");
}
