import type { Definition } from "../../analyze/definition.js";
import { type Diagnostic, diagnostic } from "../../diagnostics/diagnostic.js";
import { slotOf } from "../../slots.js";
import type { Rule } from "../rule.js";

/** Within one layer a name stands for one thing; a file and a folder of instructions are one thing too many. */
export const oneDefinition: Rule = ({ definitions }) => {
  const groups = new Map<string, Definition[]>();
  for (const definition of definitions) {
    const key = `${definition.entry.layer} ${definition.id}`;
    groups.set(key, [...(groups.get(key) ?? []), definition]);
  }
  return [...[...groups.values()].flatMap(checkGroup), ...checkProse(definitions)];
};

function checkGroup([first, ...others]: readonly Definition[]): readonly Diagnostic[] {
  if (first === undefined) return [];
  // Two mounts of one package bring the same seed.
  const different = others.filter(({ entry }) => entry.file !== first.entry.file);
  return different.map((other) => clash(other, first, labelOf(first)));
}

/** `instructions.md` beside `instructions/`: which one is meant? */
function checkProse(definitions: readonly Definition[]): readonly Diagnostic[] {
  return definitions.flatMap((whole) => {
    if (slotOf(whole.entry.kind).shape !== "prose" || whole.entry.name !== "") return [];
    const part = definitions.find(
      ({ entry, id }) => entry.name !== "" && entry.layer === whole.entry.layer && id === `${whole.id}/${entry.name}`,
    );
    return part === undefined ? [] : [clash(part, whole, labelOf(whole))];
  });
}

function clash(second: Definition, first: Definition, label: string): Diagnostic {
  return diagnostic("duplicateId", {
    message: `${second.entry.file} and ${first.entry.file} both define the ${label}`,
    at: [
      { span: second.span, primary: true, text: "defined again here" },
      { span: first.span, text: "first defined here" },
    ],
    help: "rename or delete one of them",
  });
}

function labelOf({ entry, name }: Definition): string {
  return name === "" || slotOf(entry.kind).shape === "prose" ? entry.kind : `${entry.kind} "${name}"`;
}
