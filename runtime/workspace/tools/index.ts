/** The `workspace` section: the built-in tools that act on the working directory. Run when a turn first needs them. */
import { runScript } from "../scripts.js";
import { edit } from "./edit.js";
import { glob } from "./glob.js";
import { grep } from "./grep.js";
import { ls } from "./ls.js";
import { read } from "./read.js";
import { shell } from "./shell.js";
import { ToolFailure, type ToolPlace, type WorkspaceTool } from "./tool.js";
import { write } from "./write.js";

/** What the section exports. */
export interface WorkspaceSection {
  readonly tools: readonly WorkspaceTool[];
  /** Whether an error is a failure written for the model. */
  isFailure(error: unknown): boolean;
  /** Runs an agent tool. */
  readonly runScript: typeof runScript;
}

export const tools: WorkspaceSection["tools"] = [read, write, edit, ls, glob, grep, shell];
export const isFailure: WorkspaceSection["isFailure"] = (error) => error instanceof ToolFailure;
export type { ToolPlace, WorkspaceTool };
export { runScript };
