import path from "node:path";
import { type Diagnostic, diagnostic } from "../diagnostics/diagnostic.js";
import type { AgentTree } from "../scan/tree.js";
import { type ProjectSource, parentOf, SourceError } from "../source.js";
import { spanOf, unreadable } from "./at.js";
import type { EnvRead } from "./definition.js";
import type { ModuleFacts } from "./facts.js";
import type { FactsReader } from "./facts-reader.js";
import { formOf } from "./identity.js";
import { missingImport } from "./missing-import.js";
import { type FolderView, folderView, isCode, resolveFile } from "./resolve-import.js";
import { type PathAlias, readPathAliases } from "./tsconfig-paths.js";

export interface ProjectModule {
  readonly facts: ModuleFacts;
  /** Project modules that it imports. */
  readonly imports: readonly string[];
}

/** The agent's entries and every project module that they reach through imports. */
export interface ModuleGraph {
  readonly modules: ReadonlyMap<string, ProjectModule>;
  /** Paths that relative imports name and nothing stands at. */
  readonly missing: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Follows imports from the agent's code entries. Relative specifiers and the tsconfig's `paths` are resolved here;
 * packages are the linker's business.
 */
export async function readGraph(agent: AgentTree, source: ProjectSource, readFacts: FactsReader): Promise<ModuleGraph> {
  const folders = folderView(source);
  const aliases = readPathAliases(source, agent.dir, folders);
  const modules = new Map<string, ProjectModule>();
  const missing: string[] = [];
  const diagnostics: Diagnostic[] = [];

  const written = agent.entries.filter((entry) => formOf(entry) === "code" && entry.part === undefined);
  const reached = new Set(written.map((entry) => entry.file));
  for (const file of reached) {
    const facts = await readOrReport(file, readFacts, diagnostics);
    if (facts === undefined) continue;
    if (facts.error !== undefined) diagnostics.push(syntaxError(file, facts.error));
    const imports: string[] = [];
    for (const { specifier, place } of facts.imports) {
      const wanted = targetsOf(specifier.replace(/[?#].*$/, ""), file, aliases);
      const target = firstFile(wanted.paths, folders);
      if (target !== undefined && isCode(target)) imports.push(target);
      if (target !== undefined || !wanted.required) continue;
      missing.push(...wanted.paths);
      diagnostics.push(...wanted.paths.flatMap((each) => missingImport(specifier, each, spanOf(file, place), folders)));
    }
    modules.set(file, { facts, imports });
    for (const target of imports) reached.add(target);
  }
  return { modules, missing, diagnostics };
}

/** Reads of the environment in the module and in all that it reaches. */
export function envReads(graph: ModuleGraph, file: string): readonly EnvRead[] {
  const reads: EnvRead[] = [];
  const reached = new Set([file]);
  for (const current of reached) {
    const module = graph.modules.get(current);
    for (const { name, place } of module?.facts.env ?? []) reads.push({ name, span: spanOf(current, place) });
    for (const target of module?.imports ?? []) reached.add(target);
  }
  return reads;
}

async function readOrReport(
  file: string,
  readFacts: FactsReader,
  diagnostics: Diagnostic[],
): Promise<ModuleFacts | undefined> {
  try {
    return await readFacts(file);
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    diagnostics.push(unreadable(file, error));
    return undefined;
  }
}

/** Where a specifier may lead. A relative one has to lead somewhere; an alias that fits nothing may be a package. */
function targetsOf(
  specifier: string,
  from: string,
  aliases: readonly PathAlias[],
): { readonly paths: readonly string[]; readonly required: boolean } {
  if (/^\.\.?(\/|$)/.test(specifier)) return { paths: [path.posix.join(parentOf(from), specifier)], required: true };
  return { paths: aliases.flatMap((alias) => alias(specifier) ?? []), required: false };
}

function firstFile(paths: readonly string[], folders: FolderView): string | undefined {
  for (const each of paths) {
    const file = resolveFile(folders, each);
    if (file !== undefined) return file;
  }
  return undefined;
}

function syntaxError(file: string, { message, place, more }: NonNullable<ModuleFacts["error"]>): Diagnostic {
  const again = `the parser stumbled ${more} more ${more === 1 ? "time" : "times"} after that`;
  return diagnostic("syntaxError", {
    message: `syntax error: ${message.replace(/\.$/, "")}`,
    at: spanOf(file, place),
    help: "nothing else in this file is checked until it can be parsed",
    ...(more === 0 ? {} : { notes: [again] }),
  });
}
