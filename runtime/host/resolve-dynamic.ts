import { defaultModel, readModelSetting } from "../harness/models/setting.js";
import type { AgentManifest, ConnectionEntry, Dynamic, ModelSetting, SubagentEntry } from "../manifest/schema.js";

type Definitions = Readonly<Record<string, unknown>>;

/**
 * Fills in the fields that the manifest marks `{ dynamic: true }` from the definitions as they are in this process, with
 * this environment. Fields that project code left without a value keep the mark.
 */
export function resolveDynamic(agent: AgentManifest, definitions: Definitions): AgentManifest {
  const field = (id: string, name: string): unknown => fieldsOf(definitions[id])[name];
  const text = (value: Dynamic<string>, id: string, name = "description"): Dynamic<string> =>
    isDynamic(value) ? (stringOr(field(id, name)) ?? value) : value;
  const described = <T extends { id: string; description?: Dynamic<string> | undefined }>(entry: T): T =>
    entry.description === undefined ? entry : { ...entry, description: text(entry.description, entry.id) };

  return {
    ...agent,
    ...(agent.description !== undefined && { description: text(agent.description, "agent") }),
    model: isDynamic(agent.model) ? (readModelSetting(field("agent", "model")) ?? defaultModel) : agent.model,
    instructions: { ...agent.instructions, text: resolveInstructions(agent, definitions) },
    ...(agent.local && {
      local: {
        ...agent.local,
        ...pathOf("cwd", agent.local.cwd, field("agent", "local")),
        ...pathOf("workspaceDir", agent.local.workspaceDir, field("agent", "local")),
      },
    }),
    tools: agent.tools.map((tool) => ({
      ...described(tool),
      ...(tool.title !== undefined && { title: text(tool.title, tool.id, "title") }),
    })),
    skills: agent.skills.map((skill) => ({
      ...described(skill),
      markdown: text(skill.markdown, skill.id, "markdown"),
    })),
    subagents: agent.subagents.map((subagent) => ({
      ...described(subagent),
      instructions: resolveSubagentInstructions(subagent, definitions),
      ...(subagent.model !== undefined && { model: resolveModel(subagent.model, field(subagent.id, "model")) }),
    })),
    mcpConnections: agent.mcpConnections.map((entry) => resolveConnection(described(entry), definitions)),
    hostConnections: agent.hostConnections.map((entry) => resolveConnection(described(entry), definitions)),
    extensions: agent.extensions.map(described),
    schedules: agent.schedules.map((entry) => ({ ...described(entry), cron: text(entry.cron, entry.id, "cron") })),
    reminders: agent.reminders.map(described),
    ...(agent.artifacts && {
      artifacts: {
        ...agent.artifacts,
        kinds: agent.artifacts.kinds.map((kind) => {
          const { id, kind: name } = kind.from ?? { id: "artifacts", kind: kind.name };
          const own = fieldsOf(fieldsOf(field(id, "kinds"))[name]);
          return isDynamic(kind.description)
            ? { ...kind, description: stringOr(own.description) ?? kind.description }
            : kind;
        }),
      },
    }),
  };
}

/** Whether a field is the mark of a value that only the running process knows. */
export function isDynamic(value: unknown): value is { readonly dynamic: true } {
  return typeof value === "object" && value !== null && "dynamic" in value;
}

function resolveModel(setting: Dynamic<ModelSetting>, own: unknown): Dynamic<ModelSetting> {
  return isDynamic(setting) ? (readModelSetting(own) ?? setting) : setting;
}

/** The text of every part in order; parts written in code say theirs now. */
function resolveInstructions(agent: AgentManifest, definitions: Definitions): Dynamic<string> {
  const { text, parts } = agent.instructions;
  if (!isDynamic(text)) return text;
  const texts = parts.map((part) => (typeof part.text === "string" ? part.text : textIn(definitions[part.id ?? ""])));
  return compose(texts) ?? text;
}

/** A subagent's: inline, or of the files in its folder. */
function resolveSubagentInstructions({ id, instructions }: SubagentEntry, definitions: Definitions): Dynamic<string> {
  if (!isDynamic(instructions)) return instructions;
  const own = Object.keys(definitions).filter(
    (each) => each === `${id}/instructions` || each.startsWith(`${id}/instructions/`),
  );
  const texts = own.length === 0 ? [textIn(definitions[id])] : own.sort().map((each) => textIn(definitions[each]));
  return compose(texts) ?? instructions;
}

/** As the compiler composes texts that it knows: one as it is, several with blank lines between. */
function compose(texts: readonly (string | undefined)[]): string | undefined {
  const known = texts.filter((text) => text !== undefined);
  const [only] = known;
  return known.length <= 1 ? only : `${known.map((text) => text.trim()).join("\n\n")}\n`;
}

/** What a module of the instructions slot exports (a text, or `{ markdown }`), or an agent's inline `instructions`. */
function textIn(own: unknown): string | undefined {
  return stringOr(own) ?? stringOr(fieldsOf(own).markdown) ?? stringOr(fieldsOf(own).instructions);
}

function resolveConnection(entry: ConnectionEntry, definitions: Definitions): ConnectionEntry {
  if (!isDynamic(entry.target)) return entry;
  const own = fieldsOf(definitions[entry.id]);
  const url = stringOr(own.url);
  const target = url === undefined ? (stringOr(own.command) ?? stringOr(own.agent)) : originOf(url);
  return target === undefined ? entry : { ...entry, target };
}

/** The origin alone: paths and queries of a connection's URL may carry credentials. */
function originOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).origin : undefined;
}

function pathOf(name: "cwd" | "workspaceDir", value: Dynamic<string> | undefined, local: unknown) {
  if (!isDynamic(value)) return {};
  const own = stringOr(fieldsOf(local)[name]);
  return own === undefined ? {} : { [name]: own };
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function stringOr(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
