/** The compiler's door. `compile()` runs the whole pipeline; `createCompiler()` keeps caches between runs for `bdk dev`. */
import type { Diagnostic } from "./diagnostics/diagnostic.js";
import type { Bundle } from "./emit/bundle.js";
import type { Manifest } from "../runtime/manifest/schema.js";
import type { Surface } from "./resolve/surface.js";

export type Phase = "scan" | "analyze" | "resolve" | "evaluate" | "manifest" | "emit" | "types";

export interface CompileOptions {
  /**
   * How problems of the environment are taken: `build` hides the builder's environment and defers to startup what
   * fails only for lack of it; `strict` (validate, serve, dev, run) evaluates with the real one. Default `build`.
   */
  readonly environment?: "build" | "strict";
  /** How far to go: `validate` and `info` stop before emit; `serve` and `dev` need the linked project but no server.mjs. Default `bundle`. */
  readonly until?: "manifest" | "project" | "bundle";
  /** Also type-check with the project's tsconfig. */
  readonly types?: boolean;
  /** Content-hash cache folder; `false` for none. Default `<project>/node_modules/.cache/bdk`, else the user's cache folder. */
  readonly cache?: string | false;
  /** Runtime sections to link besides those the manifest needs (`--include`). */
  readonly include?: readonly string[];
  /** Deadline of one module load in milliseconds. Default 10 000. */
  readonly loadTimeoutMs?: number;
  readonly onPhase?: (phase: Phase) => void;
}

export interface CompileResult {
  readonly diagnostics: readonly Diagnostic[];
  readonly surfaces: readonly Surface[];
  /** Absent when an error stopped the pipeline before that phase. */
  readonly manifest?: Manifest;
  readonly bundle?: Bundle;
  /** Absolute paths of files and folders that a change of would alter the result. */
  readonly inputs: readonly string[];
  /** Wall milliseconds by phase. */
  readonly timings: Readonly<Partial<Record<Phase, number>>>;
}

export interface Compiler {
  compile(): Promise<CompileResult>;
  close(): Promise<void>;
}
