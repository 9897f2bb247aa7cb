/** `@cursor/bdk`: what most projects need. Everything else has a subpath of its own. */
export type {
  Cost,
  FinishReason,
  JsonObject,
  JsonValue,
  RequestedCall,
  SessionEvent,
  SessionEventData,
  SessionEventType,
  SessionMode,
  SessionPurpose,
  Usage,
} from "../session/event.js";
export type { AgentConfig, AgentDefinition, BuiltinToolName, LocalConfig, ModelParam, ModelSetting } from "./agent.js";
export { defineAgent } from "./agent.js";
export type { ArtifactRecord, ArtifactsApi, ArtifactTag } from "./artifacts.js";
export type { HookContext, HookDefinition, HookEvent, HookEventName, HookHandler } from "./hooks.js";
export { defineHook } from "./hooks.js";
export type {
  FileScope,
  HostFilesApi,
  HostGithubApi,
  HostKvApi,
  HostMcpApi,
  HostMcpCallResult,
  HostMcpContent,
  HostMcpTool,
  HostOtelApi,
  HostRemindersApi,
  HostServices,
  HostSlackApi,
  OctokitLike,
  OctokitResponse,
  OtelTags,
  ReminderCreate,
  ReminderInfo,
  SessionAuth,
  SessionInfo,
  SlackClientLike,
} from "./host.js";
export type { InstructionsConfig, InstructionsDefinition } from "./instructions.js";
export { defineInstructions } from "./instructions.js";
export type { PromptTag } from "./prompt.js";
export { prompt } from "./prompt.js";
export type { InferInput, InferOutput, JsonSchemaObject, SchemaIssue, SchemaResult, StandardSchema } from "./schema.js";
export type { SkillConfig, SkillDefinition } from "./skills.js";
export { defineSkill } from "./skills.js";
export type {
  ToolConfig,
  ToolContext,
  ToolDefinition,
  ToolEffect,
  ToolExecuteResult,
  ToolResultContent,
  ToolResultEnvelope,
} from "./tools.js";
export { defineTool } from "./tools.js";
