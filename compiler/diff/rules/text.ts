import { type Finding, type Level, sides } from "../change.js";
import { kindOf } from "../rule.js";
import { diffText } from "../text.js";

type Prose = string | { readonly dynamic: true } | undefined;

/** Prose that a model or a person reads: instructions, skills, descriptions, prompts. Shown as a line diff. */
export function text(noun: string, level: Level = "compatible") {
  return (before: Prose, after: Prose, { path }: { readonly path: string }): Finding[] => {
    const both = typeof before === "string" && typeof after === "string";
    return [
      {
        path,
        kind: kindOf(before, after),
        level,
        message: `${noun} ${both ? "changed" : how(before, after)}`,
        ...sides(before, after),
        ...(both ? { textDiff: diffText(before, after) } : {}),
      },
    ];
  };
}

function how(before: Prose, after: Prose): string {
  if (before === undefined) return "added";
  if (after === undefined) return "removed";
  return typeof after === "string" ? "is fixed now" : "now depends on the environment";
}
