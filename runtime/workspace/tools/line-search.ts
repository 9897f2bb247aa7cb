import { createContext, Script } from "node:vm";
import { ToolFailure } from "./tool.js";

/** How long a pattern may take over one file, in milliseconds: it comes from a model, and some take forever. */
const limitMs = 500;

/** Numbers of the lines that fit, from 0, at most `limit`. */
export type LineSearch = (lines: readonly string[], limit: number) => readonly number[];

/**
 * Makes a search of lines by a regular expression. It runs where the engine can be stopped, so that a pattern that
 * backtracks without end costs half a second and not the server.
 */
export function createLineSearch(pattern: string, ignoreCase: boolean): LineSearch {
  const expression = compile(pattern, ignoreCase ? "iu" : "u") ?? compile(pattern, ignoreCase ? "i" : "");
  if (typeof expression === "string" || expression === undefined) {
    throw new ToolFailure(
      `The pattern is no regular expression: ${String(expression)}. Set literal to search for the text itself.`,
    );
  }
  const scope = { expression, lines: [] as readonly string[], limit: 0, found: [] as number[] };
  const context = createContext(scope);
  const script = new Script(
    "for (let at = 0; at < lines.length && found.length < limit; at += 1) if (expression.test(lines[at])) found.push(at);",
  );
  return (lines, limit) => {
    Object.assign(scope, { lines, limit, found: [] });
    try {
      script.runInContext(context, { timeout: limitMs });
    } catch (error) {
      if (isTimeout(error)) {
        throw new ToolFailure("The pattern takes too long; make it simpler, without repeats inside repeats.");
      }
      throw error;
    }
    return scope.found;
  };
}

/** The error is of the script's own realm: none of ours by instanceof. */
function isTimeout(error: unknown): boolean {
  const isObject = typeof error === "object" && error !== null;
  return isObject && "code" in error && error.code === "ERR_SCRIPT_EXECUTION_TIMEOUT";
}

/** The expression; the message when it is none, and nothing when it may be one without the flag `u`. */
function compile(pattern: string, flags: string): RegExp | string | undefined {
  try {
    return new RegExp(pattern, flags);
  } catch (error) {
    return flags.includes("u") ? undefined : error instanceof Error ? error.message : String(error);
  }
}
