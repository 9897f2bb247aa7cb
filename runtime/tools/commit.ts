import type { ResultConfig, ResultContext } from "../authoring/result.js";
import { RuntimeError } from "../errors.js";
import type { CommitScope, Committed, Generation } from "../session/ports.js";
import { CallContext, type ContextSources } from "./context.js";
import { toJson } from "./json-value.js";
import { failedWith, messageOf } from "./result.js";
import { settle } from "./settle.js";

/** How long `commit` may take, in milliseconds. */
const timeoutMs = 60_000;

/** The project's `commit` on a turn's final text; `dryRunResult` stands in for it in dry runs. */
export function createCommit(definition: unknown, sources: ContextSources): NonNullable<Generation["commit"]> {
  if (!isDefinition(definition)) throw new RuntimeError("internal", "the bundle has no code for the result slot");
  return async (text, scope) => {
    const isDry = scope.record.dryRun === true;
    if (isDry && definition.dryRunResult === undefined) return { is: "accepted" };
    return run(scope, sources, (ctx) => (isDry ? definition.dryRunResult?.(text, ctx) : definition.commit(text, ctx)));
  };
}

async function run(
  scope: CommitScope,
  sources: ContextSources,
  act: (ctx: ResultContext) => unknown,
): Promise<Committed> {
  const { record, turnId, signal } = scope;
  const call = new CallContext({ callId: turnId, record, turnId, signal }, sources);
  let rejection: string | undefined;
  const ctx: ResultContext = {
    turnId,
    get session() {
      return call.session;
    },
    get agent() {
      return call.agent;
    },
    get host() {
      return call.host;
    },
    get artifacts() {
      return call.artifacts;
    },
    get signal() {
      return call.signal;
    },
    get workspaceDir() {
      return call.workspaceDir;
    },
    now: () => call.now(),
    reject(message) {
      rejection = messageOf(message);
      throw new Error(`the text was rejected: ${rejection}`);
    },
  };
  let accepted: Committed = { is: "accepted" };
  const running = Promise.resolve(ctx).then(act);
  const limits = { toolName: "commit", timeoutMs, signal };
  const outcome = await settle(
    running,
    limits,
    (reason) => call.abort(reason),
    (value) => {
      try {
        if (value !== undefined) accepted = { is: "accepted", result: toJson(value) };
      } catch (error) {
        return failedWith(error);
      }
      return { output: null, isError: false };
    },
  );
  // Also when the project's own code caught what `reject` threw.
  if (rejection !== undefined) return { is: "rejected", message: rejection };
  if (!outcome.isError) return accepted;
  return { is: outcome.unknown === true ? "unknown" : "failed", message: toldBy(outcome.output) };
}

function toldBy(output: unknown): string {
  return typeof output === "object" && output !== null && "message" in output ? String(output.message) : "it failed";
}

function isDefinition(value: unknown): value is ResultConfig {
  return typeof value === "object" && value !== null && "commit" in value && typeof value.commit === "function";
}
