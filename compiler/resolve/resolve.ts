import type { AgentDefinitions, Definition } from "../analyze/definition.js";
import { compareBytes } from "../bytes.js";
import { inOrder, type Result } from "../diagnostics/diagnostic.js";
import type { AgentTree, ProjectTree } from "../scan/tree.js";
import { layered } from "./layers.js";
import { isDisabled, mountsOf } from "./mounts.js";
import type { Rule } from "./rule.js";
import { builtinNames } from "./rules/builtin-names.js";
import { oneDefinition } from "./rules/one-definition.js";
import { overlays } from "./rules/overlays.js";
import { rootInstructions } from "./rules/root-instructions.js";
import { toolOrSubagent } from "./rules/tool-or-subagent.js";
import type { Surface } from "./surface.js";

const rules: readonly Rule[] = [oneDefinition, overlays, rootInstructions, toolOrSubagent, builtinNames];

/**
 * Phase 3: puts the layers on top of each other. For every name one definition wins; those it hides are kept, so that
 * `bdk info --why` can tell.
 */
export function resolve(tree: ProjectTree, agents: readonly AgentDefinitions[]): Result<readonly Surface[]> {
  const resolved = tree.agents.map((agent) => {
    const found = agents.find(({ slug }) => slug === agent.slug);
    return resolveAgent(agent, found?.definitions ?? []);
  });
  return {
    value: resolved.map(({ value }) => value),
    diagnostics: inOrder(resolved.flatMap(({ diagnostics }) => diagnostics)),
  };
}

function resolveAgent(agent: AgentTree, definitions: readonly Definition[]): Result<Surface> {
  const { slug, name, dir, base } = agent;
  const entries = layered(definitions);
  return {
    value: {
      slug,
      name,
      dir,
      base,
      entries: entries.filter(({ winner }) => !isDisabled(winner)).sort((a, b) => compareBytes(a.id, b.id)),
      mounts: mountsOf(agent, definitions, entries),
    },
    diagnostics: rules.flatMap((rule) => rule({ agent, definitions, entries })),
  };
}
