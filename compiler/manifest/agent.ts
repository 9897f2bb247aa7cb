/** One agent of the manifest: the entries of its surface, each list by the slot table's plural. */
import type {
  AgentManifest,
  ArtifactsEntry,
  ChannelEntry,
  ConnectionEntry,
  Dynamic,
  ExtensionEntry,
  HookEntry,
  ModelSetting,
  ScheduleEntry,
  SeedEntry,
  SkillEntry,
  SubagentEntry,
  ToolEntry,
} from "../../runtime/manifest/schema.js";
import type { Definition } from "../analyze/definition.js";
import { qualify } from "../analyze/identity.js";
import { compareBytes } from "../bytes.js";
import type { Evaluated } from "../evaluate/evaluate.js";
import type { Facts } from "../evaluate/protocol.js";
import { isDisabled } from "../resolve/mounts.js";
import type { Surface, SurfaceEntry } from "../resolve/surface.js";
import type { Kind } from "../slots.js";
import type { CodeHash } from "./code-hash.js";
import type { FileStore } from "./files.js";
import { originOf, standing } from "./origin.js";
import type { Scripts } from "./scripts.js";
import { unreadFacts } from "./unread.js";

/** The model of an agent that names none. */
export const defaultModel: ModelSetting = {
  id: "grok-4.5",
  params: [
    { id: "effort", value: "high" },
    { id: "fast", value: "true" },
  ],
};

type Text = Dynamic<string>;

/** What an agent's entries are completed from. */
interface AgentSources {
  readonly files: FileStore;
  readonly scripts: Scripts;
  readonly codeHash: CodeHash;
}

/** @param evaluated Facts of definitions in code; they have been checked in the child, field by field. */
export function createAgent(
  surface: Surface,
  evaluated: Evaluated,
  { files, scripts, codeHash }: AgentSources,
): AgentManifest {
  const { slug, entries } = surface;
  const factsOf = ({ id, winner }: SurfaceEntry): Facts => {
    const facts = evaluated.facts(slug, id);
    return facts ?? (winner.form === "code" ? unreadFacts(winner) : givenFacts(winner));
  };
  const of = (kind: Kind) => entries.filter(({ winner }) => winner.entry.kind === kind);
  const named = (each: SurfaceEntry) => ({ ...originOf(each, surface), name: each.winner.name });
  /** Entries whose facts are the manifest's own fields. */
  const list = <T>(kind: Kind): T[] => of(kind).map((each) => ({ ...named(each), ...factsOf(each) }) as T);
  const only = (kind: Kind) => of(kind)[0];
  const presence = (kind: Kind) => {
    const found = only(kind);
    return found === undefined ? undefined : originOf(found, surface);
  };

  const agent = only("agent");
  const {
    instructions: inline,
    name,
    model = defaultModel,
    ...config
  } = agent === undefined ? ({} as Facts) : factsOf(agent);
  const artifacts = mergeArtifacts(of("artifacts"), surface, factsOf);
  return {
    slug,
    name: typeof name === "string" ? name : surface.name,
    ...(config as Partial<AgentManifest>),
    model: model as AgentManifest["model"],
    ...(agent === undefined ? {} : { source: originOf(agent, surface).source }),
    instructions: rootInstructions(of("instructions"), surface, factsOf, inline as Text | undefined, agent),
    tools: list<ToolEntry>("tool").map((tool) => {
      const text = scripts(slug, tool.id);
      const code = tool.needsApproval ? codeHash(slug, tool.id) : undefined;
      return {
        ...tool,
        ...(code === undefined ? {} : { code }),
        ...(text === undefined ? {} : { script: files.addText(`${tool.name}.mjs`, text) }),
      };
    }),
    skills: of("skill").map((each) => skill(each, named(each), factsOf(each), files)),
    subagents: of("subagent").map((each): SubagentEntry => {
      const { instructions, ...facts } = factsOf(each);
      const text = subagentInstructions(each, of("instructions"), factsOf) ?? (instructions as Text | undefined) ?? "";
      return { ...named(each), ...(facts as Omit<SubagentEntry, "instructions">), instructions: text };
    }),
    hooks: list<HookEntry>("hook"),
    mcpConnections: list<ConnectionEntry>("mcp-connection"),
    hostConnections: list<ConnectionEntry>("host-connection"),
    channels: list<ChannelEntry>("channel"),
    schedules: of("schedule").map((each) => schedule(each, named(each), factsOf(each))),
    reminders: list("reminder"),
    extensions: of("extension").map((each) => extension(each, surface, factsOf(each), artifacts)),
    ...(artifacts === undefined ? {} : { artifacts }),
    result: presence("result"),
    storage: presence("storage"),
    otel: presence("otel"),
    seeds: of("seed").map((each): SeedEntry => {
      const { id: _id, source, shadows, ...rest } = originOf(each, surface);
      const { entry } = each.winner;
      const hidden = shadows?.map((below) => ({ ...below, source: withoutLine(below.source) }));
      return {
        ...files.addFile(entry.name, entry.file),
        source: withoutLine(source),
        ...rest,
        ...(hidden === undefined ? {} : { shadows: hidden }),
      };
    }),
  };
}

