/** `bot/result.ts`: host code that acts on the final text of every turn. */
import type { ArtifactsApi } from "./artifacts.js";
import type { HostServices, SessionInfo } from "./host.js";

/** What `commit` is given besides the text. */
export interface ResultContext {
  readonly session: SessionInfo;
  readonly agent: { readonly name: string };
  readonly turnId: string;
  readonly host: HostServices;
  readonly artifacts: ArtifactsApi;
  readonly signal: AbortSignal;
  readonly workspaceDir: string;
  now(): Date;
  /** Sends the text back to the model, with this message, for one repair within the turn. Ends `commit`. */
  reject(message: string): never;
}

export interface ResultConfig {
  /**
   * What it returns becomes `result` of `turn.completed`; nothing returned leaves the text. A thrown error fails the
   * turn. Runs at most once for each text, within 60 seconds.
   */
  commit(text: string, ctx: ResultContext): unknown;
  /** Stands in for `commit` in dry-run sessions. Left out: nothing runs there, and the text is the result. */
  dryRunResult?(text: string, ctx: ResultContext): unknown;
}

/** What `defineResult` returns. */
export type ResultDefinition = ResultConfig & { readonly __agentServe: "result" };

/**
 * Checks, stores or rejects the final text of a turn.
 *
 * @example
 * export default defineResult({
 *   commit(text, ctx) {
 *     if (!text.includes("VERDICT:")) ctx.reject("End with a line that starts with VERDICT:");
 *     return { verdict: text.split("VERDICT:")[1]?.trim() };
 *   },
 * });
 */
export function defineResult(config: ResultConfig): ResultDefinition {
  return { ...config, __agentServe: "result" };
}
