import type { AnalysisCache } from "../analyze/definition.js";
import { compareBytes } from "../bytes.js";
import { type Diagnostic, diagnostic, inOrder, type Result, type Span } from "../diagnostics/diagnostic.js";
import { separator } from "../scan/names.js";
import type { AgentTree, Entry, ProjectTree, TreeMount } from "../scan/tree.js";
import { slotOf } from "../slots.js";
import type { ProjectSource } from "../source.js";
import { type Mounted, mountModule } from "./extension.js";
import { createGround, type Ground, type ResolveModule } from "./ground.js";
import { mountPlugin } from "./plugin.js";
import { type MountTarget, readTarget } from "./target.js";

/**
 * Between scan and analysis: finds what each mount of a project stands for, and adds its entries as a further layer.
 * Syntax names the package, the linker's own resolution finds it; nothing of it runs.
 *
 * @param resolveModule How imports are resolved: the linker's.
 */
export async function mount(
  tree: ProjectTree,
  source: ProjectSource,
  resolveModule: ResolveModule,
  cache?: AnalysisCache,
): Promise<Result<ProjectTree>> {
  const ground = createGround(source, resolveModule, cache);
  const grown = await Promise.all(tree.agents.map((agent) => mountAll(agent, ground)));
  return {
    value: { ...tree, agents: grown.map(({ value }) => value) },
    diagnostics: inOrder(grown.flatMap(({ diagnostics }) => diagnostics)),
  };
}

async function mountAll(agent: AgentTree, ground: Ground): Promise<Result<AgentTree>> {
  const mounts = agent.entries.filter(({ kind, name }) => kind === "extension" && name !== "");
  if (mounts.length === 0) return { value: agent, diagnostics: [] };
  const mounted = await Promise.all(mounts.map((entry) => mountOne(entry, agent, ground)));
  const byNamespace = new Map(mounted.map((each) => [each.mount.namespace, each.mount]));
  const own = agent.entries.map((entry) => inlined(named(entry, byNamespace), byNamespace));
  const added = mounted.flatMap(({ entries }) => entries);
  return {
    value: {
      ...agent,
      entries: [...own, ...added],
      mounts: [...byNamespace.values()].sort((a, b) => compareBytes(a.namespace, b.namespace)),
    },
    diagnostics: [...mounted.flatMap(({ diagnostics }) => diagnostics), ...added.flatMap(checkLength)],
  };
}

async function mountOne({ name: namespace, file }: Entry, agent: AgentTree, ground: Ground): Promise<Mounted> {
  const own = { namespace, file };
  const facts = await ground.readFacts(file);
  const target: MountTarget = facts === undefined ? { form: "unknown" } : readTarget(file, facts);
  switch (target.form) {
    case "module":
      return mountModule(own, target, agent.dir, ground);
    case "plugin":
      return mountPlugin(own, target, agent.dir, overlaidServers(agent, namespace), ground);
    case "inline":
      return { mount: { ...own, form: "inline" }, entries: [], diagnostics: [] };
    case "unknown":
      return { mount: { ...own, form: "unknown" }, entries: [], diagnostics: unknownMount(file, target.at) };
  }
}

/** Nothing of it would be mounted, and nobody would know why. */
function unknownMount(file: string, at: Span | undefined): readonly Diagnostic[] {
  if (at === undefined) return [];
  return [
    diagnostic("mountUnknown", {
      message: `what ${file} mounts can't be told from its text`,
      at,
      help: 'call what you import from the package in the export itself: `export default ci({ … })`, or `export { default } from "@acme/ci"`',
    }),
  ];
}

function overlaidServers({ entries }: AgentTree, namespace: string): ReadonlySet<string> {
  const overlays = entries.filter(
    ({ layer, mount: of, kind }) => layer === "overlay" && of === namespace && kind === "mcp-connection",
  );
  return new Set(overlays.map(({ name }) => name));
}

/** The mount's own entry says which package it is of. */
function named(entry: Entry, mounts: ReadonlyMap<string, TreeMount>): Entry {
  const found = entry.kind === "extension" ? mounts.get(entry.name) : undefined;
  return found?.package === undefined ? entry : { ...entry, package: found.package };
}

/** An extension that the mount's folder itself defines: what stands beside `extension.ts` is not an overlay of anything. */
function inlined(entry: Entry, mounts: ReadonlyMap<string, TreeMount>): Entry {
  if (entry.layer !== "overlay" || mounts.get(entry.mount ?? "")?.form !== "inline") return entry;
  return { ...entry, layer: "extension" };
}

/** Models take names of tools up to 64 characters, the namespace included. Source: decision 29. */
function checkLength({ kind, name, mount: namespace = "", file }: Entry): readonly Diagnostic[] {
  const qualified = `${namespace}${separator}${name}`;
  if (slotOf(kind).naming !== "tool" || qualified.length <= 64) return [];
  return [
    diagnostic("badName", {
      message: `the tool name "${qualified}" is not allowed`,
      at: { file, line: 1, column: 1 },
      help: `use up to 64 letters, digits, _ and -, the namespace included: a namespace of ${Math.max(0, 62 - name.length)} fits`,
    }),
  ];
}
