/** What finding extensions stands on: the project's files, how modules are resolved, what their syntax says. */
import path from "node:path";
import type { AnalysisCache } from "../analyze/definition.js";
import type { ModuleFacts } from "../analyze/facts.js";
import { factsReader } from "../analyze/facts-reader.js";
import { type ProjectSource, SourceError } from "../source.js";
import { type FoundPackage, packageAbove } from "./package.js";

/**
 * The file that a module's import means, both absolute; undefined when there is none. Links are resolved. Injected: the
 * linker knows exports maps, tsconfig paths and package managers.
 */
export type ResolveModule = (specifier: string, from: string) => Promise<string | undefined>;

export interface Ground {
  readonly source: ProjectSource;
  /** As `ResolveModule`, with paths relative to the source root. The package that the file is in may be read from now on. */
  resolve(specifier: string, from: string): Promise<string | undefined>;
  /** Undefined when the file can't be read. */
  readFacts(file: string): Promise<ModuleFacts | undefined>;
  /** The package that a file found by `resolve` belongs to. */
  packageOf(file: string): FoundPackage | undefined;
}

export function createGround(
  source: ProjectSource,
  resolveModule: ResolveModule,
  cache: AnalysisCache | undefined,
): Ground {
  const readFacts = factsReader(source, cache);
  const packages = new Map<string, FoundPackage | undefined>();
  const owner = (absolute: string): FoundPackage | undefined => {
    const folder = path.dirname(absolute);
    if (!packages.has(folder)) packages.set(folder, packageAbove(folder));
    return packages.get(folder);
  };
  const inSource = (absolute: string) => path.relative(source.root, absolute).split(path.sep).join("/");
  return {
    source,
    async resolve(specifier, from) {
      const found = await resolveModule(specifier, path.join(source.root, from));
      if (found === undefined) return undefined;
      source.admit(owner(found)?.dir ?? path.dirname(found));
      return inSource(found);
    },
    async readFacts(file) {
      try {
        return await readFacts(file);
      } catch (error) {
        if (error instanceof SourceError) return undefined;
        throw error;
      }
    },
    packageOf: (file) => owner(path.join(source.root, file)),
  };
}
