/** `evals/**\/*.eval.ts` and `evals/evals.config.ts`: regression cases over real sessions. */
import type { SessionEvent, SessionEventType } from "../session/event.js";
import type { StandardSchema } from "./schema.js";

/** What a value is compared with, described; the runner carries it out. */
export type Matcher =
  | { readonly __agentServe: "matcher"; readonly type: "includes"; readonly expected: string | RegExp }
  | {
      readonly __agentServe: "matcher";
      readonly type: "satisfies";
      readonly label: string;
      test(value: unknown): boolean;
    }
  | { readonly __agentServe: "matcher"; readonly type: "matches"; readonly schema: StandardSchema }
  | { readonly __agentServe: "matcher"; readonly type: "judge"; readonly criteria: string; readonly threshold: number };

/** The text contains a string, or matches a pattern. */
export function includes(expected: string | RegExp): Matcher {
  return { __agentServe: "matcher", type: "includes", expected };
}

/** A predicate of your own; `label` says in a report what was expected. */
export function satisfies<Value = unknown>(test: (value: Value) => boolean, label: string): Matcher {
  return { __agentServe: "matcher", type: "satisfies", label, test: test as (value: unknown) => boolean };
}

/** The value, or the JSON in a text, satisfies a schema. */
export function matches(schema: StandardSchema): Matcher {
  return { __agentServe: "matcher", type: "matches", schema };
}

/** A model grades the text by these criteria, from 0 to 1; `threshold` (default 0.7) is enough. */
export function judge(criteria: string, threshold = 0.7): Matcher {
  return { __agentServe: "matcher", type: "judge", criteria, threshold };
}

/** The assertion helpers of one case. */
export interface EvalTest {
  /** Sends a message and waits for the turn; again for a follow-up. */
  send(
    message: string,
    options?: { readonly workspaceFiles?: Readonly<Record<string, string>> },
  ): Promise<{ readonly reply: string }>;
  /** The last reply. */
  readonly reply: string;
  /** All events so far. */
  readonly events: readonly SessionEvent[];
  /** Events of one type. */
  event<T extends SessionEventType>(type: T): readonly SessionEvent<T>[];
  /** The last turn completed. */
  succeeded(): void;
  /** The tool was called; `input` is compared in part. */
  calledTool(name: string, options?: { readonly input?: unknown }): void;
  notCalledTool(name: string, options?: { readonly input?: unknown }): void;
  check(value: unknown, matcher: Matcher): void;
}

/** The body of a case: sends, then asserts. A thrown error fails it. */
export type EvalBody = (t: EvalTest) => unknown;

/** One of several cases of a file. */
export interface EvalCase {
  /** One path segment, unique in the file. */
  readonly id: string;
  readonly description?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly test: EvalBody;
}

interface SharedEvalConfig {
  readonly description?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  /** Milliseconds a case may take. */
  readonly timeoutMs?: number | undefined;
  /** Times each case runs. Default 1. */
  readonly iterations?: number | undefined;
}

/** Exactly one of `test` and `cases`. */
export type EvalConfig = SharedEvalConfig &
  (
    | { readonly test: EvalBody; readonly cases?: never }
    | { readonly cases: readonly EvalCase[]; readonly test?: never }
  );

/** What `defineEval` returns. */
export type EvalDefinition = EvalConfig & { readonly __agentServe: "eval" };

/**
 * Defines an eval; its id is the file's path below `evals/`.
 *
 * @example
 * export default defineEval({
 *   async test(t) {
 *     await t.send("Is PR 7 ready?");
 *     t.succeeded();
 *     t.calledTool("inspect_pr");
 *     t.check(t.reply, includes(/draft/i));
 *   },
 * });
 */
export function defineEval(config: EvalConfig): EvalDefinition {
  return { ...config, __agentServe: "eval" };
}

/** Settings of all evals. */
export interface EvalSettings {
  /** Cases that run at once. Default 5. */
  readonly maxConcurrency?: number | undefined;
  /** Default for cases without a `timeoutMs` of their own. */
  readonly timeoutMs?: number | undefined;
}

/** What `defineEvalConfig` returns. */
export type EvalConfigDefinition = EvalSettings & { readonly __agentServe: "eval-config" };

/** Settings of all evals: the default export of `evals/evals.config.ts`. */
export function defineEvalConfig(config: EvalSettings): EvalConfigDefinition {
  return { ...config, __agentServe: "eval-config" };
}
