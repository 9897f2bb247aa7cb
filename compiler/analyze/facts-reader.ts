import { decodeText, type ProjectSource } from "../source.js";
import { hashOf } from "../stamps.js";
import type { AnalysisCache } from "./definition.js";
import type { ModuleFacts } from "./facts.js";

/** Raise it whenever the facts of an unchanged file would come out otherwise. */
const factsVersion = 3;

export type FactsReader = (file: string) => Promise<ModuleFacts>;

/** Reads the facts of modules, each text once: from the cache, or by parsing it. */
export function factsReader(source: ProjectSource, cache: AnalysisCache | undefined): FactsReader {
  const read = new Map<string, ModuleFacts>();
  return async (file) => {
    const ending = file.slice(file.lastIndexOf("."));
    const keyOf = (hash: string) => `facts/${factsVersion}/${ending.slice(1)}/${hash}`;
    const seen = keyOf(source.hash(file));
    const known = read.get(seen) ?? cachedFacts(cache, seen);
    if (known !== undefined) {
      read.set(seen, known);
      return known;
    }
    // ts-morph takes a third of a second to load: a run that needs no parsing must not pay for it.
    const { readModule } = await import("./syntax/read-module.js");
    const bytes = source.readBytes(file);
    const facts = readModule(decodeText(bytes), ending);
    // Under the hash of what was parsed: the file may have changed since it was looked at.
    const key = keyOf(hashOf(bytes));
    read.set(key, facts);
    cache?.put(key, facts);
    return facts;
  };
}

function cachedFacts(cache: AnalysisCache | undefined, key: string): ModuleFacts | undefined {
  const value = cache?.get(key);
  return isModuleFacts(value) ? value : undefined;
}

/** The key fixes the version, so a look at the outline tells a whole value from a damaged one. */
function isModuleFacts(value: unknown): value is ModuleFacts {
  if (typeof value !== "object" || value === null) return false;
  const { imports, env, mentions } = value as Partial<Record<keyof ModuleFacts, unknown>>;
  return Array.isArray(imports) && Array.isArray(env) && Array.isArray(mentions);
}
