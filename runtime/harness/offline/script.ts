import { RuntimeError } from "../../errors.js";
import type { JsonValue } from "../../session/event.js";

/**
 * One act of the scripted model.
 * In text and input, `{{message}}` stands for what the user said and `{{results}}` for the last tool results as JSON.
 */
export type ScriptAct =
  | { readonly reasoning: string }
  /** A list comes as that many deltas. */
  | { readonly text: string | readonly string[] }
  | { readonly call: string; readonly input?: JsonValue | undefined }
  /** Milliseconds. */
  | { readonly delay: number }
  /** Ends the step, and with it the turn, with this error. */
  | { readonly fail: string; readonly code?: "model_unavailable" | undefined }
  | { readonly finish: "stop" | "length" | "content-filter" }
  | {
      readonly usage: { readonly inputTokens: number; readonly outputTokens: number };
      readonly costUsd?: number | undefined;
    };

export interface ScriptRule {
  /** Text that the user's message must contain; left out: any message. */
  readonly when?: string | undefined;
  /** Acts of the turn's first step, second step, … After the last one the model answers as it does without a script. */
  readonly steps: readonly (readonly ScriptAct[])[];
}

/** The first rule that fits the message drives the turn. */
export interface OfflineScript {
  readonly rules: readonly ScriptRule[];
}

type Fields = Readonly<Record<string, unknown>>;
type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === "string";
const isNumber: Check = (value) => typeof value === "number" && value >= 0;
const isOptional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);
const isOneOf =
  (...values: readonly string[]): Check =>
  (value) =>
    values.some((each) => each === value);
const hasFields =
  (fields: Readonly<Record<string, Check>>): Check =>
  (value) =>
    isFields(value) &&
    Object.keys(value).every((name) => Object.hasOwn(fields, name)) &&
    Object.entries(fields).every(([name, check]) => check(value[name]));

/** Acts by the field that names them. Written by hand: a schema library would cost every server's start. */
const acts: Readonly<Record<string, Check>> = {
  reasoning: hasFields({ reasoning: isText }),
  text: hasFields({ text: (value) => isText(value) || (Array.isArray(value) && value.every(isText)) }),
  call: hasFields({ call: isText, input: () => true }),
  delay: hasFields({ delay: isNumber }),
  fail: hasFields({ fail: isText, code: isOptional(isOneOf("model_unavailable")) }),
  finish: hasFields({ finish: isOneOf("stop", "length", "content-filter") }),
  usage: hasFields({
    usage: hasFields({ inputTokens: isNumber, outputTokens: isNumber }),
    costUsd: isOptional(isNumber),
  }),
};

/**
 * Reads a script.
 *
 * @throws RuntimeError `model_unavailable` naming the place that is wrong.
 * @example parseScript('{"rules":[{"when":"hi","steps":[[{"text":"Hello."}]]}]}')
 */
export function parseScript(text: string): OfflineScript {
  const value = parseJson(text);
  const problem = problemOf(value);
  if (problem !== undefined) throw refuse(`is wrong: ${problem}`);
  return value as OfflineScript;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw refuse(`is not JSON: ${String(error)}`);
  }
}

function problemOf(script: unknown): string | undefined {
  if (!hasFields({ rules: Array.isArray })(script)) return "it must be { rules: [...] }";
  for (const [index, rule] of (script as { rules: unknown[] }).rules.entries()) {
    const at = `rules[${index}]`;
    if (!hasFields({ when: isOptional(isText), steps: Array.isArray })(rule)) {
      return `${at} must have "steps", a list, and may have "when", a text`;
    }
    for (const [step, listed] of (rule as { steps: unknown[] }).steps.entries()) {
      if (!Array.isArray(listed)) return `${at}.steps[${step}] must be a list of acts`;
      const wrong = listed.findIndex((act) => !isAct(act));
      if (wrong !== -1) return `${at}.steps[${step}][${wrong}] is none of the acts ${Object.keys(acts).join(", ")}`;
    }
  }
  return undefined;
}

function isAct(act: unknown): boolean {
  return isFields(act) && Object.entries(acts).some(([name, check]) => Object.hasOwn(act, name) && check(act));
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function refuse(what: string): RuntimeError {
  return new RuntimeError("model_unavailable", `the offline model's script ${what}`);
}
