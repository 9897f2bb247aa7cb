/**
 * What the syntax of one module tells: plain JSON that depends on nothing but the file's text, so that it can be cached
 * by a hash of it.
 */

/** First line, first column, last line, last column; all start at 1, the end is exclusive. */
export type Place = readonly [line: number, column: number, endLine: number, endColumn: number];

export interface ModuleFacts {
  /** The first syntax error; the parser's further ones are mostly echoes of it. */
  readonly error?: { readonly message: string; readonly place: Place; readonly more: number };
  /** What it imports when it runs: type-only imports are not among them. */
  readonly imports: readonly { readonly specifier: string; readonly place: Place }[];
  readonly env: readonly { readonly name: string; readonly place: Place }[];
  /** File names that its strings end in: data files that it may read. */
  readonly mentions: readonly string[];
  readonly exported?: ExportFacts;
  /** Names that it hands on from other modules; `*` for all of another's. Absent when there are none. */
  readonly reexports?: readonly ReexportFacts[];
}

/** `export { imported as name } from "from"`, or the same through an import. */
export interface ReexportFacts {
  readonly name: string;
  readonly imported: string;
  readonly from: string;
  readonly place: Place;
}

/** The default export. */
export interface ExportFacts {
  readonly place: Place;
  /**
   * - `call`: the call of a helper or factory
   * - `text`, `object`, `array`: a value written out
   * - `other`: a function, a class, a number: `what` names it
   * - `opaque`: anything that only running it can tell
   */
  readonly form: "call" | "text" | "object" | "array" | "other" | "opaque";
  readonly what?: string;
  readonly callee?: CalleeFacts;
  /** The text, for `text` without substitutions. */
  readonly text?: string;
  /** Properties of the object, or of the call's first argument. */
  readonly properties: readonly PropertyFacts[];
  /** There may be more properties than those: a spread, a computed key, an argument that is no object literal. */
  readonly open: boolean;
}

export interface CalleeFacts {
  /** As its module exports it. */
  readonly name: string;
  /** The specifier it is imported from; absent for what the module itself declares. */
  readonly from?: string;
  /** Neither imported nor declared. */
  readonly undeclared?: true;
  readonly place: Place;
}

/** One property of a nest of object literals. */
export interface PropertyFacts {
  readonly path: readonly string[];
  readonly key: Place;
  readonly value: Place;
  /** Its value, when it is written out. */
  readonly literal?: Literal;
  /** The value is an object literal that may hold more than the properties listed below this path. */
  readonly open?: true;
  /** The value is an object literal. */
  readonly object?: true;
}

export type Literal = string | number | boolean | null | readonly Literal[];