/** Bytes have no lines that anyone counts. */
function withoutLine(source: string): string {
  return source.replace(/:\d+$/, "");
}

/** Text of an entry of the instructions slot: Markdown as written, or what its code returned. */
function textOf(each: SurfaceEntry, factsOf: (each: SurfaceEntry) => Facts): Text {
  return each.winner.prose?.body ?? (factsOf(each).text as Text | undefined) ?? "";
}

/** The root's own parts in byte order of their names, then those of extensions in mount order, with blank lines between. */
function rootInstructions(
  all: readonly SurfaceEntry[],
  surface: Surface,
  factsOf: (each: SurfaceEntry) => Facts,
  inline: Text | undefined,
  agent: SurfaceEntry | undefined,
): AgentManifest["instructions"] {
  const own = all.filter(({ winner }) => winner.entry.subagent === undefined);
  const ordered = [
    ...own.filter(({ winner }) => winner.entry.mount === undefined),
    ...surface.mounts.flatMap(({ namespace }) => own.filter(({ winner }) => winner.entry.mount === namespace)),
  ];
  const pieces = ordered.map((each) => ({ each, text: textOf(each, factsOf) }));
  if (inline !== undefined && agent !== undefined) pieces.unshift({ each: agent, text: inline });
  const text = compose(pieces.map((piece) => piece.text));
  const parts = pieces.map(({ each, text: own }) => {
    const part = standing(each.winner, surface);
    if (typeof text === "string") return part;
    return { ...part, id: each.id, ...(typeof own === "string" && { text: own }) };
  });
  return { text, parts };
}

function subagentInstructions(
  { id }: SurfaceEntry,
  all: readonly SurfaceEntry[],
  factsOf: (each: SurfaceEntry) => Facts,
): Text | undefined {
  const own = all.filter((each) => each.id === `${id}/instructions` || each.id.startsWith(`${id}/instructions/`));
  return own.length === 0 ? undefined : compose(own.map((each) => textOf(each, factsOf)));
}

function compose(texts: readonly Text[]): Text {
  const known = texts.filter((text) => typeof text === "string");
  if (known.length < texts.length) return { dynamic: true };
  const [only = ""] = known;
  return known.length <= 1 ? only : `${known.map((text) => text.trim()).join("\n\n")}\n`;
}

function skill(
  each: SurfaceEntry,
  named: Pick<SkillEntry, "id" | "source" | "layer" | "name">,
  facts: Facts,
  files: FileStore,
): SkillEntry {
  const { winner } = each;
  if (winner.prose === undefined) {
    const texts = Object.entries((facts.files ?? {}) as Record<string, string>);
    return {
      ...named,
      description: facts.description as Text,
      markdown: facts.markdown as Text,
      files: texts.map(([path, text]) => files.addText(path, text)).sort((a, b) => (a.path < b.path ? -1 : 1)),
    };
  }
  const { attributes, body } = winner.prose;
  const folder = winner.entry.file.slice(0, winner.entry.file.lastIndexOf("/") + 1);
  const description = typeof attributes.description === "string" ? attributes.description.trim() : "";
  return {
    ...named,
    description: description === "" ? firstLine(body) : description,
    markdown: body,
    files: winner.entry.files.map((file) => files.addFile(file.slice(folder.length), file)),
  };
}

