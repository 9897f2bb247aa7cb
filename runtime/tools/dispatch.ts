/** validate → policy (effect, dry run, approval, asOf) → execute → result. */
import type { ToolConfig } from "../authoring/tools.js";
import { RuntimeError } from "../errors.js";
import type { Sections } from "../host/sections.js";
import type { ToolEntry } from "../manifest/schema.js";
import type { CallableTool, CallOutcome, CallScope, PreparedCall, Refusal, SessionRecord } from "../session/ports.js";
import type { Soon } from "../session/soon.js";
import { type AgentToolSources, runAgentTool } from "./agent-tool.js";
import { CallContext, type ContextSources, namespaceOf } from "./context.js";
import { createInputCheck, type InputCheck, standardValidator, type Validator } from "./input.js";
import { formatPath } from "./issues.js";
import { failed, failedWith, isEnvelope, messageOf, outcomeOf } from "./result.js";
import { settle } from "./settle.js";
import { checkTimes } from "./time-arguments.js";

const defaultTimeoutMs = 60_000;

type Definition = ToolConfig<unknown, unknown, unknown>;

export interface DispatchSources extends ContextSources, Pick<AgentToolSources, "scriptsDir"> {
  readonly sections: Sections;
  /** Agent tools run without network, in the workspace only. */
  readonly sandbox: boolean;
  /** Contents of a file of the manifest. */
  readonly file: (sha256: string) => Buffer;
  /** Makes the session's workspace, unless it stands already. Throws `workspace_unavailable`. */
  readonly ensureWorkspace: (record: SessionRecord) => void;
}

/** An authored tool of the running code, ready to be called. */
export class AuthoredTool implements CallableTool {
  readonly name: string;
  readonly execution: "server" | "agent";
  readonly definition: Definition;
  readonly entry: ToolEntry;
  readonly sources: DispatchSources;
  readonly timeoutMs: number;
  readonly #namespace: string | undefined;
  readonly #check: InputCheck;
  readonly #checkOutput: Validator | undefined;

  constructor(entry: ToolEntry, definition: unknown, sources: DispatchSources) {
    if (!isDefinition(definition)) throw new RuntimeError("internal", `the bundle has no code for ${entry.id}`);
    this.name = entry.name;
    this.execution = entry.execution;
    this.entry = entry;
    this.definition = definition;
    this.sources = sources;
    this.timeoutMs = definition.timeoutMs ?? entry.timeoutMs ?? defaultTimeoutMs;
    this.#namespace = namespaceOf(entry);
    this.#check = createInputCheck(entry, definition.inputSchema, sources.sections);
    this.#checkOutput = standardValidator(definition.outputSchema);
  }

  prepare(input: unknown): Soon<PreparedCall | Refusal> {
    const checked = this.#check(input);
    if (checked instanceof Promise) return checked.then((late) => this.#prepared(input, late));
    return this.#prepared(input, checked);
  }

  #prepared(raw: unknown, checked: { readonly value: unknown } | Refusal): PreparedCall | Refusal {
    return "refused" in checked ? checked : new Call(this, raw, checked.value);
  }

  contextOf(scope: CallScope): CallContext {
    return new CallContext(scope, this.sources, this.#namespace);
  }

  /** Applies `outputSchema`, where there is one, to a plain result or to an envelope's structured part. */
  finish(value: unknown, copy: boolean): Soon<CallOutcome> {
    const outcome = outcomeOf(value, copy);
    const check = this.#checkOutput;
    if (check === undefined || outcome.isError) return outcome;
    const { output } = outcome;
    if (!isEnvelope(output)) return this.#conform(check, value, (result) => outcomeOf(result, copy));
    const { content, structuredContent } = output;
    if (structuredContent === undefined) return outcome;
    return this.#conform(check, structuredContent, (result) => outcomeOf({ content, structuredContent: result }, copy));
  }

  #conform(check: Validator, value: unknown, toOutcome: (result: unknown) => CallOutcome): Soon<CallOutcome> {
    const conclude = (result: Awaited<ReturnType<Validator>>): CallOutcome => {
      if (!("issues" in result) || result.issues === undefined) return toOutcome((result as { value: unknown }).value);
      const told = result.issues.map(({ path = [], message }) => `${formatPath(path) || "result"}: ${message}`);
      return failed(`"${this.name}" returned what its outputSchema refuses: ${told.join("; ")}`);
    };
    const broken = (error: unknown) => failed(`the outputSchema of "${this.name}" threw: ${messageOf(error)}`);
    try {
      const checked = check(value);
      return checked instanceof Promise ? checked.then(conclude).catch(broken) : conclude(checked);
    } catch (error) {
      return broken(error);
    }
  }
}

