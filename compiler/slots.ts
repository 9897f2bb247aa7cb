/** What can stand in a project. The kind is the first half of an entry's id (`tool:approve_pr`). */
export type Kind =
  | "agent"
  | "instructions"
  | "tool"
  | "skill"
  | "mcp-connection"
  | "host-connection"
  | "subagent"
  | "extension"
  | "channel"
  | "hook"
  | "artifacts"
  | "result"
  | "schedule"
  | "reminder"
  | "seed"
  | "storage"
  | "otel"
  | "playground"
  | "eval"
  | "eval-config"
  | "lib";

/**
 * How a slot's path is read.
 * - `file`: one file, no name (`agent.ts`)
 * - `prose`: one file, or a folder whose files are composed in filename order (`instructions.md`, `instructions/`)
 * - `files`: one file an entry, flat (`tools/<name>.ts`)
 * - `tree`: one file an entry, subfolders are part of the name (`hooks/audit/usage.ts` is `audit/usage`)
 * - `skills`: `<name>.md`, `<name>.ts`, or `<name>/SKILL.md` with siblings
 * - `folders`: one folder an entry (`subagents/<id>/`)
 * - `mounts`: `<ns>.ts`, or `<ns>/extension.ts` with overlays beneath it
 * - `assets`: every file below, as bytes (`sandbox/workspace/**`)
 * - `private`: never discovered (`lib/`)
 */
export type Shape = "file" | "prose" | "files" | "tree" | "skills" | "folders" | "mounts" | "assets" | "private";

/** Who may bring an entry of this slot. */
export type Contributor = "project" | "extension" | "subagent";

/** Which names a slot takes; `free` ones come from file names that nobody else sees. The rules are in `scan/names.ts`. */
export type Naming = "tool" | "skill" | "segment" | "namespace" | "path" | "free";

export interface Slot {
  readonly kind: Kind;
  /** Where `path` starts: the base folder (`bot/`), or the project root (evals). */
  readonly scope: "base" | "project";
  /** File stem or folder. */
  readonly path: string;
  readonly shape: Shape;
  readonly naming: Naming;
  /** Accepted file endings, the documented one first. Empty: any. */
  readonly endings: readonly string[];
  /** The helper its default export must call, and the subpath that exports it; none for prose and assets. */
  readonly define?: { readonly name: string; readonly from: string };
  /** Default exports that it also takes as they are, without the helper. */
  readonly plain?: readonly ("text" | "object" | "array")[];
  /** The definition must carry a `description`: the model chooses by it. */
  readonly described?: true;
  /** Markdown of this slot may start with YAML front matter. */
  readonly frontMatter?: true;
  /** Key of the list in the manifest and in `/v1/info`. */
  readonly plural: string;
  readonly contributors: readonly Contributor[];
  /** Folder names that people write when they mean this slot. */
  readonly aliases?: readonly string[];
}

const code = [".ts", ".mts", ".js", ".mjs"] as const;
const prose = [".md", ...code] as const;
const project = ["project"] as const;
const shared = ["project", "extension"] as const;

