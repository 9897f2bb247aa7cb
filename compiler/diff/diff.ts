import type { AgentManifest, Manifest } from "../../runtime/manifest/schema.js";
import { type Change, type Finding, levels, sides } from "./change.js";
import { withoutEchoes } from "./echoes.js";
import { byBytes, canonical, join, type Tolerance } from "./json.js";
import { type Candidate, matchRenames } from "./rename.js";
import { compareFields, type KeyedPair, pairByKey } from "./rule.js";
import { readNames, requiredNames } from "./rules/environment.js";
import { external } from "./rules/externals.js";
import { timing } from "./rules/schedule.js";
import { agentFields, entryKinds, instructionFields } from "./table.js";
import { mountUpgrades } from "./upgrade.js";

/**
 * Everything that differs between two manifests, the gravest first within each agent. Pure and deterministic:
 * `diff(a, a)` is empty, and `diff(b, a)` names the same places as `diff(a, b)` with the sides swapped.
 *
 * @example
 * const grave = diff(released, candidate).filter((change) => change.level === "breaking");
 */
export function diff(before: Manifest, after: Manifest): Change[] {
  const changes = [...compareProject(before, after), ...compareAgents(before.agents, after.agents)];
  // The hash covers all the rest, so it only has news when nothing else does: project code changed.
  const all = changes.length > 0 ? changes : compareHash(before, after);
  return all.sort(inOrder);
}

const exact: Tolerance = () => false;

function compareProject(before: Manifest, after: Manifest): Change[] {
  const skip = new Set(["agents", "env", "externals", "hash"]);
  const own = compareFields(
    before,
    after,
    { bdk: timing("bdk version", "compatible") },
    { path: "", tolerate: exact, skip },
  );
  const environment = compareFields(
    before.env,
    after.env,
    { required: requiredNames, read: readNames },
    { path: "", tolerate: exact },
  );
  return [
    ...own.map((finding) => ({ ...finding, entry: "manifest" })),
    ...environment.map((finding) => ({ ...finding, entry: "env" })),
    ...compareExternals(before, after),
  ];
}

function compareExternals(before: Manifest, after: Manifest): Change[] {
  return pairByKey(before.externals, after.externals, (each) => each.name).flatMap((pair): Change[] => {
    const entry = `external:${pair.key}`;
    if (pair.before !== undefined && pair.after !== undefined) {
      const found = compareFields(pair.before, pair.after, external, { path: "", tolerate: exact });
      return found.map((finding) => ({ ...finding, entry }));
    }
    const kind = pair.after === undefined ? "removed" : "added";
    const message = `${kind}: package outside the bundle`;
    return [{ entry, path: "", kind, level: "compatible", message, ...sides(pair.before, pair.after) }];
  });
}

function compareHash(before: Manifest, after: Manifest): Change[] {
  if (before.hash === after.hash) return [];
  const message = "project code changed; what it offers is the same";
  const [from, to] = [before.hash, after.hash];
  return [{ entry: "manifest", path: "/hash", kind: "changed", level: "compatible", message, before: from, after: to }];
}

function compareAgents(before: readonly AgentManifest[], after: readonly AgentManifest[]): Change[] {
  const pairs = pairByKey(before, after, (agent) => agent.slug);
  const fresh = new Map(pairs.flatMap((pair) => (pair.after && !pair.before ? [[pair.key, pair.after]] : [])));
  const gone = pairs.flatMap((pair) => (pair.before && !pair.after ? [candidate(pair.key, pair.before)] : []));
  const renames = matchRenames(
    gone,
    [...fresh].map(([key, agent]) => candidate(key, agent)),
  );
  const renamedTo = new Set(renames.values());
  return pairs.flatMap((pair): Change[] => {
    const successor = renames.get(pair.key);
    const now = successor === undefined ? pair.after : fresh.get(successor);
    if (pair.before !== undefined && now !== undefined)
      return comparePair(pair.key, pair.before, successor ?? pair.key, now);
    return renamedTo.has(pair.key) ? [] : [presence(pair)];
  });
}

function candidate(key: string, agent: AgentManifest): Candidate {
  const { slug: _slug, name: _name, source: _source, ...content } = agent;
  return { key, content, package: undefined, short: undefined };
}

function presence({ key, before, after }: KeyedPair<AgentManifest>): Change {
  const gone = after === undefined;
  const message = gone ? `agent ${key} removed` : `agent ${key} added`;
  const level = gone ? "breaking" : "compatible";
  return {
    agent: key,
    entry: "agent",
    path: "",
    kind: gone ? "removed" : "added",
    level,
    message,
    ...sides(before, after),
  };
}

function comparePair(slug: string, before: AgentManifest, newSlug: string, after: AgentManifest): Change[] {
  const tolerate = mountUpgrades(before, after);
  const skip = new Set<string>(["slug", "instructions", ...entryKinds.flatMap((kind) => kind.covers)]);
  const place = { agent: newSlug, ...(newSlug === slug ? {} : { previousAgent: slug }) };
  const rename: Finding = {
    path: join("", "slug"),
    kind: "renamed",
    level: "breaking",
    message: `renamed from ${slug}, and its URLs with it`,
    before: slug,
    after: newSlug,
  };
  const own = compareFields(before, after, agentFields, { path: "", tolerate, skip });
  const entries = entryKinds.flatMap((kind) => kind.compare(before, after, tolerate));
  const prose = compareFields(before.instructions, after.instructions, instructionFields, { path: "", tolerate });
  return [
    ...(newSlug === slug ? [] : [rename]).map((finding) => ({ ...finding, entry: "agent", ...place })),
    ...own.map((finding) => ({ ...finding, entry: "agent", ...place })),
    ...prose.map((finding) => ({ ...finding, entry: "instructions", ...place })),
    ...withoutEchoes(entries).map((finding) => ({ ...finding, ...place })),
  ];
}

function inOrder(a: Change, b: Change): number {
  return (
    byBytes(a.agent ?? "", b.agent ?? "") ||
    levels.indexOf(a.level) - levels.indexOf(b.level) ||
    byBytes(a.entry, b.entry) ||
    byBytes(a.path, b.path) ||
    byBytes(a.message, b.message) ||
    byBytes(canonical(a.after), canonical(b.after))
  );
}
