import type { CodeName } from "../compiler/diagnostics/codes.js";
import type { Diagnostic, DiagnosticInit } from "../compiler/diagnostics/diagnostic.js";
import { diagnostic } from "../compiler/diagnostics/diagnostic.js";

/** Exit codes of every command. Source: `wire.md` (CLI and process). */
export const exit = {
  ok: 0,
  /** Findings, a failed turn, a tool that answered `isError`, a server that could not be reached. */
  failed: 1,
  usage: 2,
  /** The turn is parked until someone approves a tool call. */
  waiting: 3,
  /** A bug of ours. */
  bug: 70,
} as const;

export type ExitCode = (typeof exit)[keyof typeof exit];

/**
 * A problem that ends a command: diagnostics to show, and the code to exit with.
 *
 * @example throw new CommandFailure(exit.usage, [diagnostic("unknownCommand", { message: 'unknown command "biuld"' })])
 */
export class CommandFailure extends Error {
  override readonly name = "CommandFailure";
  readonly exitCode: ExitCode;
  readonly diagnostics: readonly Diagnostic[];
  /** Absolute folder that the diagnostics' files are relative to, when they have any. */
  readonly root: string | undefined;

  constructor(exitCode: ExitCode, diagnostics: readonly Diagnostic[], root?: string) {
    super(diagnostics.map((each) => each.message).join("; "));
    this.exitCode = exitCode;
    this.diagnostics = diagnostics;
    this.root = root;
  }
}

/** A mistake on the command line: exits 2. */
export function usageFailure(code: CodeName, init: DiagnosticInit): CommandFailure {
  return new CommandFailure(exit.usage, [diagnostic(code, init)]);
}

/** Something that did not work out: exits 1. */
export function failure(code: CodeName, init: DiagnosticInit): CommandFailure {
  return new CommandFailure(exit.failed, [diagnostic(code, init)]);
}
