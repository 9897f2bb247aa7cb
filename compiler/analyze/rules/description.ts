import { type Diagnostic, diagnostic, type Span } from "../../diagnostics/diagnostic.js";
import { suggest } from "../../diagnostics/suggest.js";
import type { Rule, Subject } from "../rule.js";

/** The model chooses tools, skills and subagents by their description. Computed ones are looked at after evaluation. */
export const description: Rule = (subject) => {
  if (!subject.slot.described) return [];
  return subject.definition.form === "prose" ? checkProse(subject) : checkConfig(subject);
};

function checkConfig({ config, definition, at }: Subject): readonly Diagnostic[] {
  if (config === undefined) return [];
  const found = config.get("description");
  if (found === undefined) {
    if (config.open) return [];
    const near = suggest(
      "description",
      config.below().map((each) => each.path[0] ?? ""),
    );
    const help = near === undefined ? undefined : `there is \`${near}\`: did you mean \`description\`?`;
    const misspelt = config.get(near ?? "");
    return [missing(definition.entry.kind, definition.name, "has no description", at(misspelt?.key), help)];
  }
  const { literal } = found;
  if (literal === undefined || (typeof literal === "string" && literal.trim() !== "")) return [];
  const how = typeof literal === "string" ? "has an empty description" : "has a description that is no text";
  return [missing(definition.entry.kind, definition.name, how, at(found.value))];
}

/** `<name>.md` falls back to its first line; `<name>/SKILL.md` has to say it. */
function checkProse({ definition, at }: Subject): readonly Diagnostic[] {
  const { entry, prose, fields } = definition;
  const value = prose?.attributes.description;
  if (typeof value === "string" && value.trim() !== "") return [];
  const place = fields.description;
  if (value !== undefined && value !== null && typeof value !== "string") {
    return [missing(entry.kind, definition.name, "has a description that is no text", place ?? at())];
  }
  if (place !== undefined) return [missing(entry.kind, definition.name, "has an empty description", place)];
  if (!entry.file.endsWith("/SKILL.md")) return [];
  return [
    missing(
      entry.kind,
      definition.name,
      "has no description",
      at(),
      "start SKILL.md with front matter: description: …",
    ),
  ];
}

function missing(kind: string, name: string, how: string, at: Span, help?: string): Diagnostic {
  return diagnostic("descriptionMissing", {
    message: `the ${kind} "${name}" ${how}`,
    at,
    help: help ?? "say in a sentence what it does and when to use it: the model chooses by it",
  });
}
