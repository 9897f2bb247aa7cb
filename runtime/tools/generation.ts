import { createTagArtifact, tagArtifactName, tagArtifactSpec } from "../artifacts/tool.js";
import type { ConnectionTools } from "../connections/mount.js";
import type { AgentGeneration } from "../manifest/bundle.js";
import type { AgentManifest, Dynamic } from "../manifest/schema.js";
import { createReminderTools } from "../reminders/tools.js";
import type { JsonObject } from "../session/event.js";
import type { HarnessResolver, ModelSetting, ToolSpec } from "../session/model.js";
import type { CallableTool, Generation, SessionRecord } from "../session/ports.js";
import type { Ambient } from "../workspace/ambient.js";
import { createActor } from "./actor.js";
import { allowedBuiltins, createBuiltins } from "./builtins.js";
import { createCommit } from "./commit.js";
import { AuthoredTool, type DispatchSources } from "./dispatch.js";
import { createLoadSkill, loadSkillName, loadSkillSpec, readSkills, type Skill, skillCatalog } from "./skills.js";
import { createTask, taskName, taskSpec } from "./task.js";

export interface GenerationSources extends Omit<DispatchSources, "agentName" | "sandbox" | "file"> {
  readonly harnesses: HarnessResolver;
  /** What folders above the working directory have to say. */
  readonly ambient: (record: SessionRecord | undefined) => Ambient;
  /** What MCP connections lend; subagents have the same. */
  readonly connections: ConnectionTools | undefined;
}

type Toolbox = Map<string, { readonly tool: CallableTool; readonly spec?: ToolSpec }>;

/** Makes an agent's code callable: tools ready, prompts composed, models chosen. Done once for each swap. */
export function createRunningGeneration(from: AgentGeneration, sources: GenerationSources): Generation {
  const { agent, manifestHash, definitions } = from;
  const { harnesses, connections } = sources;
  const dispatch: DispatchSources = {
    ...sources,
    agentName: agent.name,
    sandbox: agent.local?.sandbox === true,
    file: (sha256) => Buffer.from(from.files[sha256] ?? "", "base64"),
  };
  const skills = readSkills(agent, from.files);
  const shared = createToolbox(from, (record) => withAmbient(skills, sources.ambient(record)), dispatch);
  const builtins = createBuiltins(agent, sources);
  const allowed = allowedBuiltins(agent.builtins, agent.local?.sandbox === true);
  const model = modelOf(agent.model) ?? defaultModel;
  const commit = agent.result && createCommit(definitions[agent.result.id], dispatch);
  const systemOf = (instructions: string) => {
    let base: { readonly from: Ambient; readonly text: string } | undefined;
    return (record: SessionRecord) => {
      const from = sources.ambient(record);
      if (base?.from !== from) base = { from, text: compose(instructions, withAmbient(skills, from), from) };
      return base.text + frozenTime(record);
    };
  };

  const own: Toolbox = new Map(shared);
  if (agent.subagents.length > 0 && allowed.includes(taskName) && !own.has(taskName)) {
    own.set(taskName, { tool: createTask(agent.subagents), spec: taskSpec(agent.subagents) });
  }
  if (agent.builtinTools?.reminders === true) {
    for (const each of createReminderTools((record) => sources.services(record).reminders)) {
      if (!own.has(each.spec.name)) own.set(each.spec.name, each);
    }
  }
  const system = systemOf(textOf(agent.instructions.text));
  const root = createActor({ model, harnesses, system, tools: own, allowed, builtins, connections });
  const subagents = new Map(
    agent.subagents.map((subagent) => [
      subagent.name,
      createActor({
        model: modelOf(subagent.model) ?? model,
        harnesses,
        system: systemOf(textOf(subagent.instructions)),
        tools: shared,
        allowed: subagent.tools === undefined ? allowed : allowedBuiltins(subagent.tools, false),
        builtins,
        connections,
      }),
    ]),
  );

  const codeHashes = new Map(
    agent.tools.flatMap(({ name, code }) => (code === undefined ? [] : [[name, code] as const])),
  );
  return {
    ...root,
    agentName: agent.name,
    manifestHash,
    codeHash: (toolName) => codeHashes.get(toolName) ?? manifestHash,
    maxRunningTurns: agent.concurrency?.maxRunningTurns,
    get toolNames() {
      return root.toolNames;
    },
    ...(connections && {
      lentToolNames: () => connections.knownNames().filter((name) => !own.has(name)),
    }),
    directToolNames: agent.tools.filter(({ execution }) => execution === "server").map(({ name }) => name),
    subagent: (name) => subagents.get(name),
    ...(commit && { commit }),
  };
}

/** What the agent and its subagents all have: the project's tools, and the framework's for skills and artifacts. */
function createToolbox(
  { agent, definitions }: AgentGeneration,
  skills: (record: SessionRecord | undefined) => readonly Skill[],
  dispatch: DispatchSources,
): Toolbox {
  const tools: Toolbox = new Map();
  for (const entry of agent.tools) {
    const tool = new AuthoredTool(entry, definitions[entry.id], dispatch);
    const isOffered =
      entry.execution === "server" || (entry.script !== undefined && dispatch.sections.workspace !== undefined);
    tools.set(entry.name, isOffered ? { tool, spec: toSpec(entry) } : { tool });
  }
  if (!tools.has(loadSkillName) && skills(undefined).length > 0) {
    tools.set(loadSkillName, { tool: createLoadSkill(skills), spec: loadSkillSpec });
  }
  if (agent.artifacts?.agentTool === true && !tools.has(tagArtifactName)) {
    const tool = createTagArtifact(({ record, turnId }) => dispatch.artifacts({ record, turnId, ownOnly: true }));
    tools.set(tagArtifactName, { tool, spec: tagArtifactSpec(agent.artifacts) });
  }
  return tools;
}

/** Skills of the project, then ambient ones of other names. */
function withAmbient(skills: readonly Skill[], { skills: ambient }: Ambient): readonly Skill[] {
  if (ambient.length === 0) return skills;
  return [...skills, ...ambient.filter(({ name }) => !skills.some((own) => own.name === name))];
}

function compose(instructions: string, skills: readonly Skill[], { text }: Ambient): string {
  const ambient = text === "" ? "" : `## Ambient context\n\n${text}`;
  return [instructions, skillCatalog(skills), ambient].filter((part) => part !== "").join("\n\n");
}

function toSpec({ name, description, inputSchema }: AgentManifest["tools"][number]): ToolSpec {
  return { name, description: textOf(description), inputSchema: inputSchema as JsonObject };
}

const defaultModel: ModelSetting = { id: "grok-4.5", params: [] };

function modelOf(model: Dynamic<ModelSetting> | undefined): ModelSetting | undefined {
  return model === undefined || "dynamic" in model ? undefined : model;
}

/** Fields that depend on the environment arrive filled in; one that project code left empty is an empty text. */
function textOf(value: string | { dynamic: true }): string {
  return typeof value === "string" ? value : "";
}

function frozenTime({ asOf }: SessionRecord): string {
  if (asOf === undefined) return "";
  return `\n\nThe current time is ${asOf}. Treat it as now: know nothing later, and give tools absolute times no later than that.`;
}
