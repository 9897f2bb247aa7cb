/** Which optional parts of the runtime a manifest needs. Decision 41. */
import type { SectionName } from "../../runtime/host/sections.js";
import { packFacts } from "../../runtime/manifest/packs.js";
import type { AgentManifest, Dynamic, Manifest, ModelSetting } from "../../runtime/manifest/schema.js";
import { builtinTools } from "../analyze/builtin-tools.js";
import { type Diagnostic, diagnostic, type Result } from "../diagnostics/diagnostic.js";

const models = ["model-xai", "model-openai", "model-anthropic", "model-openai-compatible"] as const;

/** Every optional part there is. */
export const sectionNames: readonly SectionName[] = [
  ...models,
  "prices",
  "json-schema",
  "workspace",
  "channels",
  "github",
  "slack",
  "webhook",
  "oidc",
  "rate-limit",
  "schedules",
  "connections",
  "reminders",
];

/** How code asks for a service of `ctx.host`, of which no manifest tells. A false find costs size only. */
const services: readonly (readonly [SectionName, RegExp])[] = [
  ["reminders", /\breminders\b/],
  ["github", /\bgetOctokit\b/],
  ["slack", /\bslack\b[^;]{0,200}\bgetClient\b/],
];

/**
 * Sections in the table's order: those the manifest's models and schemas need, and those asked for by name.
 *
 * @param text the project's linked code, which may use services that have a section of their own
 */
export function neededSections(
  manifest: Manifest,
  include: readonly string[],
  text = "",
): Result<readonly SectionName[]> {
  const diagnostics: Diagnostic[] = [];
  // Whether requests are counted is said at startup.
  const needed = new Set<SectionName>(["rate-limit", ...manifest.agents.flatMap(sectionsOf)]);
  for (const name of include) {
    const found = sectionNames.find((each) => each === name || each === `model-${name}`);
    if (found !== undefined) needed.add(found);
    else diagnostics.push(unknownSection(name));
  }
  for (const [name, asks] of services) if (asks.test(text)) needed.add(name);
  // Whoever asks a provider wants to know what it costs.
  if (models.some((name) => needed.has(name))) needed.add("prices");
  return { value: sectionNames.filter((name) => needed.has(name)), diagnostics };
}

function sectionsOf(agent: AgentManifest): readonly SectionName[] {
  const { model, subagents, tools } = agent;
  const settings = [model, ...subagents.flatMap((subagent) => subagent.model ?? [])];
  const plain = tools.some(({ validates }) => validates === "json-schema");
  return [
    ...settings.flatMap(modelSections),
    ...(plain ? (["json-schema"] as const) : []),
    ...(usesWorkspace(agent) ? (["workspace"] as const) : []),
    ...(agent.channels.length > 0 ? (["channels"] as const) : []),
    ...agent.channels.flatMap(({ pack }) => (pack === undefined ? [] : (packFacts[pack]?.section ?? []))),
    ...(agent.channels.some(({ auth }) => auth?.includes("oidc")) ? (["oidc"] as const) : []),
    ...(agent.schedules.length > 0 ? (["schedules"] as const) : []),
    ...(agent.mcpConnections.length + agent.hostConnections.length > 0 ? (["connections"] as const) : []),
    ...(agent.reminders.length > 0 || agent.builtinTools?.reminders === true ? (["reminders"] as const) : []),
  ];
}

/** Whether the agent, or a subagent, has a tool that acts on the working directory. */
function usesWorkspace({ builtins, subagents, tools }: AgentManifest): boolean {
  const lists = [builtins, ...subagents.map((subagent) => subagent.tools ?? builtins)];
  const isUsed = (list: readonly string[] | undefined) =>
    list === undefined || list.some((name) => name !== "task" && builtinTools.some((each) => each === name));
  return lists.some(isUsed) || tools.some(({ execution }) => execution === "agent");
}

/** `grok-…` is xAI's; `openai/…` names its provider. A model that only the environment tells may be anyone's. */
function modelSections(model: Dynamic<ModelSetting>): readonly SectionName[] {
  if ("dynamic" in model) return models;
  if (/^grok-/.test(model.id)) return ["model-xai"];
  const provider = model.id.slice(0, Math.max(0, model.id.indexOf("/")));
  return models.filter((name) => name === `model-${provider}`);
}

function unknownSection(name: string): Diagnostic {
  return diagnostic("unknownSection", {
    message: `there is no part "${name}" of the runtime to include`,
    help: `there are ${sectionNames.join(", ")}`,
  });
}
