import type { AgentInfo } from "../../runtime/host/info.js";
import type { Manifest } from "../../runtime/manifest/schema.js";
import { columns } from "../ui/columns.js";
import type { Sink } from "../ui/sink.js";

/** A heading and its rows; a part without rows is not shown. */
interface Part {
  readonly title: string;
  readonly rows: readonly (readonly string[])[];
  /** How many there are, when some take several rows. */
  readonly count?: number;
}

/** What `bdk info` prints: each agent's surface, and where every entry comes from. */
export function renderInfo(agents: readonly AgentInfo[], manifest: Manifest, sink: Sink): string {
  const width = sink.isTerminal ? sink.columns : undefined;
  const { bold, cyan, dim } = sink.colors;
  const lines: string[] = [];
  for (const agent of agents) {
    lines.push(`${bold(agent.name)} ${dim(`/${agent.slug}`)}`);
    if (typeof agent.description === "string") lines.push(`  ${agent.description}`);
    lines.push(
      ...columns(
        facts(agent).map(([label = "", ...rest]) => [dim(label), ...rest]),
        { indent: "  ", ...(width === undefined ? {} : { width }) },
      ),
    );
    for (const { title, rows, count = rows.length } of parts(agent)) {
      if (rows.length === 0) continue;
      lines.push("", `  ${bold(title)} ${dim(`(${count})`)}`);
      const painted = rows.map(([name = "", ...rest]) => [cyan(name), ...rest.slice(0, -1), dim(rest.at(-1) ?? "")]);
      lines.push(...columns(painted, { indent: "    ", ...(width === undefined ? {} : { width }) }));
    }
    lines.push("");
  }
  const { read, required } = manifest.env;
  if (read.length > 0) {
    lines.push(
      `${bold("environment")} ${read.map((name) => (required.includes(name) ? `${name} (required)` : name)).join(", ")}`,
      "",
    );
  }
  return lines.join("\n");
}

function facts(agent: AgentInfo): readonly (readonly string[])[] {
  const { instructions } = agent;
  const sources = instructions.parts.map((part) => part.source).join(", ");
  return [
    ["model", modelText(agent.model)],
    [
      "instructions",
      `${"chars" in instructions ? `${instructions.chars} characters` : "depend on the environment"}  ${sources}`,
    ],
    ...(agent.builtins === undefined ? [] : [["built-in tools", agent.builtins.join(", ") || "none"]]),
  ];
}

function modelText(model: AgentInfo["model"]): string {
  if (!("id" in model)) return "depends on the environment";
  const params = model.params.map((param) => `${param.id}=${param.value}`).join(" ");
  return params === "" ? model.id : `${model.id}  ${params}`;
}

function parts(agent: AgentInfo): readonly Part[] {
  return [
    {
      title: "tools",
      rows: agent.tools.map((tool) => [
        tool.name,
        [tool.effect, tool.execution === "agent" ? "agent" : "", tool.needsApproval ? "approval" : ""]
          .filter(Boolean)
          .join(" "),
        text(tool.description),
        tool.source,
      ]),
    },
    { title: "skills", rows: agent.skills.map((skill) => [skill.name, text(skill.description), skill.source]) },
    { title: "subagents", rows: agent.subagents.map((each) => [each.name, text(each.description), each.source]) },
    {
      title: "connections",
      rows: agent.mcpConnections.map((each) => [each.name, each.transport, text(each.target), each.source]),
    },
    {
      title: "channels",
      rows: agent.channels.map((each) => [
        each.name,
        each.routes.map((route) => `${route.method} ${route.path}`).join(", "),
        each.source,
      ]),
    },
    {
      title: "schedules",
      rows: agent.schedules.map((each) => [
        each.name,
        text(each.cron),
        each.next === undefined ? "" : `next ${each.next.slice(0, 16).replace("T", " ")} UTC`,
        each.source,
      ]),
    },
    {
      title: "reminders",
      rows: agent.reminders.map((each) => [
        each.name,
        each.description === undefined ? "" : text(each.description),
        each.source,
      ]),
    },
    { title: "hooks", rows: agent.hooks.map((hook) => [hook.name, hook.events.join(", "), hook.source]) },
    { title: "extensions", rows: agent.extensions.flatMap(mountRows), count: agent.extensions.length },
    {
      title: "artifacts",
      rows: (agent.artifacts?.kinds ?? []).map((kind) => [kind.name, text(kind.description)]),
    },
  ];
}

/** First line of a text, or what stands for one that only the running server knows. */
function text(value: unknown): string {
  if (typeof value !== "string") return "depends on the environment";
  const line = value.trim().split("\n", 1)[0] ?? "";
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
}

/** One row a mount, and one below it for each kind of what it adds and for what overlays take away. */
function mountRows(mount: AgentInfo["extensions"][number]): readonly (readonly string[])[] {
  const replaced = (mount.overlays ?? []).filter(({ disables }) => !disables).map(({ id }) => id);
  const rows = [
    ...[...byKind(mount.contributes)].map(([kind, names]) => [kind, names.join(", ")]),
    ["replaced", replaced.join(", ")],
    ["disabled", mount.disabled.join(", ")],
  ];
  const description = mount.description === undefined ? "" : `  ${text(mount.description)}`;
  return [
    [mount.namespace, mount.package ?? "", `${mount.source}${description}`],
    ...rows.filter(([, names]) => names !== "").map(([label = "", names = ""]) => ["", label, names]),
  ];
}

function byKind(ids: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const kinds = new Map<string, string[]>();
  for (const id of ids) {
    const kind = id.split(":", 1)[0] ?? id;
    kinds.set(kind, [...(kinds.get(kind) ?? []), id.slice(kind.length + 1)]);
  }
  return kinds;
}
