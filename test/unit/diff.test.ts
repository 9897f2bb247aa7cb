import { describe, expect, it } from "vitest";
import { diff } from "../../compiler/diff/diff.js";
import type { AgentManifest, Manifest } from "../../runtime/manifest/schema.js";
import { type Draft, edited, example, tool } from "./diff-example.js";

type Edit = (agent: Draft<AgentManifest>, manifest: Draft<Manifest>) => void;
/** `level kind entry path`, one a change. */
type Row = readonly [title: string, edit: Edit, ...changes: readonly string[]];

function first<T>(list: readonly T[]): T {
  const [item] = list;
  if (item === undefined) throw new Error("the example has one");
  return item;
}

// biome-ignore format: one row a line
const rows: readonly Row[] = [
  ["tool added", (agent) => void agent.tools.push(tool("merge")), "compatible added tool:merge "],
  ["tool removed", (agent) => void agent.tools.shift(), "breaking removed tool:approve_pr "],
  ["a mount's tool removed", (agent) => { agent.tools = agent.tools.filter(({ id }) => id !== "tool:ci__job_log"); first(agent.extensions).contributes = ["tool:ci__retry_job"]; }, "breaking removed tool:ci__job_log "],
  ["a mount's tool added", (agent) => { agent.tools.push(tool("ci__more")); first(agent.extensions).contributes.push("tool:ci__more"); }, "compatible added tool:ci__more "],
  ["a contribution that nothing else tells of", (agent) => void first(agent.extensions).contributes.push("tool:ci__more"), "compatible added extension:ci /contributes/tool:ci__more"],
  ["a mount's kind added", (agent) => { agent.artifacts?.kinds.push({ name: "ci__log", description: "A log", from: { id: "artifacts:ci", kind: "log", source: "@acme/ci/artifacts.ts:3", layer: "extension", package: "@acme/ci@1.2.0" } }); first(agent.extensions).contributes.push("artifacts:ci__log"); }, "compatible added artifacts /kinds/ci__log"],
  ["tool renamed", (agent) => Object.assign(first(agent.tools), { id: "tool:accept_pr", name: "accept_pr", source: "bot/tools/accept_pr.ts:4" }), "breaking renamed tool:accept_pr "],
  ["effect read to write", (agent) => { agent.tools[1] = { ...tool("ci__job_log"), ...agent.tools[1], effect: "write" }; }, "risky changed tool:ci__job_log /effect"],
  ["effect write to read", (agent) => { first(agent.tools).effect = "read"; }, "compatible changed tool:approve_pr /effect"],
  ["effect write to dynamic", (agent) => { first(agent.tools).effect = "dynamic"; }, "compatible changed tool:approve_pr /effect"],
  ["approval dropped", (agent) => { first(agent.tools).needsApproval = false; }, "risky changed tool:approve_pr /needsApproval"],
  ["timeout shortened", (agent) => { first(agent.tools).timeoutMs = 5000; }, "risky added tool:approve_pr /timeoutMs"],
  ["moved to the agent's side", (agent) => { first(agent.tools).execution = "agent"; }, "breaking changed tool:approve_pr /execution"],
  ["no longer validated", (agent) => { first(agent.tools).validates = "none"; }, "risky changed tool:approve_pr /validates"],
  ["new required input", (agent) => { first(agent.tools).inputSchema = { type: "object", properties: { reason: { type: "string" }, pr: { type: "number" } }, required: ["reason", "pr"] }; }, "breaking added tool:approve_pr /inputSchema/properties/pr"],
  ["output field removed", (agent) => { first(agent.tools).outputSchema = { type: "object" }; }, "breaking removed tool:approve_pr /outputSchema/properties/ok"],
  ["output no longer described", (agent) => { delete first(agent.tools).outputSchema; }, "breaking removed tool:approve_pr /outputSchema"],
  ["tool description", (agent) => { first(agent.tools).description = "Approves."; }, "compatible changed tool:approve_pr /description"],
  ["definition moved down a line", (agent) => { first(agent.tools).source = "bot/tools/approve_pr.ts:5"; }, "compatible changed tool:approve_pr /source"],
  ["an overlay takes over", (agent) => Object.assign(agent.tools[1] ?? {}, { layer: "overlay", shadows: [{ source: "@acme/ci/tools/job_log.ts:3", layer: "extension", package: "@acme/ci@1.2.0" }] }), "risky changed tool:ci__job_log /layer", "compatible added tool:ci__job_log /shadows"],
  ["skill text", (agent) => { first(agent.skills).markdown = "Read the tests first.\n"; }, "compatible changed skill:pr-review /markdown"],
  ["skill file", (agent) => { first(agent.skills).files = [{ path: "checklist.md", sha256: "cc", bytes: 12 }]; }, "compatible changed skill:pr-review /files/checklist.md"],
  ["skill renamed", (agent) => Object.assign(first(agent.skills), { id: "skill:review", name: "review" }), "compatible renamed skill:review "],
  ["skill removed", (agent) => { agent.skills = []; }, "risky removed skill:pr-review "],
  ["subagent instructions", (agent) => { first(agent.subagents).instructions = "Look twice.\n"; }, "compatible changed subagent:scout /instructions"],
  ["subagent gets a shell", (agent) => { first(agent.subagents).tools = ["read", "shell"]; }, "risky added subagent:scout /tools", "compatible added subagent:scout /tools"],
  ["hook no longer sees results", (agent) => { first(agent.hooks).events = ["turn.completed"]; }, "risky removed hook:audit /events/action.result"],
  ["hook removed", (agent) => { agent.hooks = []; }, "risky removed hook:audit "],
  ["connection added", (agent) => void agent.mcpConnections.push({ ...first(agent.mcpConnections), id: "mcp-connection:sentry", name: "sentry", target: "https://mcp.sentry.dev", transport: "stdio" }), "risky added mcp-connection:sentry "],
  ["new network host", (agent) => { first(agent.mcpConnections).target = "https://evil.test"; }, "risky changed mcp-connection:linear /target"],
  ["host depends on the environment", (agent) => { first(agent.mcpConnections).target = { dynamic: true }; }, "risky changed mcp-connection:linear /target"],
  ["auth: one more way in", (agent) => { first(agent.channels).auth = ["localDevStrict", "bearerAuth", "oidc"]; }, "risky changed channel:drive /auth"],
  ["auth: everyone", (agent) => { first(agent.channels).auth = ["allowAll"]; }, "risky changed channel:drive /auth"],
  ["auth dropped", (agent) => { delete first(agent.channels).auth; }, "risky removed channel:drive /auth"],
  ["auth tightened", (agent) => { first(agent.channels).auth = ["bearerAuth"]; }, "breaking changed channel:drive /auth"],
  ["route added behind auth", (agent) => void first(agent.channels).routes.push({ method: "GET", path: "/" }), "compatible added channel:drive /routes/GET ~1"],
  ["route added without auth", (agent) => { first(agent.channels).auth = ["allowAll"]; first(agent.channels).routes.push({ method: "GET", path: "/" }); }, "risky changed channel:drive /auth", "risky added channel:drive /routes/GET ~1"],
  ["route removed", (agent) => { first(agent.channels).routes = []; }, "breaking removed channel:drive /routes/POST ~1upload"],
  ["route body narrowed", (agent) => { first(agent.channels).routes = [{ method: "POST", path: "/upload", bodySchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] } }]; }, "breaking changed channel:drive /routes/POST ~1upload/bodySchema/properties/name"],
  ["open channel added", (agent) => void agent.channels.push({ ...first(agent.channels), id: "channel:open", name: "open", auth: [], routes: [{ method: "POST", path: "/" }] }), "risky added channel:open "],
  ["cron", (agent) => { first(agent.schedules).cron = "* * * * *"; }, "risky changed schedule:nightly /cron"],
  ["schedule prompt", (agent) => { first(agent.schedules).prompt = "Tidy up well.\n"; }, "compatible changed schedule:nightly /prompt"],
  ["schedule removed", (agent) => { agent.schedules = []; }, "risky removed schedule:nightly "],
  ["reminder removed", (agent) => { agent.reminders = []; }, "breaking removed reminder:nudge "],
  ["artifact kind removed", (agent) => { if (agent.artifacts) agent.artifacts.kinds = []; }, "breaking removed artifacts /kinds/report"],
  ["artifact field removed", (agent) => { if (agent.artifacts) agent.artifacts.kinds = [{ name: "report", description: "A report", schema: { type: "object" } }]; }, "breaking removed artifacts /kinds/report/schema/properties/title"],
  ["storage gone", (agent) => { delete agent.storage; }, "risky removed storage "],
  ["result appears", (agent) => { agent.result = { id: "result", source: "bot/result.ts:3", layer: "project" }; }, "risky added result "],
  ["seed changed", (agent) => { first(agent.seeds).sha256 = "dd"; }, "compatible changed seed:notes.md /sha256"],
  ["seed renamed", (agent) => { first(agent.seeds).path = "todo.md"; }, "compatible renamed seed:todo.md "],
  ["instructions", (agent) => { agent.instructions.text = "You review.\nBe kind.\n"; }, "compatible changed instructions /text"],
  ["model", (agent) => { agent.model = { id: "openai/gpt-5", params: [{ id: "effort", value: "low" }] }; }, "risky changed agent /model/id", "compatible changed agent /model/params/effort"],
  ["model from the environment", (agent) => { agent.model = { dynamic: true }; }, "risky changed agent /model"],
  ["built-in shell allowed", (agent) => { agent.builtins = ["read", "grep", "shell"]; }, "risky changed agent /builtins"],
  ["allowlist dropped", (agent) => { delete agent.builtins; }, "risky removed agent /builtins"],
  ["reminder tools", (agent) => { agent.builtinTools = { reminders: true }; }, "risky changed agent /builtinTools/reminders"],
  ["sandbox off", (agent) => { agent.local = { sandbox: false }; }, "risky changed agent /local/sandbox"],
  ["env name required", (_agent, manifest) => { manifest.env.required = ["LINEAR_TOKEN"]; }, "risky added env /required/LINEAR_TOKEN"],
  ["env name no longer read", (_agent, manifest) => { manifest.env.read = []; }, "compatible removed env /read/LINEAR_TOKEN"],
  ["external package", (_agent, manifest) => void manifest.externals.push({ name: "sharp", version: "0.33.0", reason: "native" }), "compatible added external:sharp "],
  ["bdk itself", (_agent, manifest) => { manifest.bdk = "0.3.0"; }, "compatible changed manifest /bdk"],
  ["code only", (_agent, manifest) => { manifest.hash = "sha256:1"; }, "compatible changed manifest /hash"],
  ["hash beside another change", (agent, manifest) => { manifest.hash = "sha256:1"; agent.name = "R"; }, "compatible changed agent /name"],
  ["slug renamed", (agent) => { agent.slug = "critic"; }, "breaking renamed agent /slug"],
  ["agent added", (agent, manifest) => void manifest.agents.push({ ...agent, slug: "other", tools: [], skills: [], subagents: [], instructions: { text: "Other words altogether", parts: [] }, channels: [] }), "compatible added agent "],
  ["agent removed", (_agent, manifest) => { manifest.agents = []; }, "breaking removed agent "],
  ["field that no rule knows", (agent) => { Object.assign(first(agent.tools), { temperature: 3 }); }, "risky added tool:approve_pr /temperature"],
  ["field of the agent that no rule knows", (agent) => { Object.assign(agent, { hosting: { egress: ["a"] } }); }, "risky added agent /hosting"],
];

