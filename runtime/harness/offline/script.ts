import * as z from "zod/v4";
import { RuntimeError } from "../../errors.js";

/**
 * One act of the scripted model.
 * In text and input, `{{message}}` stands for what the user said and `{{results}}` for the last tool results as JSON.
 */
const act = z.union([
  z.strictObject({ reasoning: z.string() }),
  /** A list comes as that many deltas. */
  z.strictObject({ text: z.union([z.string(), z.array(z.string())]) }),
  z.strictObject({ call: z.string(), input: z.json().optional() }),
  /** Milliseconds. */
  z.strictObject({ delay: z.number().nonnegative() }),
  /** Ends the step, and with it the turn, with this error. */
  z.strictObject({ fail: z.string(), code: z.literal("model_unavailable").optional() }),
  z.strictObject({ finish: z.enum(["stop", "length", "content-filter"]) }),
  z.strictObject({
    usage: z.strictObject({ inputTokens: z.number(), outputTokens: z.number() }),
    costUsd: z.number().optional(),
  }),
]);

const rule = z.strictObject({
  /** Text that the user's message must contain; left out: any message. */
  when: z.string().optional(),
  /** Acts of the turn's first step, second step, … After the last one the model answers as it does without a script. */
  steps: z.array(z.array(act)),
});

const script = z.strictObject({ rules: z.array(rule) });

export type ScriptAct = z.infer<typeof act>;
/** The first rule that fits the message drives the turn. */
export type OfflineScript = z.infer<typeof script>;

/**
 * Reads a script.
 *
 * @throws RuntimeError `model_unavailable` naming the place that is wrong.
 * @example parseScript('{"rules":[{"when":"hi","steps":[[{"text":"Hello."}]]}]}')
 */
export function parseScript(text: string): OfflineScript {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new RuntimeError("model_unavailable", `the offline model's script is not JSON: ${String(error)}`);
  }
  const parsed = script.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new RuntimeError("model_unavailable", `the offline model's script is wrong: ${z.prettifyError(parsed.error)}`);
}
