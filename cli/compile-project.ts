import type { CompileOptions, CompileResult } from "../compiler/index.js";
import { createProgress } from "./ui/progress.js";
import type { Terminal } from "./ui/terminal.js";

/** Compiles with progress on stderr. The compiler loads here, not before. */
export async function compileProject(
  root: string,
  options: CompileOptions,
  terminal: Terminal,
  silent: boolean,
): Promise<CompileResult> {
  const { compile } = await import("../compiler/index.js");
  const progress = createProgress(terminal.err, "compile", silent);
  try {
    return await compile(root, { ...options, onPhase: (phase) => progress.step(phase) });
  } finally {
    progress.done();
  }
}