describe("what a change of the manifest means", () => {
  it.each(rows.map(([title, edit, ...expected]) => ({ title, edit, expected })))("$title", ({ edit, expected }) => {
    const changes = diff(example(), edited(edit));
    expect(changes.map((each) => `${each.level} ${each.kind} ${each.entry} ${each.path}`)).toEqual(expected);
  });

  it("shows prose as a line diff", () => {
    const [change] = diff(
      example(),
      edited((agent) => {
        agent.instructions.text = "You review.\nBe kind.\n";
      }),
    );
    expect(change?.textDiff).toBe("@@ -1,3 +1,2 @@\n You review.\n-Be brief.\n Be kind.");
  });

  it("names the agent, and both names of what was renamed", () => {
    const [rename] = diff(
      example(),
      edited((agent) => Object.assign(first(agent.skills), { id: "skill:review", name: "review" })),
    );
    expect(rename).toMatchObject({ agent: "reviewer", entry: "skill:review", previousEntry: "skill:pr-review" });
  });

  it("follows a rename through small edits", () => {
    const after = edited((agent) => {
      Object.assign(first(agent.tools), { id: "tool:accept_pr", name: "accept_pr" });
      first(agent.tools).description = "Does what accept_pr says, for the bot that asked.";
    });
    expect(diff(example(), after).map((each) => `${each.kind} ${each.entry} ${each.path}`)).toEqual([
      "renamed tool:accept_pr ",
      "changed tool:accept_pr /description",
    ]);
  });

  it("takes a tool with other words and other input for another tool", () => {
    const after = edited((agent) => {
      agent.tools[0] = tool("notify", {
        description: "Posts a message to a room",
        inputSchema: { type: "object", properties: { room: { type: "string" } } },
      });
    });
    expect(diff(example(), after).map((each) => `${each.kind} ${each.entry}`)).toEqual([
      "removed tool:approve_pr",
      "added tool:notify",
    ]);
  });
});

