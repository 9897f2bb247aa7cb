import path from "node:path";
import { type Diagnostic, diagnostic, type Span } from "../diagnostics/diagnostic.js";
import { suggest } from "../diagnostics/suggest.js";
import type { AgentTree } from "../scan/tree.js";
import { type ProjectSource, parentOf, SourceError } from "../source.js";
import { spanOf } from "./at.js";
import type { EnvRead } from "./definition.js";
import type { ModuleFacts } from "./facts.js";
import type { FactsReader } from "./facts-reader.js";
import { formOf } from "./identity.js";
import { folderView, isCode, resolveFile } from "./resolve-import.js";
import { readPathAliases } from "./tsconfig-paths.js";

export interface ProjectModule {
  readonly facts: ModuleFacts;
  /** Project modules that it imports. */
  readonly imports: readonly string[];
}

/** The agent's entries and every project module that they reach through imports. */
export interface ModuleGraph {
  readonly modules: ReadonlyMap<string, ProjectModule>;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Follows imports from the agent's code entries. Relative specifiers and the tsconfig's `paths` are resolved here;
 * packages are the linker's business.
 */
export async function readGraph(agent: AgentTree, source: ProjectSource, readFacts: FactsReader): Promise<ModuleGraph> {
  const modules = new Map<string, ProjectModule>();
  const diagnostics: Diagnostic[] = [];
  const folders = folderView(source);
  const aliases = readPathAliases(source, agent.dir, folders);

  const pending = agent.entries.filter((entry) => formOf(entry) === "code").map((entry) => entry.file);
  const seen = new Set(pending);
  for (let file = pending.shift(); file !== undefined; file = pending.shift()) {
    let facts: ModuleFacts;
    try {
      facts = await readFacts(file);
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      diagnostics.push(
        diagnostic("unreadable", { message: `${file} can't be read: ${error.message}`, at: startOf(file) }),
      );
      continue;
    }
    if (facts.error !== undefined) diagnostics.push(syntaxError(file, facts.error));
    const imports: string[] = [];
    for (const { specifier, place } of facts.imports) {
      const bare = specifier.replace(/[?#].*$/, "");
      const target = isRelative(bare)
        ? resolveFile(folders, path.posix.join(parentOf(file), bare))
        : aliases.flatMap((alias) => resolveFile(folders, alias(bare) ?? "\0") ?? [])[0];
      if (target !== undefined) {
        if (isCode(target)) imports.push(target);
      } else if (isRelative(bare)) {
        diagnostics.push(...missingImport(file, bare, spanOf(file, place), folders));
      }
    }
    modules.set(file, { facts, imports });
    for (const target of imports) {
      if (seen.has(target)) continue;
      seen.add(target);
      pending.push(target);
    }
  }
  return { modules, diagnostics };
}

/** Reads of the environment in the module and in all that it reaches. */
export function envReads(graph: ModuleGraph, file: string): readonly EnvRead[] {
  const reads: EnvRead[] = [];
  const seen = new Set([file]);
  for (const current of seen) {
    const reached = graph.modules.get(current);
    for (const { name, place } of reached?.facts.env ?? []) reads.push({ name, span: spanOf(current, place) });
    for (const target of reached?.imports ?? []) seen.add(target);
  }
  return reads;
}

function missingImport(
  file: string,
  specifier: string,
  at: Span,
  folders: ReturnType<typeof folderView>,
): readonly Diagnostic[] {
  const target = path.posix.join(parentOf(file), specifier);
  // What lies outside the folder we may read is there or not for the linker to say.
  if (target.startsWith("../")) return [];
  const names = [...folders(parentOf(target)).keys()];
  const near = suggest(
    path.posix.basename(target),
    names.flatMap((name) => [name, name.replace(/\.([cm]?)tsx?$/, ".$1js")]),
  );
  const help =
    near === undefined
      ? `there is nothing at ${target}`
      : `did you mean "${specifier.slice(0, specifier.lastIndexOf("/") + 1)}${near}"?`;
  return [diagnostic("missingImport", { message: `can't find "${specifier}"`, at, help })];
}

function syntaxError(file: string, { message, place, more }: NonNullable<ModuleFacts["error"]>): Diagnostic {
  const notes =
    more === 0 ? {} : { notes: [`the parser stumbled ${more} more ${more === 1 ? "time" : "times"} after that`] };
  return diagnostic("syntaxError", { message: `syntax error: ${message}`, at: spanOf(file, place), ...notes });
}

function isRelative(specifier: string): boolean {
  return /^\.\.?(\/|$)/.test(specifier);
}

function startOf(file: string): Span {
  return { file, line: 1, column: 1 };
}
