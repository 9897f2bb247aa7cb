import type { Diagnostic } from "../../compiler/diagnostics/diagnostic.js";
import { renderGithub, renderJson, renderPretty } from "../../compiler/diagnostics/render.js";
import { diskSource } from "../../compiler/source.js";
import type { Sink } from "./sink.js";

export type DiagnosticFormat = "pretty" | "json" | "github";

/** All diagnostics as text with a final newline, frames of the source included; nothing for none, but for JSON. */
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
      return renderGithub(diagnostics);
    case "pretty":
      return renderPretty(diagnostics, { colour: sink.colors.isColorSupported, ...frames(root) });
  }
}

/** Source lines are shown only where there is a project to read them from. */
function frames(root: string | undefined): { readonly read?: (file: string) => string } {
  if (root === undefined) return {};
  const source = diskSource(root);
  return { read: (file) => source.readText(file) };
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