describe("an extension upgrade", () => {
  const after = edited((agent) => {
    const upgraded = { package: "@acme/ci@2.0.0" };
    for (const each of agent.tools.slice(1)) Object.assign(each, upgraded);
    for (const part of agent.instructions.parts.slice(1)) Object.assign(part, upgraded);
    Object.assign(first(agent.extensions), upgraded, { contributes: ["tool:ci__job_log"] });
    Object.assign(agent.tools[1] ?? {}, { effect: "write" });
    agent.tools.splice(2, 1);
    agent.instructions.text += "Read the log first.\n";
  });
  const changes = diff(example(), after);

  it("is said once, by the mount", () => {
    expect(changes.filter((each) => each.path.endsWith("/package") || each.path === "/parts")).toMatchObject([
      { entry: "extension:ci", path: "/package", before: "@acme/ci@1.2.0", after: "@acme/ci@2.0.0" },
    ]);
  });

  it("stands behind every change it brings", () => {
    expect(changes.map((each) => [each.level, each.entry, each.package])).toEqual([
      ["breaking", "tool:ci__retry_job", { before: "@acme/ci@1.2.0" }],
      ["risky", "tool:ci__job_log", { before: "@acme/ci@1.2.0", after: "@acme/ci@2.0.0" }],
      ["compatible", "extension:ci", { before: "@acme/ci@1.2.0", after: "@acme/ci@2.0.0" }],
      ["compatible", "instructions", undefined],
    ]);
  });

  it("is named where it has a part in the instructions", () => {
    expect(changes.find((each) => each.entry === "instructions")?.message).toBe(
      "text changed; it has a part of @acme/ci@1.2.0 → @acme/ci@2.0.0",
    );
  });

  it("is one mount under another name when the namespace changes", () => {
    const moved = edited((agent) => {
      for (const each of agent.tools.slice(1)) {
        const name = each.name.replace("ci__", "build__");
        Object.assign(each, { name, id: `tool:${name}` });
      }
      Object.assign(first(agent.extensions), {
        id: "extension:build",
        namespace: "build",
        source: "bot/extensions/build.ts:3",
        contributes: ["tool:build__job_log", "tool:build__retry_job"],
      });
    });
    expect(
      diff(example(), moved)
        .filter((each) => each.kind === "renamed")
        .map((each) => [each.previousEntry, each.entry]),
    ).toEqual([
      ["tool:ci__job_log", "tool:build__job_log"],
      ["tool:ci__retry_job", "tool:build__retry_job"],
      ["extension:ci", "extension:build"],
    ]);
  });
});
