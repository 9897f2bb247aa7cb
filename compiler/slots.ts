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
  | "lib";

/**
 * How a slot's path is read.
 * - `file`: one file, no name (`agent.ts`)
 * - `prose`: one file or a folder composed in filename order (`instructions.md`, `instructions.ts`, `instructions/`)
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

export interface Slot {
  readonly kind: Kind;
  /** File stem or folder below `bot/` (below the project root for `eval`). */
  readonly path: string;
  readonly shape: Shape;
  /** Accepted file endings, the documented one first. Empty: any. */
  readonly endings: readonly string[];
  /** The helper its default export must call, and the subpath that exports it; none for prose and assets. */
  readonly define?: { readonly name: string; readonly from: string };
  /** Key of the list in the manifest and in `/v1/info`. */
  readonly plural: string;
  readonly contributors: readonly Contributor[];
}

const code = [".ts", ".mts", ".js", ".mjs"] as const;
const project = ["project"] as const;
const shared = ["project", "extension"] as const;

/** THE table of conventions. Scan, naming, checks, overlays, the manifest and `bdk info` all read it. */
export const slots: readonly Slot[] = [
  { kind: "agent", path: "agent", shape: "file", endings: code, define: { name: "defineAgent", from: "." }, plural: "agent", contributors: ["project", "subagent"] },
  { kind: "instructions", path: "instructions", shape: "prose", endings: [".md", ...code], define: { name: "defineInstructions", from: "." }, plural: "instructions", contributors: ["project", "extension", "subagent"] },
  { kind: "tool", path: "tools", shape: "files", endings: code, define: { name: "defineTool", from: "./tools" }, plural: "tools", contributors: shared },
  { kind: "skill", path: "skills", shape: "skills", endings: [".md", ...code], define: { name: "defineSkill", from: "./skills" }, plural: "skills", contributors: shared },
  { kind: "mcp-connection", path: "mcp-connections", shape: "files", endings: code, define: { name: "defineConnection", from: "./connections" }, plural: "mcpConnections", contributors: shared },
  { kind: "host-connection", path: "host-connections", shape: "files", endings: code, define: { name: "defineConnection", from: "./connections" }, plural: "hostConnections", contributors: shared },
  { kind: "subagent", path: "subagents", shape: "folders", endings: code, define: { name: "defineAgent", from: "." }, plural: "subagents", contributors: shared },
  { kind: "extension", path: "extensions", shape: "mounts", endings: code, define: { name: "defineExtension", from: "./extensions" }, plural: "extensions", contributors: project },
  { kind: "channel", path: "channels", shape: "files", endings: code, define: { name: "defineChannel", from: "./channels" }, plural: "channels", contributors: shared },
  { kind: "hook", path: "hooks", shape: "tree", endings: code, define: { name: "defineHook", from: "./hooks" }, plural: "hooks", contributors: shared },
  { kind: "artifacts", path: "artifacts", shape: "file", endings: code, define: { name: "defineArtifacts", from: "./artifacts" }, plural: "artifacts", contributors: shared },
  { kind: "result", path: "result", shape: "file", endings: code, define: { name: "defineResult", from: "./result" }, plural: "result", contributors: project },
  { kind: "schedule", path: "schedules", shape: "files", endings: [".md", ...code], define: { name: "defineSchedule", from: "./schedules" }, plural: "schedules", contributors: shared },
  { kind: "reminder", path: "reminders", shape: "files", endings: code, define: { name: "defineReminder", from: "./reminders" }, plural: "reminders", contributors: project },
  { kind: "seed", path: "sandbox/workspace", shape: "assets", endings: [], plural: "seeds", contributors: shared },
  { kind: "storage", path: "storage", shape: "file", endings: code, define: { name: "defineStorage", from: "./storage" }, plural: "storage", contributors: project },
  { kind: "otel", path: "otel", shape: "file", endings: code, define: { name: "defineOtel", from: "./otel" }, plural: "otel", contributors: project },
  { kind: "playground", path: "playground", shape: "assets", endings: [], plural: "playground", contributors: project },
  { kind: "eval", path: "evals", shape: "tree", endings: [".eval.ts", ".eval.js"], define: { name: "defineEval", from: "./evals" }, plural: "evals", contributors: project },
  { kind: "lib", path: "lib", shape: "private", endings: [], plural: "lib", contributors: shared },
];
