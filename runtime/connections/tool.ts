/** Tools of connections as the turn loop and direct calls run them: asOf, dry run, approval, then the server. Decision 34. */
import type { Tool } from "@modelcontextprotocol/client";
import type { JsonObject } from "../session/event.js";
import type { CallableTool, CallOutcome, CallScope, PreparedCall, Refusal } from "../session/ports.js";
import type { Caller } from "../session/service.js";
import { refuseInput } from "../tools/issues.js";
import { failed, messageOf } from "../tools/result.js";
import { checkTimes } from "../tools/time-arguments.js";
import type { CatalogTool, ConnectionScope } from "./contract.js";
import { ConnectionError } from "./error.js";
import type { RawResult } from "./link.js";
import { modelName } from "./names.js";
import { toOutcome } from "./result.js";
import type { ConnectionSpec } from "./spec.js";

/** Longest description that a model is given, in characters. */
const longestDescription = 4_000;

/** How a server is asked: on behalf of whom the scope says. */
export type CallServer = (spec: ConnectionSpec, scope: CallScope, tool: string, args: JsonObject) => Promise<RawResult>;

/** Who a server is asked on behalf of: the owner of the session, the caller, or the host itself. */
export function onBehalfOf(scope: ConnectionScope): Caller["auth"] {
  const { record, caller } = scope;
  if (record === undefined) return caller ?? { kind: "app", id: "host" };
  // A call in somebody's session goes on from whoever made it, who may be further along.
  const hops = Math.max(record.auth.hops ?? 0, caller?.hops ?? 0);
  return hops === 0 ? record.auth : { ...record.auth, hops };
}

export function effectOf({ reads }: ConnectionSpec, tool: string): "read" | "write" {
  return reads.includes(tool) ? "read" : "write";
}

export function asksFirst({ asks }: ConnectionSpec, tool: string): boolean {
  return asks === true || asks.includes(tool);
}

/** A tool as the catalog tells of it; what is wrong with a server's own words is mended. */
export function describeTool(spec: ConnectionSpec, tool: Tool): CatalogTool {
  const title = tool.title ?? tool.annotations?.title;
  return {
    name: modelName(spec.name, tool.name),
    ...(title !== undefined && { title }),
    description: (tool.description ?? title ?? `The tool ${tool.name} of ${spec.name}.`).slice(0, longestDescription),
    connection: spec.name,
    tool: tool.name,
    effect: effectOf(spec, tool.name),
    needsApproval: asksFirst(spec, tool.name),
    timeoutMs: spec.timeoutMs,
    inputSchema: tool.inputSchema,
    ...(tool.outputSchema !== undefined && { outputSchema: tool.outputSchema }),
  };
}

/** A call of a server's tool under our rules, whoever the model thinks it calls. */
export function prepareCall(
  spec: ConnectionSpec,
  tool: { readonly name: string; readonly inputSchema: unknown },
  shownName: string,
  args: JsonObject,
  callServer: CallServer,
): PreparedCall {
  const effect = effectOf(spec, tool.name);

  async function run(scope: CallScope): Promise<CallOutcome> {
    const { record } = scope;
    if (record?.asOf !== undefined) {
      const problem = checkTimes(tool.inputSchema, args, record.asOf);
      if (problem !== undefined) return failed(problem);
    }
    if (effect === "write" && record?.dryRun === true) {
      const output = { dryRun: true, message: `This is a dry run: "${shownName}" was not carried out.` };
      return { output, isError: false, stubbed: true };
    }
    try {
      return toOutcome(await callServer(spec, scope, tool.name, args), shownName);
    } catch (error) {
      return failedServer(spec, error, effect);
    }
  }
  return { effect, needsApproval: () => asksFirst(spec, tool.name), run };
}

/** What a model or a caller is told of a server that failed. */
export function failedServer(spec: ConnectionSpec, error: unknown, effect: "read" | "write"): CallOutcome {
  const isUnknown = effect === "write" && error instanceof ConnectionError && error.isUnknown;
  const ending = isUnknown ? "; whether the call took effect is unknown" : "";
  const outcome = failed(`connection "${spec.name}": ${messageOf(error)}${ending}`);
  return isUnknown ? { ...outcome, unknown: true } : outcome;
}

/** An advertised tool. */
export function advertisedTool(spec: ConnectionSpec, tool: Tool, callServer: CallServer): CallableTool {
  const name = modelName(spec.name, tool.name);
  return {
    name,
    execution: "server",
    prepare(input) {
      const args = objectOf(name, input);
      return "refused" in args ? args : prepareCall(spec, tool, name, args.value, callServer);
    },
  };
}

/** In place of a tool that can't be looked up just now: calls say why, and nothing runs. */
export function unavailableTool(spec: ConnectionSpec, name: string, error: unknown): CallableTool {
  const outcome = failed(`connection "${spec.name}": ${messageOf(error)}; the call did not run`);
  return {
    name,
    execution: "server",
    prepare: () => ({ effect: "read", needsApproval: () => false, run: () => outcome }),
  };
}

/** A server checks its own arguments; that they are an object is the protocol's rule. */
export function objectOf(name: string, input: unknown): { readonly value: JsonObject } | Refusal {
  if (typeof input === "object" && input !== null && !Array.isArray(input)) return { value: input as JsonObject };
  return refuseInput(name, [{ path: "", message: "must be an object" }]);
}
