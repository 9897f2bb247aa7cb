import type { AgentManifest } from "../../runtime/manifest/schema.js";
import { type Finding, type Level, type PackageTransition, sides } from "./change.js";
import type { Tolerance } from "./json.js";
import { type Candidate, matchRenames } from "./rename.js";
import { compareFields, type FieldRules, pairByKey } from "./rule.js";
import { packageName } from "./upgrade.js";

/** What the table says about one kind of entry. */
export interface EntryKind<E> {
  /** The list in the agent's manifest; an optional single entry is a list of none or one. */
  readonly list: (agent: AgentManifest) => readonly E[];
  /** Keys of the agent that `list` covers. */
  readonly covers: readonly (keyof AgentManifest)[];
  /** Name of an entry in a change: its id. */
  readonly key: (entry: E) => string;
  readonly fields: FieldRules<E>;
  readonly added: (entry: E) => Verdict;
  readonly removed: (entry: E) => Verdict;
  readonly renamed: Level;
  /** What stays the same when an entry is only renamed; none for kinds that have nothing of the sort. */
  readonly content?: (entry: E) => unknown;
  /** Mounts report upgrades themselves, so theirs are never tolerated. */
  readonly reportsUpgrades?: boolean;
}

/** How grave, and what to say after `added` or `removed`. */
export type Verdict = Level | readonly [level: Level, words: string];

/** A finding with the entry it belongs to. */
export interface PlacedFinding extends Finding {
  readonly entry: string;
  readonly previousEntry?: string;
  readonly package?: PackageTransition;
}

/** A row of the table, its entry type closed over. */
export interface EntryComparer {
  readonly covers: readonly (keyof AgentManifest)[];
  compare(before: AgentManifest, after: AgentManifest, tolerate: Tolerance): PlacedFinding[];
}

interface Common {
  readonly package?: string | undefined;
}

/** Fields that a rename changes by itself. */
const renamedFields: ReadonlySet<string> = new Set(["id", "name", "namespace", "path", "source"]);
const strict: Tolerance = () => false;

/** Makes a row of the table: pairs entries by key, finds renames, and compares what is on both sides. */
export function entryKind<E extends Common>(kind: EntryKind<E>): EntryComparer {
  return {
    covers: kind.covers,
    compare(before, after, tolerance) {
      const tolerate = kind.reportsUpgrades === true ? strict : tolerance;
      const pairs = pairByKey(kind.list(before), kind.list(after), kind.key);
      const gone = new Map(pairs.flatMap((pair) => (pair.before && !pair.after ? [[pair.key, pair.before]] : [])));
      const fresh = new Map(pairs.flatMap((pair) => (pair.after && !pair.before ? [[pair.key, pair.after]] : [])));
      const renames = matchRenames(candidates(gone, kind), candidates(fresh, kind));
      const renamedTo = new Set(renames.values());
      return pairs.flatMap((pair): PlacedFinding[] => {
        const successor = pair.after === undefined ? renames.get(pair.key) : undefined;
        const now = successor === undefined ? pair.after : fresh.get(successor);
        if (successor !== undefined && pair.before !== undefined && now !== undefined) {
          return renamed(pair.key, pair.before, successor, now, kind, tolerate);
        }
        if (pair.before !== undefined && pair.after !== undefined) {
          const found = compareFields(pair.before, pair.after, kind.fields, { path: "", tolerate });
          return place(found, { entry: pair.key, ...packages(pair.before, pair.after) });
        }
        if (renamedTo.has(pair.key)) return [];
        return place([presence(pair, kind)], { entry: pair.key, ...packages(pair.before, pair.after) });
      });
    },
  };
}

function candidates<E extends Common>(entries: ReadonlyMap<string, E>, kind: EntryKind<E>): Candidate[] {
  return [...entries].map(([key, entry]) => {
    const short = key.includes("__") ? key.slice(key.indexOf("__") + 2) : undefined;
    const from = entry.package === undefined ? undefined : packageName(entry.package);
    return { key, content: kind.content?.(entry), package: from, short };
  });
}

function presence<E>(pair: { readonly before?: E; readonly after?: E }, kind: EntryKind<E>): Finding {
  const { before, after } = pair;
  const verdict =
    after === undefined ? (before === undefined ? "compatible" : kind.removed(before)) : kind.added(after);
  const [level, words] = typeof verdict === "string" ? [verdict, ""] : verdict;
  const kindOfChange = after === undefined ? "removed" : "added";
  return {
    path: "",
    kind: kindOfChange,
    level,
    message: `${kindOfChange}${words === "" ? "" : `: ${words}`}`,
    ...sides(before, after),
  };
}

function renamed<E extends Common>(
  previous: string,
  before: E,
  current: string,
  after: E,
  kind: EntryKind<E>,
  tolerate: Tolerance,
): PlacedFinding[] {
  const rename: Finding = {
    path: "",
    kind: "renamed",
    level: kind.renamed,
    message: `renamed from ${previous}`,
    before: previous,
    after: current,
  };
  const found = compareFields(before, after, kind.fields, { path: "", tolerate, skip: renamedFields });
  return place([rename, ...found], { entry: current, previousEntry: previous, ...packages(before, after) });
}

function packages(before: Common | undefined, after: Common | undefined): { readonly package?: PackageTransition } {
  if (before?.package === undefined && after?.package === undefined) return {};
  return {
    package: {
      ...(before?.package === undefined ? {} : { before: before.package }),
      ...(after?.package === undefined ? {} : { after: after.package }),
    },
  };
}

function place(findings: readonly Finding[], at: Omit<PlacedFinding, keyof Finding>): PlacedFinding[] {
  return findings.map((finding) => ({ ...finding, ...at }));
}
