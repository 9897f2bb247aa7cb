/** `bdk info --why ID`: which definition holds a name, what it hides, and through which mount it came. */
import { suggest } from "../../compiler/diagnostics/suggest.js";
import type { AgentManifest } from "../../runtime/manifest/schema.js";
import { columns } from "../ui/columns.js";
import type { Sink } from "../ui/sink.js";

/** One definition under a name. */
export interface WhyLink {
  /** What becomes of it: it holds the name, takes the name away, or is hidden by what stands above it. */
  readonly role: "wins" | "disables" | "hidden";
  readonly layer: string;
  /** File and line. */
  readonly source: string;
  readonly package?: string;
}

/** Why a name is what it is. */
export interface Why {
  readonly agent: string;
  readonly id: string;
  readonly status: "active" | "disabled";
  /** Strongest first. */
  readonly chain: readonly WhyLink[];
  /** The mount that brought it. */
  readonly mount?: { readonly namespace: string; readonly source: string; readonly package?: string };
}

interface Named {
  readonly id: string;
  readonly layer: string;
  readonly source: string;
  readonly package?: string | undefined;
  readonly shadows?: readonly Omit<Named, "id" | "shadows">[] | undefined;
}

/**
 * Looks a name up: an id (`tool:ci__job_log`), or what follows its colon.
 *
 * @returns one answer for each entry of that name; none when there is no such
 */
export function explainWhy(agent: AgentManifest, name: string): readonly Why[] {
  const fits = (id: string) =>
    id === name ||
    id.slice(id.indexOf(":") + 1) === name ||
    (name === "instructions" && id.startsWith("instructions/"));
  const active = entriesOf(agent).filter(({ id }) => fits(id));
  const gone = agent.extensions.flatMap(({ overlays = [] }) =>
    overlays.filter(({ disables, id }) => disables && fits(id)),
  );
  return [
    ...active.map(
      (entry): Why => ({
        ...toWhy(agent, entry.id, "active"),
        chain: [linkOf("wins", entry), ...hidden(entry.shadows)],
      }),
    ),
    ...gone.map(
      (overlay): Why => ({
        ...toWhy(agent, overlay.id, "disabled"),
        chain: [{ role: "disables", layer: "overlay", source: overlay.source }, ...hidden(overlay.shadows)],
      }),
    ),
  ];
}

/** The id that was meant. */
export function suggestId(agents: readonly AgentManifest[], name: string): string | undefined {
  const ids = agents.flatMap((agent) => [
    ...entriesOf(agent).map(({ id }) => id),
    ...agent.extensions.flatMap(({ disabled }) => disabled),
  ]);
  const near = suggest(name, ids);
  if (near !== undefined) return near;
  const bare = suggest(
    name,
    ids.map((id) => id.slice(id.indexOf(":") + 1)),
  );
  return ids.find((id) => id.slice(id.indexOf(":") + 1) === bare);
}

function entriesOf(agent: AgentManifest): readonly Named[] {
  const { artifacts, result, storage, otel } = agent;
  const kinds = (artifacts?.kinds ?? []).map(
    ({ name, from }): Named => ({ ...(from ?? (artifacts as Named)), id: `artifacts:${name}` }),
  );
  return [
    ...agent.tools,
    ...agent.skills,
    ...agent.subagents,
    ...agent.hooks,
    ...agent.mcpConnections,
    ...agent.hostConnections,
    ...agent.channels,
    ...agent.schedules,
    ...agent.reminders,
    ...agent.extensions,
    ...agent.seeds.map((seed) => ({ ...seed, id: `seed:${seed.path}` })),
    ...ownTexts(agent),
    ...textsOfMounts(agent),
    ...kinds,
    ...[artifacts, result, storage, otel].flatMap((entry) => entry ?? []),
    ...(agent.source === undefined ? [] : [{ id: "agent", layer: "project", source: agent.source }]),
  ];
}

/** The project's own instructions: the file, each of several, or `agent.ts` that has them inline. */
function ownTexts({ instructions }: AgentManifest): readonly Named[] {
  return instructions.parts.flatMap((part): Named[] => {
    if (part.layer !== "project") return [];
    const name = /(?:^|\/)instructions\/(.+)\.\w+:\d+$/.exec(part.source)?.[1];
    return [{ ...part, id: name === undefined ? "instructions" : `instructions/${name}` }];
  });
}

/** Instructions of extensions. Only parts of a text that is not known yet have ids; the others are found by their places. */
function textsOfMounts({ extensions, instructions }: AgentManifest): readonly Named[] {
  const parts = instructions.parts.filter(({ id, layer }) => id === undefined && layer === "extension");
  return extensions.flatMap((mount) =>
    mount.contributes.flatMap((id): Named[] => {
      const [, part] = /^instructions:[^/]*(?:\/(.*))?$/.exec(id) ?? [id, null];
      if (part === null) return [];
      const stem = part === undefined ? "instructions" : `instructions/${part}`;
      const own = overlayOf(mount, id) ?? parts.find((each) => each.package === mount.package && stands(each, stem));
      return own === undefined ? [] : [{ ...own, id }];
    }),
  );
}

/** Whether an origin is the file of that name, whatever its ending. */
function stands({ source }: Pick<Named, "source">, stem: string): boolean {
  return source.replace(/\.\w+:\d+$/, "").endsWith(`/${stem}`);
}

function overlayOf({ overlays = [] }: AgentManifest["extensions"][number], id: string): Omit<Named, "id"> | undefined {
  const found = overlays.find((each) => each.id === id && !each.disables);
  return found === undefined ? undefined : { layer: "overlay", source: found.source, shadows: found.shadows };
}

function toWhy(agent: AgentManifest, id: string, status: Why["status"]): Omit<Why, "chain"> {
  const mount = mountOf(agent, id);
  return {
    agent: agent.slug,
    id,
    status,
    ...(mount === undefined
      ? {}
      : {
          mount: {
            namespace: mount.namespace,
            source: mount.source,
            ...(mount.package === undefined ? {} : { package: mount.package }),
          },
        }),
  };
}

function mountOf({ extensions }: AgentManifest, id: string): AgentManifest["extensions"][number] | undefined {
  return extensions.find(
    ({ namespace, contributes, disabled }) =>
      contributes.includes(id) || disabled.includes(id) || id === `artifacts:${namespace}`,
  );
}

function hidden(shadows: Named["shadows"]): readonly WhyLink[] {
  return [...(shadows ?? [])].reverse().map((each) => linkOf("hidden", each));
}

function linkOf(role: WhyLink["role"], { layer, source, package: from }: Omit<Named, "id" | "shadows">): WhyLink {
  return { role, layer, source, ...(from === undefined ? {} : { package: from }) };
}

/** For people: one block an answer. */
export function renderWhy(answers: readonly Why[], sink: Sink): string {
  const { bold, cyan, dim } = sink.colors;
  const lines = answers.flatMap(({ agent, id, status, chain, mount }) => [
    `${bold(id)} ${dim(`of ${agent}`)}${status === "disabled" ? ", disabled" : ""}`,
    ...columns(
      [
        ...chain.map(({ role, layer, source, package: from = "" }) => [role, layer, cyan(source), dim(from)]),
        ...(mount === undefined
          ? []
          : [["mounted", `as ${mount.namespace}`, cyan(mount.source), dim(mount.package ?? "")]]),
      ],
      { indent: "  " },
    ),
    "",
  ]);
  return lines.join("\n");
}
