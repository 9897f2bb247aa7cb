/** Outcomes of definitions whose modules, and everything below them, are as they were at an earlier run. */
import { createHash } from "node:crypto";
import path from "node:path";
import type { AnalysisCache } from "../analyze/definition.js";
import { isMade, plainFile } from "../link/input-names.js";
import type { Linked } from "../link/link.js";
import type { Stamps } from "../stamps.js";
import type { EntryOutcome, EvaluationEntry, RunReport } from "./protocol.js";

export type Environment = Readonly<Record<string, string>>;

export interface OutcomeCache {
  /** What the entry said when its modules were the same and the environment too. */
  find(entry: EvaluationEntry, env: Environment): EntryOutcome | undefined;
  keep(entry: EvaluationEntry, env: Environment, outcome: EntryOutcome): void;
  /** What the text read from the environment when it loaded without a fault. */
  findReads(env: Environment): RunReport["reads"] | undefined;
  keepReads(env: Environment, reads: RunReport["reads"]): void;
  /** False once a module is no longer what it was taken for: then nothing may be kept. */
  stands(): boolean;
}

/** Raise it when the facts of unchanged definitions would come out otherwise. */
const outcomeVersion = 3;

export function createOutcomeCache(cache: AnalysisCache, stamps: Stamps, linked: Linked, root: string): OutcomeCache {
  const hashes = moduleHashes(linked, root, stamps);
  const text = digest([linked.code.text]);
  const keyOf = (entry: EvaluationEntry, env: Environment): string => {
    const modules = ownModules(linked, entry);
    const own = modules.map((key) => `${key}\0${hashes.own.get(key)}`);
    // What no file holds is in the whole text.
    if (modules.some((key) => key.startsWith("bdk-generated:"))) own.push(text);
    return `outcome/${outcomeVersion}/${digest([entry.slug, entry.id, entry.kind, hashes.packages, JSON.stringify(env), ...own.sort()])}`;
  };
  const readsKey = (env: Environment): string => `reads/${outcomeVersion}/${digest([text, JSON.stringify(env)])}`;
  return {
    find: (entry, env) => cache.get(keyOf(entry, env)) as EntryOutcome | undefined,
    keep: (entry, env, outcome) => cache.put(keyOf(entry, env), outcome),
    findReads: (env) => cache.get(readsKey(env)) as RunReport["reads"] | undefined,
    keepReads: (env, reads) => cache.put(readsKey(env), reads),
    stands: () => stamps.stand(),
  };
}

/** Project modules that an entry reaches; packages are taken as one. */
function ownModules(linked: Linked, { slug, id }: EvaluationEntry): string[] {
  const start = linked.files.get(`${slug}\0${id}`);
  const seen = new Set<string>();
  const queue = start === undefined ? [] : [start];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    // A contribution of a package needs its mount, which is the project's own.
    if (seen.has(next) || (isPackage(next) && next !== start)) continue;
    seen.add(next);
    queue.push(...(linked.imports.get(next) ?? []));
  }
  return [...seen];
}

function moduleHashes({ imports, code }: Linked, root: string, stamps: Stamps) {
  const own = new Map<string, string>();
  const packages = createHash("sha256");
  for (const key of [...imports.keys()].sort()) {
    const { hash } = stamps.of(path.resolve(root, plainFile(key)));
    if (isPackage(key)) packages.update(`${key}\0${hash}\0`);
    else own.set(key, hash);
  }
  // Files that are read while loading may say as much as code does.
  for (const { path: name, file } of code.beside) packages.update(`${name}\0${stamps.of(file).hash}\0`);
  return { own, packages: packages.digest("hex") };
}

function isPackage(key: string): boolean {
  const file = plainFile(key);
  return isMade(file) || file.includes("node_modules/") || file.includes("dist/authoring/");
}

function digest(parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part).update("\0");
  return hash.digest("hex");
}
