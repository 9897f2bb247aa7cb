import type { Diagnostic, Result } from "../diagnostics/diagnostic.js";
import { diagnostic, inOrder } from "../diagnostics/diagnostic.js";
import { joinPath, type ProjectSource } from "../source.js";
import { type Found, gather } from "./found.js";
import { scanLayer } from "./layer.js";
import { tolerantListing } from "./listing.js";
import { extensionFile, type FoundProject, findProjects } from "./projects.js";
import type { AgentTree, Entry, ProjectTree } from "./tree.js";

/**
 * Phase 1: lists what is where, by the slot table alone. Reads no file but package.json.
 *
 * @param packages Takes an extension package too, as if it were a project: to be looked at, not to be run.
 * @example
 * const { value: tree, diagnostics } = scan(diskSource("my-bot"));
 * tree.agents[0]?.entries; // [{ kind: "tool", name: "approve_pr", file: "bot/tools/approve_pr.ts", … }]
 */
export function scan(given: ProjectSource, packages = true): Result<ProjectTree> {
  const { source, said } = tolerantListing(given);
  const { mode, projects, diagnostics } = findProjects(source, packages);
  const scanned = projects.map((project) =>
    project.base === "" ? scanExtension(source, project) : scanProject(source, project),
  );
  return {
    value: { mode, agents: scanned.map(({ value }) => value) },
    diagnostics: inOrder([...said, ...diagnostics, ...scanned.flatMap((each) => each.diagnostics)]),
  };
}

function scanProject(source: ProjectSource, project: FoundProject): Result<AgentTree> {
  const found = gather([
    scanLayer(source, {
      dir: joinPath(project.dir, project.base),
      scope: "base",
      contributor: "project",
      layer: "project",
    }),
    scanLayer(source, { dir: project.dir, scope: "project", contributor: "project", layer: "project" }),
  ]);
  return { value: toTree(project, found), diagnostics: [...found.diagnostics, ...checkEvals(project, found)] };
}

/** An extension package by itself: what it would add to a project, without a namespace. */
function scanExtension(source: ProjectSource, project: FoundProject): Result<AgentTree> {
  const found = scanLayer(source, { dir: "", scope: "base", contributor: "extension", layer: "extension" });
  const file = extensionFile(source);
  const own: readonly Entry[] =
    file === undefined ? [] : [{ kind: "extension", name: "", file, files: [], layer: "extension" }];
  return {
    value: toTree(project, { ...found, entries: [...own, ...found.entries] }),
    diagnostics: found.diagnostics,
  };
}

function toTree({ slug, name, dir, base }: FoundProject, { entries, strays }: Found): AgentTree {
  return { slug, name, dir, base, mounts: [], entries, strays };
}

/** Evals share their settings through one file, which has to be there as soon as there is an eval. */
function checkEvals(project: FoundProject, found: Found): readonly Diagnostic[] {
  const first = found.entries.find((entry) => entry.kind === "eval");
  if (first === undefined || found.entries.some((entry) => entry.kind === "eval-config")) return [];
  const file = joinPath(project.dir, "evals/evals.config.ts");
  return [
    diagnostic("evalConfigMissing", {
      message: `there are evals, but no ${file}`,
      at: { file: first.file, line: 1, column: 1 },
      help: `create ${file}: export default defineEvalConfig({ maxConcurrency: 10 })`,
    }),
  ];
}
