import * as z from "zod/mini";
import type { Problem } from "../protocol.js";
import { check, type Described, text, wrongShape } from "./shape.js";

const instructions = z.union(
  [text, z.looseObject({ markdown: text })],
  "expected text, or defineInstructions({ markdown })",
);

/** `instructions.ts`, or a part of `instructions/`. */
export function describeInstructions(value: unknown): Described {
  const { data, problems } = check(instructions, value);
  return data === undefined
    ? { problems }
    : { problems, facts: { text: typeof data === "string" ? data : data.markdown } };
}

const skill = z.looseObject({
  description: text,
  markdown: text,
  files: z.optional(z.record(z.string(), z.string())),
});

/** A skill in code; `files` are texts by relative path. */
export function describeSkill(value: unknown): Described {
  const { data, problems } = check(skill, value);
  if (data === undefined) return { problems };
  const escaping = Object.keys(data.files ?? {}).filter((name) => !isInside(name));
  const outside = escaping.map(
    (name): Problem =>
      wrongShape(`files.${name}`, "the path leaves the skill's folder", "use relative paths without .."),
  );
  return {
    problems: [...problems, ...outside],
    facts: { description: data.description, markdown: data.markdown, files: data.files ?? {} },
  };
}

function isInside(name: string): boolean {
  const parts = name.split(/[\\/]/);
  return name !== "" && !/^(?:[\\/]|[A-Za-z]:)/.test(name) && !parts.includes("..") && !name.includes("\0");
}
