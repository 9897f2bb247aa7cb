/** Bundles made in memory from definitions, as the compiler would make them from files. */
import * as z from "zod/v4";
import type { AgentBundle } from "../../../runtime/manifest/bundle.js";
import type { AgentManifest, Manifest, ToolEntry } from "../../../runtime/manifest/schema.js";

type ToolDefinition = {
  readonly description: string;
  readonly title?: string | undefined;
  readonly inputSchema?: unknown;
  readonly effect?: unknown;
  readonly execution?: "server" | "agent" | undefined;
  readonly needsApproval?: unknown;
};

export interface AgentParts {
  readonly slug?: string;
  readonly model?: string;
  readonly params?: AgentManifest["model"] extends infer M ? (M extends { params: infer P } ? P : never) : never;
  readonly instructions?: string;
  readonly tools?: Readonly<Record<string, ToolDefinition>>;
  readonly hooks?: Readonly<Record<string, { readonly events: Readonly<Record<string, unknown>> }>>;
  readonly manifest?: Partial<AgentManifest>;
  readonly definitions?: Readonly<Record<string, unknown>>;
}

/** A bundle of agents; `hash` tells generations apart. */
export function makeBundle(
  agents: readonly AgentParts[],
  extra: { hash?: string; required?: string[] } = {},
): AgentBundle {
  const manifest: Manifest = {
    manifestVersion: 1,
    bdk: "0.0.0-test",
    agents: agents.map(toManifest),
    env: { required: extra.required ?? [], read: [] },
    externals: [],
    hash: extra.hash ?? "sha256:one",
  };
  const definitions = Object.fromEntries(agents.map((parts) => [slugOf(parts), toDefinitions(parts)]));
  return { manifest, definitions, files: {} };
}

const slugOf = (parts: AgentParts): string => parts.slug ?? "tester";

function toManifest(parts: AgentParts): AgentManifest {
  const slug = slugOf(parts);
  return {
    slug,
    name: slug,
    description: `The agent ${slug}.`,
    model: { id: parts.model ?? "offline", params: [...(parts.params ?? [])] },
    instructions: {
      text: parts.instructions ?? "Be brief.",
      parts: [{ source: "bot/instructions.md:1", layer: "project" }],
    },
    tools: Object.entries(parts.tools ?? {}).map(([name, tool]) => toTool(name, tool)),
    skills: [],
    subagents: [],
    hooks: Object.entries(parts.hooks ?? {}).map(([name, hook]) => ({
      id: `hook:${name}`,
      source: `bot/hooks/${name}.ts:1`,
      layer: "project",
      name,
      events: Object.keys(hook.events),
    })),
    mcpConnections: [],
    hostConnections: [],
    channels: [],
    schedules: [],
    reminders: [],
    extensions: [],
    seeds: [],
    ...parts.manifest,
  };
}

function toTool(name: string, tool: ToolDefinition): ToolEntry {
  const { inputSchema, effect, needsApproval } = tool;
  const isZod = typeof inputSchema === "object" && inputSchema !== null && "_zod" in inputSchema;
  return {
    id: `tool:${name}`,
    source: `bot/tools/${name}.ts:1`,
    layer: "project",
    name,
    ...(tool.title !== undefined && { title: tool.title }),
    description: tool.description,
    execution: tool.execution ?? "server",
    effect: typeof effect === "function" ? "dynamic" : effect === "read" ? "read" : "write",
    needsApproval: needsApproval !== undefined && needsApproval !== false,
    validates: inputSchema === undefined ? "none" : isZod ? "standard" : "json-schema",
    inputSchema: isZod
      ? (z.toJSONSchema(inputSchema as z.ZodType, { io: "input" }) as Record<string, unknown>)
      : ((inputSchema as Record<string, unknown> | undefined) ?? { type: "object" }),
  };
}

function toDefinitions(parts: AgentParts): Record<string, unknown> {
  const entries = [
    ...Object.entries(parts.tools ?? {}).map(([name, tool]) => [`tool:${name}`, tool] as const),
    ...Object.entries(parts.hooks ?? {}).map(([name, hook]) => [`hook:${name}`, hook] as const),
    ...Object.entries(parts.definitions ?? {}),
  ];
  return Object.fromEntries(entries);
}
