/** `@cursor/bdk/build`: the compiler, for programs. */
import { resolve } from "node:path";
import { hasErrors } from "../../compiler/diagnostics/diagnostic.js";
import type { Bundle } from "../../compiler/emit/bundle.js";
import { type CompileOptions, type CompileResult, compile, createCompiler } from "../../compiler/index.js";
import type { Manifest } from "../../runtime/manifest/schema.js";
import { type WrittenFile, writeBundle } from "../build/write.js";

export type { Diagnostic } from "../../compiler/diagnostics/diagnostic.js";
export type { Compiler } from "../../compiler/index.js";
export type { Bundle, CompileOptions, CompileResult, Manifest };
export { compile, createCompiler };

export interface BuildOptions extends Omit<CompileOptions, "until"> {
  /** Folder to write to, relative to the working directory. Left out: nothing is written and the bundle is only returned. */
  readonly out?: string;
}

export interface BuildResult extends CompileResult {
  /** No diagnostic is an error. */
  readonly ok: boolean;
  /** What was written, with sizes in bytes; empty without `out` or with errors. */
  readonly written: readonly WrittenFile[];
}

/**
 * Builds a project folder: the same as `bdk build`, without a terminal. Problems of the project are `diagnostics`, never thrown.
 *
 * @example
 * const { ok, bundle, diagnostics } = await build("my-agent", { out: "my-agent/dist" });
 * if (!ok) for (const each of diagnostics) console.error(each.code, each.message);
 */
export async function build(dir: string, options: BuildOptions = {}): Promise<BuildResult> {
  const { out, ...compileOptions } = options;
  const result = await compile(resolve(dir), { environment: "build", ...compileOptions, until: "bundle" });
  const ok = !hasErrors(result.diagnostics) && result.bundle !== undefined;
  const written =
    ok && out !== undefined && result.bundle !== undefined ? await writeBundle(result.bundle, resolve(out)) : [];
  return { ...result, ok, written };
}
