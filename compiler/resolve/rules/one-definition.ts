import type { Definition } from "../../analyze/definition.js";
import { type Diagnostic, diagnostic } from "../../diagnostics/diagnostic.js";
import type { AgentTree, Entry } from "../../scan/tree.js";
import { slotOf } from "../../slots.js";
import { joinPath } from "../../source.js";
import type { Rule } from "../rule.js";

/** Within one layer a name stands for one thing; a file and a folder of instructions are one thing too many. */
export const oneDefinition: Rule = ({ definitions, agent }) => {
  const settled = new Set(
    definitions.filter(({ entry }) => isSeed(entry) && entry.layer === "project").map(({ id }) => id),
  );
  const groups = new Map<string, Definition[]>();
  for (const definition of definitions) {
    // Seeds of several extensions meet under one path; where the project has a file of its own, it is that one.
    if (definition.entry.mount !== undefined && settled.has(definition.id)) continue;
    const key = `${definition.entry.layer} ${definition.id}`;
    groups.set(key, [...(groups.get(key) ?? []), definition]);
  }
  return [...[...groups.values()].flatMap((group) => checkGroup(group, agent)), ...checkProse(definitions)];
};

function isSeed({ kind }: Entry): boolean {
  return kind === "seed";
}

function checkGroup([first, ...others]: readonly Definition[], agent: AgentTree): readonly Diagnostic[] {
  if (first === undefined) return [];
  // Two mounts of one package bring the same seed.
  const different = others.filter(({ entry }) => entry.file !== first.entry.file);
  const { mount } = first.entry;
  return different.map((other) => {
    const isShared = isSeed(first.entry) && mount !== undefined && mount !== other.entry.mount;
    const own = joinPath(agent.dir, agent.base, "sandbox/workspace", first.name);
    const help = isShared ? `say which it is with a file of your own at ${own}, which wins over both` : undefined;
    return clash(other, first, labelOf(first), help);
  });
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

function clash(
  second: Definition,
  first: Definition,
  label: string,
  help = "rename or delete one of them",
): Diagnostic {
  return diagnostic("duplicateId", {
    message: `${second.entry.file} and ${first.entry.file} both define the ${label}`,
    at: [
      { span: second.span, primary: true, text: "defined again here" },
      { span: first.span, text: "first defined here" },
    ],
    help,
  });
}

function labelOf({ entry, name }: Definition): string {
  return name === "" || slotOf(entry.kind).shape === "prose" ? entry.kind : `${entry.kind} "${name}"`;
}