/** First line with words, without the marks of a heading. */
function firstLine(body: string): string {
  const line = body.split("\n").find((each) => each.trim() !== "") ?? "";
  return line.replace(/^#+\s*/, "").trim();
}

function schedule(
  { winner }: SurfaceEntry,
  named: Pick<ScheduleEntry, "id" | "source" | "layer" | "name">,
  facts: Facts,
): ScheduleEntry {
  if (winner.prose === undefined) return { ...named, ...(facts as Pick<ScheduleEntry, "cron" | "form">) };
  const { cron, catchUp, overlap, description } = winner.prose.attributes;
  return {
    ...named,
    ...(typeof description === "string" ? { description } : {}),
    cron: String(cron),
    form: "markdown",
    prompt: winner.prose.body,
    ...(typeof catchUp === "boolean" ? { catchUp } : {}),
    ...(overlap === "skip" || overlap === "queue" ? { overlap } : {}),
  };
}

function extension(
  each: SurfaceEntry,
  surface: Surface,
  facts: Facts,
  artifacts: ArtifactsEntry | undefined,
): ExtensionEntry {
  const mount = surface.mounts.find(({ namespace }) => namespace === each.winner.name);
  const overlays = mount?.overlays ?? [];
  const kinds = artifacts?.kinds ?? [];
  return {
    ...originOf(each, surface),
    namespace: each.winner.name,
    ...(facts.description === undefined ? {} : { description: facts.description as Text }),
    ...settingsFrom(each.winner),
    // Of artifacts their kinds count, which only evaluation knows.
    contributes: (mount?.contributes ?? []).flatMap((id) =>
      id.startsWith("artifacts:")
        ? kinds.filter(({ from }) => from?.id === id).map(({ name }) => `artifacts:${name}`)
        : id,
    ),
    disabled: [...(mount?.disabled ?? [])],
    ...(overlays.length === 0
      ? {}
      : {
          overlays: overlays.map(({ id, winner, shadowed }) => ({
            id,
            source: standing(winner, surface).source,
            disables: isDisabled(winner),
            shadows: shadowed.map((hidden) => standing(hidden, surface)),
          })),
        }),
  };
}

/** The environment behind the settings of a mount, each variable and setting once. */
function settingsFrom({ env }: Definition): Pick<ExtensionEntry, "env"> {
  const known = new Map(env.map(({ name, field }) => [`${name}\0${field ?? ""}`, { name, field }] as const));
  if (known.size === 0) return {};
  return {
    env: [...known]
      .sort(([a], [b]) => compareBytes(a, b))
      .map(([, { name, field }]) => ({ name, ...(field === undefined ? {} : { setting: field }) })),
  };
}

/** The project's registry of artifact kinds and those of its extensions, under their namespaces, in one. */
function mergeArtifacts(
  all: readonly SurfaceEntry[],
  surface: Surface,
  factsOf: (each: SurfaceEntry) => Facts,
): ArtifactsEntry | undefined {
  const own = all.find(({ winner }) => winner.entry.mount === undefined);
  const first = own ?? all[0];
  if (first === undefined) return undefined;
  const parts = all.map((each) => ({
    ...each,
    facts: factsOf(each) as Pick<ArtifactsEntry, "kinds" | "agentTool" | "max">,
  }));
  const deciding = own === undefined ? parts : parts.filter(({ winner }) => winner === own.winner);
  return {
    ...originOf(first, surface),
    kinds: parts.flatMap(({ facts, ...each }) =>
      facts.kinds.map((kind) => {
        const { mount } = each.winner.entry;
        if (mount === undefined) return kind;
        return { ...kind, name: qualify(kind.name, mount), from: { ...originOf(each, surface), kind: kind.name } };
      }),
    ),
    agentTool: deciding.some(({ facts }) => facts.agentTool),
    max: Math.max(...deciding.map(({ facts }) => facts.max)),
  };
}

/** What a plugin's reader found out: agents of plugins are prose, and no code stands behind them. */
function givenFacts({ entry: { kind, part } }: Definition): Facts {
  if (kind !== "subagent" || part?.form !== "prose") return {};
  const { description, markdown, model, tools } = part;
  return {
    description,
    instructions: markdown,
    ...(model === undefined ? {} : { model: { id: model, params: [] } }),
    ...(tools === undefined ? {} : { tools: [...tools] }),
  };
}
