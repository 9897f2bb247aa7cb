import * as z from "zod/mini";
import { describeSchema } from "./schema.js";
import { callable, check, type Described, present, text, wrongShape } from "./shape.js";

const schedule = z.looseObject({
  cron: text,
  description: z.optional(z.string()),
  markdown: z.optional(text),
  run: z.optional(callable),
  catchUp: z.optional(z.boolean()),
  overlap: z.optional(z.enum(["skip", "queue"])),
});

/** A schedule in code. The expression itself is checked by the manifest phase, with those of Markdown. */
export function describeSchedule(value: unknown): Described {
  const { data, problems } = check(schedule, value);
  if (data === undefined) return { problems };
  if ((data.markdown === undefined) === (data.run === undefined)) {
    return { problems: [...problems, wrongShape("", "a schedule has exactly one of markdown and run")] };
  }
  const { description, cron, catchUp, overlap, markdown } = data;
  const form = markdown === undefined ? "run" : "markdown";
  return { problems, facts: present({ description, cron, form, prompt: markdown, catchUp, overlap }) };
}

/** A reminder handler: what it does, for listings. */
export function describeReminder(value: unknown): Described {
  const { data, problems } = check(z.looseObject({ description: z.optional(z.string()), run: callable }), value);
  return { problems, facts: present({ description: data?.description }) };
}

export function describeResult(value: unknown): Described {
  return {
    problems: check(z.looseObject({ commit: callable, dryRunResult: z.optional(callable) }), value).problems,
    facts: {},
  };
}

export function describeStorage(value: unknown): Described {
  const shape = z.looseObject({ backend: z.looseObject({ type: z.string() }) });
  return { problems: check(shape, value).problems, facts: {} };
}

export function describeOtel(value: unknown): Described {
  return { problems: check(z.looseObject({ create: callable }), value).problems, facts: {} };
}

const artifacts = z.looseObject({
  kinds: z.optional(z.record(z.string(), z.looseObject({ description: text, schema: z.optional(z.unknown()) }))),
  agentTool: z.optional(z.boolean()),
  max: z.optional(z.int().check(z.positive())),
});

/** The registry of artifact kinds. */
export async function describeArtifacts(value: unknown): Promise<Described> {
  const { data, problems } = check(artifacts, value);
  if (data === undefined) return { problems };
  const all = [...problems];
  const kinds = [];
  for (const [name, kind] of Object.entries(data.kinds ?? {})) {
    const schema = kind.schema == null ? undefined : await describeSchema(kind.schema, `kinds.${name}.schema`, "input");
    all.push(...(schema?.problems ?? []));
    kinds.push(present({ name, description: kind.description, schema: schema?.schema }));
  }
  if (data.agentTool === true && kinds.length === 0) {
    all.push(wrongShape("agentTool", "the model can tag artifacts only when kinds are declared"));
  }
  return { problems: all, facts: { kinds, agentTool: data.agentTool ?? false, max: data.max ?? 1000 } };
}

const extension = z.looseObject({
  __agentServe: z.literal("extension"),
  root: z.optional(z.string()),
  description: z.optional(text),
  plugin: z.optional(z.looseObject({ path: text, variables: z.record(z.string(), z.optional(z.string())) })),
});

/** A mounted extension or plugin. An extension that is exported as it is has the settings that need not be given. */
export function describeExtension(value: unknown): Described {
  const { data, problems } = check(extension, typeof value === "function" ? { ...value } : value);
  if (data === undefined) return { problems };
  const { description, plugin } = data;
  if (description !== undefined || plugin !== undefined) return { problems, facts: present({ description }) };
  return { problems: [...problems, wrongShape("description", "an extension says in a sentence what it is for")] };
}

/** The definition of an extension package, by itself. */
export function describeExtensionPackage(value: unknown): Described {
  if (typeof value !== "function") return { problems: [wrongShape("", "the package mounts itself", unmountedHelp)] };
  const { schema, ...fields } = Object.getOwnPropertyDescriptors(value);
  return describeExtension({
    __agentServe: "extension",
    root: fields.root?.value,
    description: fields.description?.value ?? "",
  });
}

const unmountedHelp = "export what defineExtension returns; the project that mounts it gives the settings";
