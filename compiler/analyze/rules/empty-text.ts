import { diagnostic, type Span } from "../../diagnostics/diagnostic.js";
import type { Rule, Subject } from "../rule.js";

/** Instructions, skills and schedules that are nothing but blanks. */
export const emptyText: Rule = (subject) => {
  const at = findEmpty(subject);
  if (at === undefined) return [];
  const { kind, file } = subject.definition.entry;
  return [
    diagnostic("emptyText", {
      message: `the ${kind === "instructions" ? "instructions are" : `text of the ${kind} is`} empty`,
      at,
      help: `write the text, or delete ${file}`,
    }),
  ];
};

function findEmpty({ definition, exported, config, at }: Subject): Span | undefined {
  if (definition.prose !== undefined) return isBlank(definition.prose.body) ? at() : undefined;
  if (exported?.text !== undefined) return isBlank(exported.text) ? at() : undefined;
  const markdown = config?.get("markdown");
  return typeof markdown?.literal === "string" && isBlank(markdown.literal) ? at(markdown.value) : undefined;
}

function isBlank(text: string): boolean {
  return text.trim() === "";
}
