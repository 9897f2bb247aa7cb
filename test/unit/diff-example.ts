import type { AgentManifest, Manifest, ToolEntry } from "../../runtime/manifest/schema.js";

const project = { layer: "project" } as const;
const fromCi = { layer: "extension", package: "@acme/ci@1.2.0" } as const;

export function tool(name: string, more: Partial<ToolEntry> = {}): ToolEntry {
  return {
    ...project,
    id: `tool:${name}`,
    name,
    source: `bot/tools/${name}.ts:4`,
    description: `Does what ${name} says, for the bot that asked.`,
    execution: "server",
    effect: "read",
    needsApproval: false,
    validates: "standard",
    inputSchema: { type: "object", properties: { reason: { type: "string" } }, required: ["reason"] },
    ...more,
  };
}

/** One project with something in every slot, and one mounted package. */
export function example(): Manifest {
  const agent: AgentManifest = {
    slug: "reviewer",
    name: "Reviewer",
    description: "Reviews pull requests.",
    source: "bot/agent.ts:3",
    model: { id: "grok-4.5", params: [{ id: "effort", value: "high" }] },
    instructions: {
      text: "You review.\nBe brief.\nBe kind.\n",
      parts: [
        { source: "bot/instructions.md", ...project },
        { source: "@acme/ci/instructions.md", ...fromCi },
      ],
    },
    builtins: ["read", "grep"],
    tools: [
      tool("approve_pr", {
        effect: "write",
        needsApproval: true,
        outputSchema: { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] },
      }),
      tool("ci__job_log", { ...fromCi, source: "@acme/ci/tools/job_log.ts:3" }),
      tool("ci__retry_job", { ...fromCi, source: "@acme/ci/tools/retry_job.ts:3" }),
    ],
    skills: [
      {
        ...project,
        id: "skill:pr-review",
        name: "pr-review",
        source: "bot/skills/pr-review.md:1",
        description: "How to review a pull request",
        markdown: "Read the diff first.\nThen read the tests.\nSay what is missing.\n",
        files: [{ path: "checklist.md", sha256: "aa", bytes: 10 }],
      },
    ],
    subagents: [
      {
        ...project,
        id: "subagent:scout",
        name: "scout",
        source: "bot/subagents/scout/agent.ts:3",
        description: "Looks around",
        instructions: "Look.\n",
      },
    ],
    hooks: [
      {
        ...project,
        id: "hook:audit",
        name: "audit",
        source: "bot/hooks/audit.ts:3",
        events: ["turn.completed", "action.result"],
      },
    ],
    mcpConnections: [
      {
        ...project,
        id: "mcp-connection:linear",
        name: "linear",
        source: "bot/mcp-connections/linear.ts:3",
        transport: "http",
        target: "https://mcp.linear.app",
      },
    ],
    hostConnections: [],
    channels: [
      {
        ...project,
        id: "channel:drive",
        name: "drive",
        source: "bot/channels/drive.ts:5",
        auth: ["localDevStrict", "bearerAuth"],
        routes: [
          { method: "POST", path: "/upload", bodySchema: { type: "object", properties: { name: { type: "string" } } } },
        ],
        events: ["message.completed"],
      },
    ],
    schedules: [
      {
        ...project,
        id: "schedule:nightly",
        name: "nightly",
        source: "bot/schedules/nightly.md:1",
        cron: "0 3 * * *",
        form: "markdown",
        prompt: "Tidy up.\n",
      },
    ],
    reminders: [{ ...project, id: "reminder:nudge", name: "nudge", source: "bot/reminders/nudge.ts:3" }],
    extensions: [
      {
        ...fromCi,
        id: "extension:ci",
        source: "bot/extensions/ci.ts:3",
        namespace: "ci",
        contributes: ["tool:ci__job_log", "tool:ci__retry_job"],
        disabled: [],
      },
    ],
    artifacts: {
      ...project,
      id: "artifacts",
      source: "bot/artifacts.ts:3",
      kinds: [
        {
          name: "report",
          description: "A report",
          schema: { type: "object", properties: { title: { type: "string" } } },
        },
      ],
      agentTool: false,
      max: 1000,
    },
    storage: { ...project, id: "storage", source: "bot/storage.ts:3" },
    seeds: [{ path: "notes.md", sha256: "bb", bytes: 7, source: "bot/sandbox/workspace/notes.md", ...project }],
  };
  return {
    manifestVersion: 1,
    bdk: "0.2.1",
    agents: [agent],
    env: { required: [], read: ["LINEAR_TOKEN"] },
    externals: [],
    hash: "sha256:0",
  };
}

/** The example after an edit; `edit` may change everything it is given. */
export function edited(edit: (agent: Draft<AgentManifest>, manifest: Draft<Manifest>) => void): Manifest {
  const manifest = structuredClone(example()) as Draft<Manifest>;
  const agent = manifest.agents[0];
  if (agent === undefined) throw new Error("the example has one agent");
  edit(agent, manifest);
  return manifest as Manifest;
}

export type Draft<T> = T extends object ? { -readonly [K in keyof T]: Draft<T[K]> } : T;
