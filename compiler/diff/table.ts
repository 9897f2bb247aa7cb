import type {
  AgentManifest,
  ArtifactsEntry,
  ChannelEntry,
  ConnectionEntry,
  ExtensionEntry,
  HookEntry,
  ReminderEntry,
  ScheduleEntry,
  SeedEntry,
  SkillEntry,
  SubagentEntry,
  ToolEntry,
} from "../../runtime/manifest/schema.js";
import { type EntryComparer, type EntryKind, entryKind, type Verdict } from "./entry.js";
import type { FieldRules } from "./rule.js";
import { approval, gatedCode } from "./rules/approval.js";
import { artifactKinds, retention, tagging } from "./rules/artifact-kinds.js";
import { auth, lacksAuth } from "./rules/auth.js";
import { builtins, offered } from "./rules/builtins.js";
import { effect } from "./rules/effect.js";
import { mountVariables } from "./rules/environment.js";
import { execution, timeout, validation } from "./rules/execution.js";
import { contents, files, script, size } from "./rules/files.js";
import { parts, wholeText } from "./rules/instructions.js";
import { local } from "./rules/local.js";
import { model } from "./rules/model.js";
import { names } from "./rules/names.js";
import { advertised, target, transport } from "./rules/network.js";
import { origin, source } from "./rules/origin.js";
import { overlays } from "./rules/overlays.js";
import { routes } from "./rules/routes.js";
import { timing } from "./rules/schedule.js";
import { schema } from "./rules/schema.js";
import { text } from "./rules/text.js";

/** THE table: for each kind of entry, which rule looks at which field and how grave its coming and going is. */
export const entryKinds: readonly EntryComparer[] = [
  entryKind<ToolEntry>({
    list: (agent) => agent.tools,
    covers: ["tools"],
    key: (tool) => tool.id,
    fields: {
      ...origin,
      title: text("title"),
      description: text("description"),
      execution,
      effect,
      needsApproval: approval,
      code: gatedCode,
      timeoutMs: timeout,
      validates: validation,
      inputSchema: schema("input"),
      outputSchema: schema("output"),
      script,
    },
    added: (tool) => ["compatible", `${tool.effect} tool${tool.needsApproval ? " with approval" : ""}`],
    removed: () => "breaking",
    renamed: "breaking",
    content: ({ description, inputSchema, outputSchema }) => ({ description, inputSchema, outputSchema }),
  }),
  entryKind<SkillEntry>({
    list: (agent) => agent.skills,
    covers: ["skills"],
    key: (skill) => skill.id,
    fields: { ...origin, description: text("description"), markdown: text("text"), files },
    added: () => "compatible",
    removed: () => "risky",
    renamed: "compatible",
    content: ({ description, markdown, files: siblings }) => ({ description, markdown, files: siblings }),
  }),
  entryKind<SubagentEntry>({
    list: (agent) => agent.subagents,
    covers: ["subagents"],
    key: (subagent) => subagent.id,
    fields: { ...origin, description: text("description"), instructions: text("instructions"), model, tools: builtins },
    added: () => "compatible",
    removed: () => "risky",
    renamed: "compatible",
    content: ({ description, instructions, tools }) => ({ description, instructions, tools }),
  }),
  entryKind<HookEntry>({
    list: (agent) => agent.hooks,
    covers: ["hooks"],
    key: (hook) => hook.id,
    fields: {
      ...origin,
      events: names({
        noun: "event",
        added: "compatible",
        gained: "now observed",
        removed: "risky",
        lost: "no longer observed",
      }),
    },
    added: (hook) => ["compatible", `observes ${hook.events.join(", ")}`],
    removed: (hook) => ["risky", `${hook.events.join(", ")} no longer observed`],
    renamed: "compatible",
  }),
  entryKind<ConnectionEntry>(connection("mcpConnections")),
  entryKind<ConnectionEntry>(connection("hostConnections")),
  entryKind<ChannelEntry>({
    list: (agent) => agent.channels,
    covers: ["channels"],
    key: (channel) => channel.id,
    fields: {
      ...origin,
      auth,
      routes,
      pack: timing("channel pack", "risky"),
      options: timing("options of the channel pack", "risky"),
      events: names({
        noun: "event",
        added: "compatible",
        gained: "now delivered",
        removed: "risky",
        lost: "no longer delivered",
      }),
    },
    added: (channel) => {
      const open = lacksAuth(channel) && channel.routes.length > 0;
      const listed = channel.routes.map((route) => `${route.method} ${route.path}`).join(", ");
      return [open ? "risky" : "compatible", `${listed === "" ? "no routes" : listed}${open ? ", without auth" : ""}`];
    },
    removed: () => "breaking",
    renamed: "breaking",
    content: ({ auth: chain, routes: paths, pack }) => ({ auth: chain, routes: paths, pack }),
  }),
  entryKind<ScheduleEntry>({
    list: (agent) => agent.schedules,
    covers: ["schedules"],
    key: (schedule) => schedule.id,
    fields: {
      ...origin,
      description: text("description"),
      cron: timing("cron", "risky"),
      form: timing("form", "risky"),
      prompt: text("prompt"),
      catchUp: timing("catch-up after downtime", "risky"),
      overlap: timing("overlap", "risky"),
    },
    added: (schedule) => ["risky", `runs by itself at ${timeOf(schedule)}`],
    removed: (schedule) => ["risky", `no longer runs at ${timeOf(schedule)}`],
    renamed: "compatible",
    content: ({ cron, form, prompt }) => ({ cron, form, prompt }),
  }),
  entryKind<ReminderEntry>({
    list: (agent) => agent.reminders,
    covers: ["reminders"],
    key: (reminder) => reminder.id,
    fields: { ...origin, description: text("description") },
    added: () => "compatible",
    removed: () => ["breaking", "reminders that are already set no longer find their handler"],
    renamed: "breaking",
  }),
  entryKind<ExtensionEntry>({
    list: (agent) => agent.extensions,
    covers: ["extensions"],
    key: (mount) => mount.id,
    fields: {
      ...origin,
      description: text("description"),
      env: mountVariables,
      contributes: names({ noun: "contribution", added: "compatible", removed: "compatible" }),
      disabled: names({
        noun: "contribution",
        added: "compatible",
        gained: "now disabled",
        removed: "risky",
        lost: "no longer disabled",
      }),
      overlays,
    },
    added: (mount) => [
      "risky",
      `${mount.package ?? "local code"} runs as trusted host code and brings ${count(mount.contributes)}`,
    ],
    removed: (mount) => ["compatible", `${mount.package ?? "local code"} brought ${count(mount.contributes)}`],
    renamed: "compatible",
    content: ({ package: from, contributes }) =>
      from === undefined ? undefined : { from, contributes: contributes.map((id) => id.replace(/:.*?__/, ":")) },
    reportsUpgrades: true,
  }),
  entryKind<ArtifactsEntry>({
    list: (agent) => optional(agent.artifacts),
    covers: ["artifacts"],
    key: (entry) => entry.id,
    fields: { ...origin, kinds: artifactKinds, max: retention, agentTool: tagging },
    added: () => "compatible",
    removed: (entry) => (entry.kinds.length > 0 ? "breaking" : "compatible"),
    renamed: "compatible",
  }),
  single("result", "answers are no longer committed by the host"),
  single("storage", "state is kept elsewhere"),
  single("otel", "telemetry goes elsewhere"),
  entryKind<SeedEntry>({
    list: (agent) => agent.seeds,
    covers: ["seeds"],
    key: (seed) => `seed:${seed.path}`,
    fields: { ...origin, sha256: contents, bytes: size },
    added: () => "compatible",
    removed: () => ["risky", "new sessions start without this file"],
    renamed: "compatible",
    content: ({ sha256, bytes }) => (bytes > 0 ? sha256 : undefined),
  }),
];

