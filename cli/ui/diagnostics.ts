import { readFileSync, statSync } from "node:fs";
import { join, relative, sep } from "node:path";
import type { Diagnostic } from "../../compiler/diagnostics/diagnostic.js";
import { renderGithub, renderJson, renderPretty } from "../../compiler/diagnostics/render.js";
import type { Sink } from "./sink.js";

export type DiagnosticFormat = "pretty" | "json" | "github";

/**
 * All diagnostics as text with a final newline; nothing for none, but for JSON.
 *
 * @param root absolute folder that their files are relative to, to show the source lines
 */
export function renderDiagnostics(
  diagnostics: readonly Diagnostic[],
  root: string | undefined,
  format: DiagnosticFormat,
  sink: Sink,
): string {
  switch (format) {
    case "json":
      return renderJson(diagnostics);
    case "github":
      return renderGithub(diagnostics, root === undefined ? "" : repositoryPath(root));
    case "pretty":
      return renderPretty(diagnostics, {
        colour: sink.colors.isColorSupported,
        ...(root === undefined ? {} : { read: (file: string) => readSource(join(root, file)) }),
      });
  }
}

/** A diagnostic may be about what is no file: a pipe would be read for ever. */
function readSource(file: string): string {
  return statSync(file).isFile() ? readFileSync(file, "utf8") : "";
}

/** Where the project stands in the repository that GitHub Actions has checked out. */
function repositoryPath(root: string): string {
  const path = relative(process.env.GITHUB_WORKSPACE ?? process.cwd(), root);
  return path.startsWith("..") ? "" : path.split(sep).join("/");
}

/** Prints what there is to say to a person. */
export function writeDiagnostics(
  sink: Sink,
  diagnostics: readonly Diagnostic[],
  root: string | undefined,
): Promise<void> {
  return sink.write(renderDiagnostics(diagnostics, root, "pretty", sink));
}

/** `2 errors, 1 warning`, or `no diagnostics`. */
export function summarize(diagnostics: readonly Diagnostic[]): string {
  if (diagnostics.length === 0) return "no diagnostics";
  const parts = (["error", "warning", "info"] as const).flatMap((severity) => {
    const count = diagnostics.filter((each) => each.severity === severity).length;
    return count === 0 ? [] : [`${count} ${severity}${count === 1 || severity === "info" ? "" : "s"}`];
  });
  return parts.join(", ");
}
