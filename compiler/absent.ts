import { diagnostic } from "./diagnostics/diagnostic.js";
import type { CompileResult } from "./index.js";

/** The result for a folder that is not there. */
export function absentProject(dir: string): CompileResult {
  const message = `there is no folder ${dir}`;
  const help = "give the folder that holds bot/, or start one with bdk init";
  return { diagnostics: [diagnostic("noProject", { message, help })], surfaces: [], inputs: [], timings: {} };
}
