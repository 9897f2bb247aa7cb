import { type Diagnostic, diagnostic } from "../../diagnostics/diagnostic.js";
import type { Rule } from "../rule.js";

const longest = { description: 1024, compatibility: 500 } as const;

/** The SKILL.md convention, as far as a file can break it and still be loaded. Source: `standards.md` (Skills). */
export const skillAttributes: Rule = ({ definition, slot, at }) => {
  const { prose, fields, name } = definition;
  if (slot.kind !== "skill" || prose === undefined) return [];
  const warn = (key: string, message: string, help: string): Diagnostic =>
    diagnostic("skillAttribute", { message, at: fields[key] ?? at(), help });

  const diagnostics: Diagnostic[] = [];
  const own = prose.attributes.name;
  if (own !== undefined && own !== definition.entry.name) {
    diagnostics.push(
      warn("name", `the skill is named "${name}", not ${JSON.stringify(own)}`, "its path names it: make them equal"),
    );
  }
  for (const [key, limit] of Object.entries(longest)) {
    const value = prose.attributes[key];
    if (typeof value === "string" && value.length > limit) {
      diagnostics.push(warn(key, `${key} has ${value.length} characters`, `keep it to ${limit}`));
    }
  }
  return diagnostics;
};
