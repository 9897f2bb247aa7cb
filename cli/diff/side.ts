import { statSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Diagnostic, diagnostic, hasErrors } from "../../compiler/diagnostics/diagnostic.js";
import type { Manifest } from "../../runtime/manifest/schema.js";
import { compileProject } from "../compile-project.js";
import { CommandFailure, exit, usageFailure } from "../exit.js";
import type { Terminal } from "../ui/terminal.js";
import { type Git, GitError, openGit } from "./git.js";
import { readManifestFile } from "./manifest-file.js";
import { readRevision } from "./revision.js";

/** One side of a comparison. */
export interface Side {
  readonly manifest: Manifest;
  readonly warnings: readonly Diagnostic[];
}

export interface SideOptions {
  /** The project whose revisions are meant. */
  readonly project: string;
  /** Path of the committed manifest below the project. */
  readonly committed?: string;
  readonly terminal: Terminal;
  /** No progress on stderr. */
  readonly silent: boolean;
}

/**
 * Reads what an argument of `bdk diff` names: a manifest file, a built folder, a project folder, or, when there is no
 * such path, a git revision of the project.
 */
export async function readSide(argument: string, options: SideOptions): Promise<Side> {
  const path = resolve(argument);
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isFile() === true) return { manifest: readManifestFile(path), warnings: [] };
  const compile = (folder: string) => compileSide(folder, argument, options);
  if (stats?.isDirectory() === true) {
    const built = join(path, "manifest.json");
    if (!isProject(path) && isFile(built)) return { manifest: readManifestFile(built), warnings: [] };
    return { manifest: await compile(path), warnings: [] };
  }
  const git = await openGit(options.project).catch((error: unknown) => {
    if (!(error instanceof GitError)) throw error;
    throw usageFailure("revisionUnreadable", { message: `"${argument}" is no path, and ${error.message}` });
  });
  const commit = await git?.commit(argument);
  if (git === undefined || commit === undefined) throw nothingThere(argument, git);
  const { project: _project, terminal: _terminal, silent: _silent, ...rest } = options;
  return readRevision(git, argument, commit, { ...rest, compile });
}

function isProject(folder: string): boolean {
  return ["bot", "agent"].some(
    (base) => statSync(join(folder, base), { throwIfNoEntry: false })?.isDirectory() === true,
  );
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

function nothingThere(argument: string, git: Git | undefined): CommandFailure {
  const revision =
    git === undefined ? "a revision, as the project is in no git repository" : "a revision of this repository";
  return usageFailure("noSuchSide", {
    message: `"${argument}" is neither a path nor ${revision}`,
    help:
      git?.isShallow === true
        ? "this clone is shallow: fetch what is missing with git fetch --unshallow (fetch-depth: 0 in GitHub Actions)"
        : "pass a manifest file, a built folder, a project folder, or a revision such as HEAD~1 or main",
  });
}

/** Both sides are compiled as CI would, so that the environment of this machine makes no difference. */
async function compileSide(folder: string, argument: string, { terminal, silent }: SideOptions): Promise<Manifest> {
  const result = await compileProject(folder, { environment: "build", until: "manifest" }, terminal, silent);
  if (result.manifest !== undefined && !hasErrors(result.diagnostics)) return result.manifest;
  const found = result.diagnostics.filter((each) => each.severity === "error");
  const broken = diagnostic("sideBroken", {
    message: `${argument} cannot be compared: it has errors`,
    help: "mend them, or compare with a manifest that was built before",
  });
  throw new CommandFailure(exit.usage, [...found, broken], folder);
}