class Call implements PreparedCall {
  readonly #tool: AuthoredTool;
  readonly #raw: unknown;
  readonly #input: unknown;
  #effect: "read" | "write" | undefined;

  constructor(tool: AuthoredTool, raw: unknown, input: unknown) {
    this.#tool = tool;
    this.#raw = raw;
    this.#input = input;
  }

  get effect(): "read" | "write" {
    this.#effect ??= effectOf(this.#tool.definition.effect, this.#input);
    return this.#effect;
  }

  /** Nobody is asked about a call that will be refused. */
  needsApproval(scope: CallScope): boolean | Promise<boolean> {
    if (this.#refusal(scope) !== undefined) return false;
    const { needsApproval = false } = this.#tool.definition;
    return typeof needsApproval === "function"
      ? needsApproval(this.#input, this.#tool.contextOf(scope))
      : needsApproval;
  }

  run(scope: CallScope): Soon<CallOutcome> {
    const { record } = scope;
    if (record === undefined) return this.#execute(scope, false);
    const refusal = this.#refusal(scope);
    if (refusal !== undefined) return failed(refusal);
    if (this.effect === "read") return this.#execute(scope, true);
    if (record.dryRun === true) return this.#stub(scope);
    this.#tool.sources.ensureWorkspace(record);
    return this.#execute(scope, true);
  }

  #refusal({ record }: CallScope): string | undefined {
    return record?.asOf && checkTimes(this.#tool.entry.inputSchema, this.#raw, record.asOf);
  }

  #execute(scope: CallScope, copy: boolean): Soon<CallOutcome> {
    const tool = this.#tool;
    if (tool.execution === "agent") return this.#runScript(scope);
    const ctx = tool.contextOf(scope);
    let value: unknown;
    try {
      value = tool.definition.execute(this.#input, ctx);
    } catch (error) {
      return failedCall(error);
    }
    if (!isThenable(value)) return tool.finish(value, copy);
    const limits = { toolName: tool.name, timeoutMs: tool.timeoutMs, signal: scope.signal };
    return settle(
      value,
      limits,
      (reason) => ctx.abort(reason),
      (result) => tool.finish(result, copy),
    );
  }

  #runScript(scope: CallScope): Promise<CallOutcome> {
    const { entry, sources, timeoutMs } = this.#tool;
    const script = sources.file(entry.script?.sha256 ?? "");
    return runAgentTool(entry, this.#raw, scope, { ...sources, agentName: sources.agentName, script, timeoutMs });
  }

  async #stub(scope: CallScope): Promise<CallOutcome> {
    const { definition, name } = this.#tool;
    if (definition.dryRunResult === undefined) {
      const output = { dryRun: true, message: `This is a dry run: "${name}" was not carried out.` };
      return { output, isError: false, stubbed: true };
    }
    try {
      const value: unknown = await definition.dryRunResult(this.#input, this.#tool.contextOf(scope));
      return { ...outcomeOf(value, true), stubbed: true };
    } catch (error) {
      return { ...failed(`dryRunResult of "${name}" threw: ${messageOf(error)}`), stubbed: true };
    }
  }
}

/** A tool's failure is its result; the host's own failure to give it a workspace is not. */
function failedCall(error: unknown): CallOutcome {
  if (error instanceof RuntimeError && error.code === "workspace_unavailable") throw error;
  return failedWith(error);
}

/** An effect that can't be told counts as a write. */
function effectOf(effect: Definition["effect"], input: unknown): "read" | "write" {
  if (typeof effect !== "function") return effect === "read" ? "read" : "write";
  try {
    return effect(input) === "read" ? "read" : "write";
  } catch {
    return "write"; // decision 34
  }
}

function isDefinition(value: unknown): value is Definition {
  return typeof value === "object" && value !== null && "execute" in value && typeof value.execute === "function";
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}
