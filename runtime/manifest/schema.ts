/**
 * The manifest contract, version 1, owned by the runtime that reads it.
 *
 * Plain JSON, sorted keys, relative POSIX paths, no dates, no random ids, no value of the builder's environment.
 * `bdk manifest --schema` prints this as JSON Schema. Source of the rule: `architecture.md`, `wire.md` (Manifest and info).
 */
import * as z from "zod/v4";

export const MANIFEST_VERSION = 1;

/** A field computed from the environment: known only in the running server. */
const dynamic = z.object({ dynamic: z.literal(true) });
const maybe = <T extends z.ZodType>(schema: T) => z.union([schema, dynamic]);
const jsonSchema = z.record(z.string(), z.unknown());

const shadows = z.array(z.object({ source: z.string(), layer: z.string(), package: z.string().optional() }));

const origin = {
  /** `kind:name`; the key of the definition in the bundle. */
  id: z.string(),
  /** `bot/tools/approve_pr.ts:4`, relative to the project root (`@acme/ci/tools/log.ts:3` for packages). */
  source: z.string(),
  layer: z.enum(["framework", "extension", "overlay", "project"]),
  /** `name@version` of the package that brings it. */
  package: z.string().optional(),
  /** Sources that this entry hides, weakest first. */
  shadows: shadows.optional(),
};

export const fileEntry = z.object({ path: z.string(), sha256: z.string(), bytes: z.number().int() });

export const modelSetting = z.object({
  id: z.string(),
  params: z.array(z.object({ id: z.string(), value: z.string() })),
});

export const toolEntry = z.object({
  ...origin,
  name: z.string(),
  title: maybe(z.string()).optional(),
  description: maybe(z.string()),
  execution: z.enum(["server", "agent"]),
  effect: z.enum(["read", "write", "dynamic"]),
  needsApproval: z.boolean(),
  /** Of a tool that may need approval: `sha256:` of the code that a call runs through, so that a changed one is noticed. */
  code: z.string().optional(),
  timeoutMs: z.number().optional(),
  /** How input is checked: by the definition's own validator, or by ajv when it is a plain JSON Schema. */
  validates: z.enum(["standard", "json-schema", "none"]),
  inputSchema: jsonSchema,
  outputSchema: jsonSchema.optional(),
  /** Of a tool with `execution: "agent"`: the script that runs in the workspace. */
  script: fileEntry.optional(),
});

export const skillEntry = z.object({
  ...origin,
  name: z.string(),
  description: maybe(z.string()),
  markdown: maybe(z.string()),
  /** Siblings, laid beside SKILL.md. */
  files: z.array(fileEntry),
});

export const hookEntry = z.object({ ...origin, name: z.string(), events: z.array(z.string()) });

export const subagentEntry = z.object({
  ...origin,
  name: z.string(),
  description: maybe(z.string()),
  model: maybe(modelSetting).optional(),
  instructions: maybe(z.string()),
  tools: z.array(z.string()).optional(),
});

export const connectionEntry = z.object({
  ...origin,
  name: z.string(),
  description: maybe(z.string()).optional(),
  transport: z.enum(["http", "stdio", "peer", "dynamic"]),
  /** Origin of the URL, the command, or the peer's slug. Never headers, arguments or env values. */
  target: maybe(z.string()),
  advertiseTools: z.boolean().optional(),
  /** Which of the server's tools may be used. */
  tools: z.object({ allow: z.array(z.string()).optional(), block: z.array(z.string()).optional() }).optional(),
  /** Tools that only read. */
  readTools: z.array(z.string()).optional(),
  /** Tools that a human approves; `true`: all of them. */
  needsApproval: z.union([z.boolean(), z.array(z.string())]).optional(),
  oauth: z.boolean().optional(),
  /** Names of the environment that are filled in when it opens, sorted. */
  variables: z.array(z.string()).optional(),
});

export const routeEntry = z.object({
  method: z.string(),
  path: z.string(),
  description: z.string().optional(),
  bodySchema: jsonSchema.optional(),
  querySchema: jsonSchema.optional(),
});

export const channelEntry = z.object({
  ...origin,
  name: z.string(),
  pack: z.string().optional(),
  /** What its pack was told, without functions and secrets; a field may be `{ dynamic: true }`. */
  options: z.record(z.string(), z.unknown()).optional(),
  auth: z.array(z.string()).optional(),
  routes: z.array(routeEntry),
  events: z.array(z.string()),
});

export const scheduleEntry = z.object({
  ...origin,
  name: z.string(),
  description: maybe(z.string()).optional(),
  cron: maybe(z.string()),
  form: z.enum(["markdown", "run"]),
  prompt: maybe(z.string()).optional(),
  catchUp: z.boolean().optional(),
  overlap: z.enum(["skip", "queue"]).optional(),
});

export const reminderEntry = z.object({ ...origin, name: z.string(), description: maybe(z.string()).optional() });

