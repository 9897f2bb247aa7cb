import * as z from "zod/mini";
import type { Problem } from "../protocol.js";
import { check, type Described, present, text, wrongShape } from "./shape.js";

const model = z.union(
  [
    text,
    z.object({
      id: text,
      params: z.optional(
        z.array(z.object({ id: text, value: z.string('expected a string, such as "high" or "true"') })),
      ),
    }),
  ],
  "expected a model id, or { id, params: [{ id, value }] } with string values",
);

const shape = z.looseObject({
  name: z.optional(text),
  description: z.optional(z.string()),
  model: z.optional(model),
  modelFallbacks: z.optional(z.array(model)),
  instructions: z.optional(z.string()),
  tools: z.optional(z.array(z.string())),
  builtinTools: z.optional(z.looseObject({ reminders: z.optional(z.boolean()) })),
  local: z.optional(
    z.looseObject({
      cwd: z.optional(z.string()),
      workspaceDir: z.optional(z.string()),
      sandbox: z.optional(z.boolean()),
    }),
  ),
  persistent: z.optional(z.boolean()),
  hosting: z.optional(
    z.looseObject({ egressDomains: z.optional(z.array(z.string())), secretNames: z.optional(z.array(z.string())) }),
  ),
  concurrency: z.optional(z.looseObject({ maxRunningTurns: z.optional(z.int().check(z.positive())) })),
});

/** `agent.ts` of the root. */
export function describeAgent(value: unknown): Described {
  const { data, problems } = check(shape, value);
  if (data === undefined) return { problems };
  const { reminders } = data.builtinTools ?? {};
  return {
    problems: [...problems, ...suffixed(data.model)],
    facts: present({
      name: data.name,
      description: data.description,
      model: settingOf(data.model),
      instructions: data.instructions,
      builtins: data.tools,
      builtinTools: data.builtinTools === undefined ? undefined : present({ reminders }),
      local:
        data.local === undefined
          ? undefined
          : present({ cwd: data.local.cwd, workspaceDir: data.local.workspaceDir, sandbox: data.local.sandbox }),
      concurrency:
        data.concurrency === undefined ? undefined : present({ maxRunningTurns: data.concurrency.maxRunningTurns }),
    }),
  };
}

/** `agent.ts` of a subagent: the description is how the model chooses whom to ask. */
export function describeSubagent(value: unknown): Described {
  const { data, problems } = check(z.extend(shape, { description: text }), value);
  if (data === undefined) return { problems };
  return {
    problems: [...problems, ...suffixed(data.model)],
    facts: present({
      description: data.description,
      model: settingOf(data.model),
      instructions: data.instructions,
      tools: data.tools,
    }),
  };
}

type Model = z.infer<typeof model>;

function settingOf(given: Model | undefined): { readonly id: string; readonly params: readonly unknown[] } | undefined {
  if (given === undefined) return undefined;
  return typeof given === "string" ? { id: given, params: [] } : { id: given.id, params: given.params ?? [] };
}

/** Speed and effort are params, never part of the id. */
function suffixed(given: Model | undefined): readonly Problem[] {
  const id = settingOf(given)?.id ?? "";
  const match = /^(grok-[\d.]+)-(fast|low|medium|high)$/.exec(id);
  if (match === null) return [];
  const param = match[2] === "fast" ? '{ id: "fast", value: "true" }' : `{ id: "effort", value: "${match[2]}" }`;
  return [wrongShape("model", `there is no model "${id}"`, `write { id: "${match[1]}", params: [${param}] }`)];
}
