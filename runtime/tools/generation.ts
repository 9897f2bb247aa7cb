import { createTagArtifact, tagArtifactName, tagArtifactSpec } from "../artifacts/tool.js";
import type { AgentGeneration } from "../manifest/bundle.js";
import type { AgentManifest } from "../manifest/schema.js";
import type { JsonObject } from "../session/event.js";
import type { HarnessResolver, ModelSetting, ToolSpec } from "../session/model.js";
import type { CallableTool, Generation, SessionRecord } from "../session/ports.js";
import { createCommit } from "./commit.js";
import { AuthoredTool, type DispatchSources } from "./dispatch.js";
import { createLoadSkill, loadSkillName, loadSkillSpec, readSkills, skillCatalog } from "./skills.js";

export interface GenerationSources extends Omit<DispatchSources, "agentName"> {
  readonly harnesses: HarnessResolver;
}

/** Makes an agent's code callable: tools ready, prompt composed, model chosen. Done once for each swap. */
export function createRunningGeneration(from: AgentGeneration, sources: GenerationSources): Generation {
  const { agent, manifestHash, definitions } = from;
  const dispatch: DispatchSources = { ...sources, agentName: agent.name };
  const tools = new Map<string, CallableTool>(
    agent.tools.map((entry) => [entry.name, new AuthoredTool(entry, definitions[entry.id], dispatch)]),
  );
  const specs: ToolSpec[] = agent.tools.filter(({ execution }) => execution === "server").map(toSpec);
  const skills = readSkills(agent, from.files);
  if (skills.length > 0 && !tools.has(loadSkillName)) {
    tools.set(loadSkillName, createLoadSkill(skills));
    specs.push(loadSkillSpec);
  }
  if (agent.artifacts?.agentTool === true && !tools.has(tagArtifactName)) {
    const tag = createTagArtifact(({ record, turnId }) => sources.artifacts({ record, turnId, ownOnly: true }));
    tools.set(tagArtifactName, tag);
    specs.push(tagArtifactSpec(agent.artifacts));
  }
  const base = [textOf(agent.instructions.text), skillCatalog(skills)].filter((part) => part !== "").join("\n\n");
  const toolNames = agent.tools.filter(({ execution }) => execution === "server").map(({ name }) => name);
  const model = modelOf(agent);
  const commit = agent.result && createCommit(definitions[agent.result.id], dispatch);

  return {
    agentName: agent.name,
    manifestHash,
    model,
    maxRunningTurns: agent.concurrency?.maxRunningTurns,
    harness: () => sources.harnesses.resolve(model),
    system: (record) => base + frozenTime(record),
    specs: () => specs,
    tool: (name) => tools.get(name),
    toolNames,
    ...(commit && { commit }),
  };
}

function toSpec({ name, description, inputSchema }: AgentManifest["tools"][number]): ToolSpec {
  return { name, description: textOf(description), inputSchema: inputSchema as JsonObject };
}

function modelOf({ model }: AgentManifest): ModelSetting {
  return "dynamic" in model ? { id: "grok-4.5", params: [] } : model;
}

/** Fields that depend on the environment arrive filled in; one that project code left empty is an empty text. */
function textOf(value: string | { dynamic: true }): string {
  return typeof value === "string" ? value : "";
}

function frozenTime({ asOf }: SessionRecord): string {
  if (asOf === undefined) return "";
  return `\n\nThe current time is ${asOf}. Treat it as now: know nothing later, and give tools absolute times no later than that.`;
}