export const artifactsEntry = z.object({
  ...origin,
  kinds: z.array(
    z.object({
      name: z.string(),
      description: maybe(z.string()),
      schema: jsonSchema.optional(),
      /** Entry that brings it, its name there and where that stands, for those of extensions. */
      from: z.object({ ...origin, kind: z.string() }).optional(),
    }),
  ),
  agentTool: z.boolean(),
  max: z.number().int(),
});

export const extensionEntry = z.object({
  ...origin,
  namespace: z.string(),
  description: maybe(z.string()).optional(),
  /** Variables that the mount reads, and the setting that each one is for. */
  env: z.array(z.object({ name: z.string(), setting: z.string().optional() })).optional(),
  contributes: z.array(z.string()),
  disabled: z.array(z.string()),
  /** What overlays replace or disable: the overlay's own file, and what it hides. */
  overlays: z.array(z.object({ id: z.string(), source: z.string(), disables: z.boolean(), shadows })).optional(),
});

export const seedEntry = fileEntry.extend({
  source: z.string(),
  layer: origin.layer,
  package: z.string().optional(),
  shadows: shadows.optional(),
});

/** A single-file slot that has no facts of its own beyond where it stands (`result.ts`, `storage.ts`, `otel.ts`). */
export const presence = z.object({ ...origin });

export const agentManifest = z.object({
  slug: z.string(),
  name: z.string(),
  description: maybe(z.string()).optional(),
  /** `agent.ts`, when there is one. */
  source: z.string().optional(),
  model: maybe(modelSetting),
  instructions: z.object({
    /** The whole text, extensions' parts appended in mount order. */
    text: maybe(z.string()),
    /**
     * `id` is the part's key in the bundle. When the whole text is dynamic, each part that is not says its own `text`
     * here, so that the running server can put the whole together in this order.
     */
    parts: z.array(
      z.object({
        id: z.string().optional(),
        text: maybe(z.string()).optional(),
        source: z.string(),
        layer: origin.layer,
        package: z.string().optional(),
      }),
    ),
  }),
  /** Allowlist of built-in harness tools; absent: all but `shell`. */
  builtins: z.array(z.string()).optional(),
  builtinTools: z.object({ reminders: z.boolean().optional() }).optional(),
  local: z
    .object({
      cwd: maybe(z.string()).optional(),
      workspaceDir: maybe(z.string()).optional(),
      sandbox: z.boolean().optional(),
    })
    .optional(),
  concurrency: z.object({ maxRunningTurns: z.number().int().positive().optional() }).optional(),
  tools: z.array(toolEntry),
  skills: z.array(skillEntry),
  subagents: z.array(subagentEntry),
  hooks: z.array(hookEntry),
  mcpConnections: z.array(connectionEntry),
  hostConnections: z.array(connectionEntry),
  channels: z.array(channelEntry),
  schedules: z.array(scheduleEntry),
  reminders: z.array(reminderEntry),
  extensions: z.array(extensionEntry),
  artifacts: artifactsEntry.optional(),
  result: presence.optional(),
  storage: presence.optional(),
  otel: presence.optional(),
  seeds: z.array(seedEntry),
});

export const manifest = z.object({
  manifestVersion: z.literal(MANIFEST_VERSION),
  /** Version of @cursor/bdk that built it. */
  bdk: z.string(),
  agents: z.array(agentManifest),
  env: z.object({
    /** Names without which the server refuses to start. */
    required: z.array(z.string()),
    /** Every name that project code reads. */
    read: z.array(z.string()),
  }),
  /** Packages left outside the bundle and copied beside it. */
  externals: z.array(z.object({ name: z.string(), version: z.string(), reason: z.string() })),
  /** `sha256:` of the manifest's other fields and of the project code in the bundle. */
  hash: z.string(),
});

export type Manifest = z.infer<typeof manifest>;
export type AgentManifest = z.infer<typeof agentManifest>;
export type ToolEntry = z.infer<typeof toolEntry>;
export type SkillEntry = z.infer<typeof skillEntry>;
export type HookEntry = z.infer<typeof hookEntry>;
export type SubagentEntry = z.infer<typeof subagentEntry>;
export type ConnectionEntry = z.infer<typeof connectionEntry>;
export type ChannelEntry = z.infer<typeof channelEntry>;
export type ScheduleEntry = z.infer<typeof scheduleEntry>;
export type ReminderEntry = z.infer<typeof reminderEntry>;
export type ArtifactsEntry = z.infer<typeof artifactsEntry>;
export type ExtensionEntry = z.infer<typeof extensionEntry>;
export type SeedEntry = z.infer<typeof seedEntry>;
export type FileEntry = z.infer<typeof fileEntry>;
export type ModelSetting = z.infer<typeof modelSetting>;
/** A value, or the mark of one that depends on the environment. */
export type Dynamic<T> = T | { dynamic: true };
