/** The built-in model without a network: deterministic, for demos, tests and evals. Decision 18. */
import { RuntimeError } from "../../errors.js";
import type { JsonValue, Usage } from "../../session/event.js";
import type { Harness, StepPart, StepRequest } from "../harness.js";
import { type Moment, readMoment, reply } from "./reply.js";
import { type OfflineScript, parseScript, type ScriptAct } from "./script.js";

export interface OfflineOptions {
  /** Drives every turn that one of its rules fits. */
  readonly script?: OfflineScript;
  /** Gives such a script as JSON, or nothing; asked at the first turn. */
  readonly readScript?: () => string | undefined;
}

/**
 * Makes the offline model. A message line `/tool_name {json}` makes it call that tool, several lines several tools; then
 * it tells what they returned. A script takes over where its rules fit: as JSON in the model parameter `script`, else
 * from the options (the server reads the file that `BDK_OFFLINE_SCRIPT` names). Token counts follow from text lengths (four characters a token, of the system prompt and of what
 * is new).
 *
 * @example createOfflineHarness({ script: { rules: [{ steps: [[{ text: "Hello." }]] }] } })
 */
export function createOfflineHarness(options: OfflineOptions = {}): Harness {
  let given: { readonly text: string | undefined } | undefined;
  let parsed: { readonly text: string; readonly script: OfflineScript } | undefined;

  function scriptOf(request: StepRequest): OfflineScript | undefined {
    const own = request.model.params.find((param) => param.id === "script")?.value;
    if (own === undefined && options.script !== undefined) return options.script;
    given ??= { text: options.readScript?.() };
    const text = own ?? given.text;
    if (text === undefined) return undefined;
    if (parsed?.text !== text) parsed = { text, script: parseScript(text) };
    return parsed.script;
  }

  return {
    async *step(request) {
      const moment = readMoment(request.messages);
      const rule = scriptOf(request)?.rules.find(({ when }) => when === undefined || moment.message.includes(when));
      const acts = rule?.steps[request.step - 1];
      if (acts === undefined) {
        const parts = reply(moment, request.tools);
        yield* parts;
        yield finish(request, moment, parts);
        return;
      }
      yield* perform(acts, request, moment);
    },
  };
}

async function* perform(acts: readonly ScriptAct[], request: StepRequest, moment: Moment): AsyncGenerator<StepPart> {
  const parts: StepPart[] = [];
  let end: Partial<Extract<StepPart, { type: "finish" }>> = {};
  for (const act of acts) {
    if ("delay" in act) await pause(act.delay, request.signal);
    else if ("fail" in act) throw act.code === undefined ? new Error(act.fail) : new RuntimeError(act.code, act.fail);
    else if ("finish" in act) end = { ...end, reason: act.finish };
    else if ("usage" in act)
      end = { ...end, usage: { ...noUsage, ...act.usage }, ...(act.costUsd !== undefined && { costUsd: act.costUsd }) };
    else {
      for (const part of toParts(act, moment)) {
        parts.push(part);
        yield part;
      }
    }
  }
  yield { ...finish(request, moment, parts), ...end };
}

function toParts(act: ScriptAct, moment: Moment): readonly StepPart[] {
  if ("reasoning" in act) return [{ type: "reasoning", delta: fill(act.reasoning, moment) }];
  if ("call" in act) return [{ type: "call", toolName: act.call, args: fillJson(act.input ?? {}, moment) }];
  if (!("text" in act)) return [];
  return [act.text].flat().map((delta) => ({ type: "text", delta: fill(delta, moment) }));
}

function fill(text: string, { message, results }: Moment): string {
  if (!text.includes("{{")) return text;
  const told = () => JSON.stringify(results.map(({ output }) => output));
  return text.replaceAll("{{message}}", () => message).replaceAll("{{results}}", told);
}

function fillJson(value: JsonValue, moment: Moment): JsonValue {
  if (typeof value === "string") return fill(value, moment);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item: JsonValue) => fillJson(item, moment));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fillJson(item, moment)]));
}

const noUsage: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

function finish(
  request: StepRequest,
  moment: Moment,
  parts: readonly StepPart[],
): Extract<StepPart, { type: "finish" }> {
  const heard = request.system.length + moment.message.length + lengthOf(moment.results.map(({ output }) => output));
  const said = parts.map((part) => ("delta" in part ? part.delta : "args" in part ? part.args : ""));
  const usage: Usage = { ...noUsage, inputTokens: toTokens(heard), outputTokens: toTokens(lengthOf(said)) };
  return { type: "finish", reason: parts.some((part) => part.type === "call") ? "tool-calls" : "stop", usage };
}

function lengthOf(values: readonly JsonValue[]): number {
  return values.reduce<number>(
    (sum, value) => sum + (typeof value === "string" ? value : JSON.stringify(value)).length,
    0,
  );
}

function toTokens(characters: number): number {
  return Math.ceil(characters / 4);
}

/** Waits, or stops waiting when the turn is stopped. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal.addEventListener("abort", stop, { once: true });
  });
}