/** THE table of conventions. Scan, naming, checks, overlays, the manifest and `bdk info` all read it. */
// biome-ignore format: a table reads best with one row a slot
export const slots: readonly Slot[] = [
  { kind: "agent", scope: "base", path: "agent", shape: "file", naming: "free", endings: code,
    define: { name: "defineAgent", from: "." }, plural: "agent", contributors: ["project", "subagent"], aliases: ["config"] },
  { kind: "instructions", scope: "base", path: "instructions", shape: "prose", naming: "free", endings: prose,
    define: { name: "defineInstructions", from: "." }, plain: ["text"], plural: "instructions", contributors: ["project", "extension", "subagent"], aliases: ["prompt", "prompts", "system"] },
  { kind: "tool", scope: "base", path: "tools", shape: "files", naming: "tool", endings: code,
    define: { name: "defineTool", from: "./tools" }, described: true, plural: "tools", contributors: shared, aliases: ["functions", "function", "actions", "action"] },
  { kind: "skill", scope: "base", path: "skills", shape: "skills", naming: "skill", endings: prose, frontMatter: true,
    define: { name: "defineSkill", from: "./skills" }, described: true, plural: "skills", contributors: shared, aliases: ["procedures", "commands"] },
  { kind: "mcp-connection", scope: "base", path: "mcp-connections", shape: "files", naming: "segment", endings: code,
    define: { name: "defineConnection", from: "./connections" }, plural: "mcpConnections", contributors: shared, aliases: ["connections", "connection", "mcp", "mcps", "mcp-servers", "mcps-connections"] },
  { kind: "host-connection", scope: "base", path: "host-connections", shape: "files", naming: "segment", endings: code,
    define: { name: "defineConnection", from: "./connections" }, plural: "hostConnections", contributors: shared, aliases: ["host"] },
  { kind: "subagent", scope: "base", path: "subagents", shape: "folders", naming: "segment", endings: code,
    define: { name: "defineAgent", from: "." }, described: true, plural: "subagents", contributors: shared, aliases: ["agents", "sub-agents", "children"] },
  { kind: "extension", scope: "base", path: "extensions", shape: "mounts", naming: "namespace", endings: code,
    define: { name: "defineExtension", from: "./extensions" }, plural: "extensions", contributors: project, aliases: ["plugins", "plugin", "packages", "mounts"] },
  { kind: "channel", scope: "base", path: "channels", shape: "files", naming: "segment", endings: code,
    define: { name: "defineChannel", from: "./channels" }, plural: "channels", contributors: shared, aliases: ["webhooks", "routes", "integrations"] },
  { kind: "hook", scope: "base", path: "hooks", shape: "tree", naming: "path", endings: code,
    define: { name: "defineHook", from: "./hooks" }, plural: "hooks", contributors: shared, aliases: ["subscribers", "listeners"] },
  { kind: "artifacts", scope: "base", path: "artifacts", shape: "file", naming: "free", endings: code,
    define: { name: "defineArtifacts", from: "./artifacts" }, plural: "artifacts", contributors: shared },
  { kind: "result", scope: "base", path: "result", shape: "file", naming: "free", endings: code,
    define: { name: "defineResult", from: "./result" }, plural: "result", contributors: project },
  { kind: "schedule", scope: "base", path: "schedules", shape: "files", naming: "segment", endings: prose, frontMatter: true,
    define: { name: "defineSchedule", from: "./schedules" }, plural: "schedules", contributors: shared, aliases: ["cron", "crons", "jobs", "tasks"] },
  { kind: "reminder", scope: "base", path: "reminders", shape: "files", naming: "segment", endings: code,
    define: { name: "defineReminder", from: "./reminders" }, plural: "reminders", contributors: project },
  { kind: "seed", scope: "base", path: "sandbox/workspace", shape: "assets", naming: "free", endings: [],
    plural: "seeds", contributors: shared, aliases: ["workspace", "seeds", "seed", "files"] },
  { kind: "storage", scope: "base", path: "storage", shape: "file", naming: "free", endings: code,
    define: { name: "defineStorage", from: "./storage" }, plural: "storage", contributors: project },
  { kind: "otel", scope: "base", path: "otel", shape: "file", naming: "free", endings: code,
    define: { name: "defineOtel", from: "./otel" }, plural: "otel", contributors: project },
  { kind: "playground", scope: "base", path: "playground", shape: "assets", naming: "free", endings: [],
    plural: "playground", contributors: project },
  { kind: "eval", scope: "project", path: "evals", shape: "tree", naming: "free", endings: [".eval.ts", ".eval.js"],
    define: { name: "defineEval", from: "./evals" }, plain: ["array"], plural: "evals", contributors: project },
  { kind: "eval-config", scope: "project", path: "evals/evals.config", shape: "file", naming: "free", endings: code,
    define: { name: "defineEvalConfig", from: "./evals" }, plain: ["object"], plural: "evalConfig", contributors: project },
  { kind: "lib", scope: "base", path: "lib", shape: "private", naming: "free", endings: [],
    plural: "lib", contributors: shared, aliases: ["utils", "util", "helpers", "shared", "common", "src"] },
];

const byKind = new Map(slots.map((slot) => [slot.kind, slot]));

/** How a slot is shown to people: `tools/`, `agent.ts`. */
export function labelOf({ shape, path, endings }: Slot): string {
  return shape === "file" || shape === "prose" ? `${path}${endings[0] ?? ""}` : `${path}/`;
}

/** The row of a kind. */
export function slotOf(kind: Kind): Slot {
  const slot = byKind.get(kind);
  if (slot === undefined) throw new Error(`no slot for kind ${kind}`);
  return slot;
}
