import type { CatalogTool } from "../connections/contract.js";
import type { AgentManifest, ConnectionEntry, ToolEntry } from "../manifest/schema.js";
import { next as nextRun } from "../schedules/cron.js";

/** A compiler's finding as `info` shows it; a subset of the compiler's `Diagnostic`. */
export interface InfoDiagnostic {
  readonly code: string;
  readonly severity: "error" | "warning";
  readonly message: string;
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
}

/** One agent of `{ agents: [AgentInfo] }`, the shape of `GET /v1/info` and `bdk info --json`. Decision 20. */
export type AgentInfo = ReturnType<typeof agentInfo>;

/**
 * What an agent is made of, for people and programs. Host connections are left out: they are no part of what callers
 * or the model may know.
 *
 * @param notes remarks on the model's parameters, such as one that is ignored
 */
export function agentInfo(
  agent: AgentManifest,
  diagnostics: readonly InfoDiagnostic[] = [],
  notes: readonly string[] = [],
) {
  const { text } = agent.instructions;
  return {
    slug: agent.slug,
    name: agent.name,
    ...defined({ description: agent.description, source: agent.source }),
    runtime: "local" as const,
    model: { ...agent.model, ...(notes.length > 0 && { notes }) },
    instructions: {
      ...(typeof text === "string" ? { chars: text.length } : text),
      parts: agent.instructions.parts.map(origin),
    },
    ...defined({ builtins: agent.builtins, builtinTools: agent.builtinTools, concurrency: agent.concurrency }),
    tools: agent.tools.map((tool) => toolDetail(tool)),
    skills: agent.skills.map((skill) => ({
      name: skill.name,
      description: skill.description,
      files: skill.files.map((file) => file.path),
      ...origin(skill),
    })),
    subagents: agent.subagents.map((subagent) => ({
      name: subagent.name,
      description: subagent.description,
      ...defined({ model: subagent.model, tools: subagent.tools }),
      ...origin(subagent),
    })),
    mcpConnections: agent.mcpConnections.map(connectionInfo),
    channels: agent.channels.map((channel) => ({
      name: channel.name,
      ...defined({ pack: channel.pack, auth: channel.auth }),
      routes: channel.routes,
      events: channel.events,
      ...origin(channel),
    })),
    schedules: agent.schedules.map((schedule) => ({
      name: schedule.name,
      ...defined({ description: schedule.description }),
      cron: schedule.cron,
      form: schedule.form,
      ...defined({
        next: typeof schedule.cron === "string" ? nextRun(schedule.cron, new Date())?.toISOString() : undefined,
      }),
      ...defined({ catchUp: schedule.catchUp, overlap: schedule.overlap }),
      ...origin(schedule),
    })),
    reminders: agent.reminders.map((reminder) => ({
      name: reminder.name,
      ...defined({ description: reminder.description }),
      ...origin(reminder),
    })),
    hooks: agent.hooks.map((hook) => ({ name: hook.name, events: hook.events, ...origin(hook) })),
    extensions: agent.extensions.map((extension) => ({
      namespace: extension.namespace,
      ...defined({ description: extension.description }),
      contributes: extension.contributes.filter(isPublic),
      disabled: extension.disabled.filter(isPublic),
      ...defined({ overlays: extension.overlays?.filter(({ id }) => isPublic(id)) }),
      ...origin(extension),
    })),
    ...(agent.artifacts && {
      artifacts: { kinds: agent.artifacts.kinds, agentTool: agent.artifacts.agentTool, max: agent.artifacts.max },
    }),
    diagnostics,
  };
}

/** Host connections are left out wherever they are mentioned. */
function isPublic(id: string): boolean {
  return !id.startsWith("host-connection:");
}

/** A tool in full: the body of `GET /v1/tools/:name`, and an item of `info`. */
export function toolDetail(tool: ToolEntry) {
  return {
    name: tool.name,
    ...defined({ title: tool.title }),
    description: tool.description,
    execution: tool.execution,
    effect: tool.effect,
    needsApproval: tool.needsApproval,
    ...defined({ timeoutMs: tool.timeoutMs }),
    inputSchema: tool.inputSchema,
    ...defined({ outputSchema: tool.outputSchema }),
    ...origin(tool),
  };
}

/** The light entries of `GET /v1/tools`: what can be called on the host. */
export function toolListing(agent: AgentManifest) {
  return agent.tools
    .filter((tool) => tool.execution === "server")
    .map((tool) => ({ name: tool.name, ...defined({ title: tool.title }) }));
}

/** Whether some connection shows its tools to the model under their own names. */
export function hasLentTools(agent: AgentManifest): boolean {
  return agent.mcpConnections.some(({ advertiseTools }) => advertiseTools === true);
}

/** The catalog with the tools that connections advertise; one of the project's own name hides theirs. */
export function withLentTools(
  own: ReturnType<typeof toolListing>,
  lent: readonly CatalogTool[],
): readonly { readonly name: string; readonly source?: string }[] {
  const taken = new Set(own.map(({ name }) => name));
  const shown = lent.filter(({ name }) => !taken.has(name));
  return [...own, ...shown.map(({ name, title, connection }) => ({ name, ...defined({ title }), source: connection }))];
}

/** A connection's tool in full: as one of the project's, its source the connection. */
export function lentToolDetail({ connection, tool, ...told }: CatalogTool) {
  return { ...told, execution: "server" as const, source: connection, connection: { name: connection, tool } };
}

function connectionInfo(connection: ConnectionEntry) {
  return {
    name: connection.name,
    ...defined({ description: connection.description, advertiseTools: connection.advertiseTools }),
    transport: connection.transport,
    target: connection.target,
    ...origin(connection),
  };
}

function origin(entry: Pick<ToolEntry, "source" | "layer" | "package" | "shadows">) {
  const { source, layer, package: from, shadows } = entry;
  return { source, layer, ...defined({ package: from, shadows }) };
}

/** The fields that have a value. */
function defined<T extends Record<string, unknown>>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