/** Fields of an agent that are no entries. `instructions` is an entry of its own, see `diff.ts`. */
export const agentFields: FieldRules<AgentManifest> = {
  name: text("display name"),
  description: text("description"),
  source,
  model,
  builtins,
  builtinTools: offered,
  local,
};

export const instructionFields: FieldRules<AgentManifest["instructions"]> = { text: wholeText, parts };

function connection(list: "mcpConnections" | "hostConnections"): EntryKind<ConnectionEntry> {
  const where = (entry: ConnectionEntry) =>
    typeof entry.target === "string" ? entry.target : "a target from the environment";
  return {
    list: (agent) => agent[list],
    covers: [list],
    key: (entry) => entry.id,
    fields: {
      ...origin,
      description: text("description"),
      transport,
      target,
      advertiseTools: advertised,
      readTools: names({
        noun: "tool",
        added: "risky",
        gained: "now counts as reading, and runs in dry runs",
        removed: "compatible",
        lost: "no longer counts as reading",
      }),
      variables: names({
        noun: "variable",
        added: "risky",
        gained: "is now needed",
        removed: "compatible",
        lost: "is no longer needed",
      }),
    },
    added: (entry): Verdict => [
      entry.transport === "peer" ? "compatible" : "risky",
      `${entry.transport} to ${where(entry)}`,
    ],
    removed: (entry) => ["risky", `no longer reaches ${where(entry)}`],
    renamed: "risky",
    content: ({ transport: by, target: to, description }) => ({ by, to, description }),
  };
}

/** A single-file slot without facts of its own. */
function single(slot: "result" | "storage" | "otel", consequence: string): EntryComparer {
  const level = slot === "otel" ? "compatible" : "risky";
  return entryKind<NonNullable<AgentManifest["result"]>>({
    list: (agent) => optional(agent[slot]),
    covers: [slot],
    key: (entry) => entry.id,
    fields: origin,
    added: () => level,
    removed: () => [level, consequence],
    renamed: "compatible",
  });
}

function timeOf({ cron }: ScheduleEntry): string {
  return typeof cron === "string" ? cron : "times from the environment";
}

function optional<T>(value: T | undefined): readonly T[] {
  return value === undefined ? [] : [value];
}

function count(contributions: readonly string[]): string {
  return contributions.length === 1 ? "1 contribution" : `${contributions.length} contributions`;
}
