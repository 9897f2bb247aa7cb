import type { Diagnostic } from "../../compiler/diagnostics/diagnostic.js";
import type { InfoDiagnostic } from "../../runtime/host/info.js";

/** A project's findings in the form that `/v1/info` and `bdk info --json` show. */
export function infoDiagnostics(diagnostics: readonly Diagnostic[]): readonly InfoDiagnostic[] {
  return diagnostics.flatMap(({ code, severity, message, labels }) => {
    if (severity === "info") return [];
    const span = (labels.find((label) => label.primary === true) ?? labels[0])?.span;
    return [
      {
        code,
        severity,
        message,
        ...(span === undefined ? {} : { file: span.file, line: span.line, column: span.column }),
      },
    ];
  });
}
