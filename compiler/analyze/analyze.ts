import { compareBytes } from "../bytes.js";
import { type Diagnostic, inOrder, type Result } from "../diagnostics/diagnostic.js";
import type { AgentTree, ProjectTree, Stray } from "../scan/tree.js";
import { wrongExtension } from "../scan/wrong-extension.js";
import { slotOf } from "../slots.js";
import { type ProjectSource, parentOf } from "../source.js";
import { check } from "./check.js";
import { define, defineGiven } from "./define.js";
import type { AgentDefinitions, AnalysisCache } from "./definition.js";
import { factsReader } from "./facts-reader.js";
import { formOf } from "./identity.js";
import { type ModuleGraph, readGraph } from "./module-graph.js";
import { readProse } from "./prose.js";

/**
 * Phase 2: what syntax alone tells about every entry. Nothing of the project runs. Every problem is reported, not the
 * first one.
 *
 * @param cache Keeps facts between runs; without one, every module is parsed.
 */
export async function analyze(
  tree: ProjectTree,
  source: ProjectSource,
  cache?: AnalysisCache,
): Promise<Result<readonly AgentDefinitions[]>> {
  const readFacts = factsReader(source, cache);
  const agents: Result<AgentDefinitions>[] = [];
  for (const agent of tree.agents) {
    const graph = await readGraph(agent, source, readFacts);
    agents.push(await analyzeAgent(agent, source, graph));
  }
  return {
    value: agents.map(({ value }) => value),
    diagnostics: inOrder(agents.flatMap(({ diagnostics }) => diagnostics)),
  };
}

async function analyzeAgent(
  agent: AgentTree,
  source: ProjectSource,
  graph: ModuleGraph,
): Promise<Result<AgentDefinitions>> {
  const diagnostics: Diagnostic[] = [...graph.diagnostics, ...checkStrays(agent.strays, graph)];
  const definitions = [];
  for (const entry of agent.entries) {
    if (entry.part !== undefined) {
      definitions.push(defineGiven(entry, entry.part, graph, agent));
      continue;
    }
    const prose = formOf(entry) === "prose" ? await readProse(entry, source) : undefined;
    const facts = graph.modules.get(entry.file)?.facts;
    const definition = define(entry, graph, prose?.value);
    definitions.push(definition);
    diagnostics.push(...(prose?.diagnostics ?? []), ...check(definition, facts));
  }
  const modules = [...graph.modules.keys()].sort(compareBytes);
  return { value: { slug: agent.slug, definitions, modules }, diagnostics };
}

/** A file that stands among definitions is one gone astray, unless some module names it or has just missed it. */
function checkStrays(strays: readonly Stray[], graph: ModuleGraph): readonly Diagnostic[] {
  const mentioned = new Set([...graph.modules.values()].flatMap(({ facts }) => facts.mentions));
  return strays
    .filter(({ file }) => !mentioned.has(file.slice(file.lastIndexOf("/") + 1)))
    .filter(({ file }) => !graph.missing.some((path) => parentOf(path) === parentOf(file)))
    .map(({ kind, file }) => wrongExtension(slotOf(kind), file));
}
