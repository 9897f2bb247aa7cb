import * as z from "zod/mini";
import { describeSchema } from "./schema.js";
import { callable, check, type Described, milliseconds, present, text } from "./shape.js";

const shape = z.looseObject({
  description: text,
  title: z.optional(text),
  inputSchema: z.optional(z.unknown()),
  outputSchema: z.optional(z.unknown()),
  execution: z.optional(z.enum(["server", "agent"])),
  effect: z.optional(z.union([z.enum(["read", "write"]), callable], 'expected "read", "write" or a function')),
  needsApproval: z.optional(z.union([z.boolean(), callable], "expected a boolean or a function")),
  dryRunResult: z.optional(z.unknown()),
  timeoutMs: z.optional(milliseconds),
  execute: callable,
});

/** A tool: the shape of its fields, and its schemas as JSON Schema. */
export async function describeTool(value: unknown): Promise<Described> {
  const { data, problems } = check(shape, value);
  const given = data ?? (typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {});
  const input = await describeSchema(given.inputSchema, "inputSchema", "input");
  const output =
    given.outputSchema == null
      ? undefined
      : await describeSchema(given.outputSchema, "outputSchema", "output", "value");
  const all = [...problems, ...input.problems, ...(output?.problems ?? [])];
  const faulty = all.some(({ severity }) => severity === undefined || severity === "error");
  if (!faulty && input.schema.type !== "object") {
    all.push({
      code: "inputNotObject",
      path: "inputSchema",
      message: "inputSchema: a tool's input is an object of named fields",
      help: "wrap it, as in z.object({ value: … })",
    });
  }
  if (data === undefined) return { problems: all };
  const { description, title, execution = "server", effect = "write", needsApproval = false, timeoutMs } = data;
  return {
    problems: all,
    facts: present({
      description,
      title,
      execution,
      effect: typeof effect === "function" ? "dynamic" : effect,
      needsApproval: typeof needsApproval === "function" || needsApproval,
      timeoutMs,
      validates: input.validates,
      inputSchema: input.schema,
      outputSchema: output?.schema,
    }),
  };
}
