import { hasErrors } from "../../compiler/diagnostics/diagnostic.js";
import { compileProject } from "../compile-project.js";
import { CommandFailure, exit } from "../exit.js";
import type { Run } from "../index.js";
import { projectFolder } from "../project.js";
import { writeDiagnostics } from "../ui/diagnostics.js";

export const run: Run<"manifest"> = async ({ options }, terminal) => {
  if (options.schema) {
    const [{ manifest }, z] = await Promise.all([import("../../runtime/manifest/schema.js"), import("zod/v4")]);
    await terminal.out.line(JSON.stringify(z.toJSONSchema(manifest), null, 2));
    return exit.ok;
  }
  const root = projectFolder(options.dir);
  const result = await compileProject(root, { environment: "build", until: "manifest" }, terminal, options.json);
  if (result.manifest === undefined || hasErrors(result.diagnostics))
    throw new CommandFailure(exit.failed, result.diagnostics, root);
  await writeDiagnostics(terminal.err, result.diagnostics, root);
  await terminal.out.line(JSON.stringify(result.manifest, null, 2));
  return exit.ok;
};
