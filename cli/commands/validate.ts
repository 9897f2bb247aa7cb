import { hasErrors } from "../../compiler/diagnostics/diagnostic.js";
import { compileProject } from "../compile-project.js";
import { exit, usageFailure } from "../exit.js";
import type { Run } from "../index.js";
import { projectFolder } from "../project.js";
import { renderDiagnostics, summarize } from "../ui/diagnostics.js";

export const run: Run<"validate"> = async ({ options }, terminal) => {
  if (options.json && options.format === "github") {
    throw usageFailure("optionsExclude", {
      message: "--json and --format github exclude each other",
      help: "choose one",
    });
  }
  const format = options.json ? "json" : options.format;
  const root = projectFolder(options.dir);
  const { diagnostics } = await compileProject(
    root,
    { environment: "strict", until: "manifest", types: options.types },
    terminal,
    format !== "pretty",
  );
  await terminal.out.write(renderDiagnostics(diagnostics, root, format, terminal.out));
  if (format === "pretty") await terminal.out.line(`${diagnostics.length === 0 ? "" : "\n"}${summarize(diagnostics)}`);
  return hasErrors(diagnostics) ? exit.failed : exit.ok;
};
