import { existsSync, rmSync } from "node:fs";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import type { Diagnostic } from "../../compiler/diagnostics/diagnostic.js";
import { diagnostic } from "../../compiler/diagnostics/diagnostic.js";
import type { Manifest } from "../../runtime/manifest/schema.js";
import { usageFailure } from "../exit.js";
import { type Git, GitError } from "./git.js";
import { parseManifest } from "./manifest-file.js";

export interface RevisionManifest {
  readonly manifest: Manifest;
  /** Says so when the revision had to be compiled. */
  readonly warnings: readonly Diagnostic[];
}

export interface RevisionOptions {
  /** Path of the committed manifest below the project; the usual names when left out. */
  readonly committed?: string;
  /** Compiles a project folder; throws a CommandFailure when it has errors. */
  readonly compile: (folder: string) => Promise<Manifest>;
}

/**
 * The manifest of the project at a commit: the one that was committed (`bdk build --manifest-out`), else one compiled
 * from a temporary copy of the commit. The copy is written through an index of its own, so the repository, its index
 * and its working tree stay as they are, and it is removed again.
 */
export async function readRevision(
  git: Git,
  revision: string,
  commit: string,
  options: RevisionOptions,
): Promise<RevisionManifest> {
  try {
    const paths = await git.paths(commit, git.prefix);
    const committed = findCommitted(git, paths, options.committed);
    const text = committed === undefined ? undefined : await git.text(commit, committed);
    // Others have a manifest.json too, a web app for one: only what was asked for by name must be ours.
    if (text !== undefined && (options.committed !== undefined || isOurs(text))) {
      return { manifest: parseManifest(text, `${committed} at ${revision}`), warnings: [] };
    }
    if (paths.length === 0) throw noProjectThere(git, revision);
    const manifest = await compileCommit(git, commit, options.compile);
    return { manifest, warnings: [compiledWarning(revision)] };
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    throw usageFailure("revisionUnreadable", { message: `git cannot read ${revision}: ${error.message}` });
  }
}

function findCommitted(git: Git, paths: readonly string[], asked: string | undefined): string | undefined {
  const below = (name: string) => (git.prefix === "" ? name : `${git.prefix}/${name}`);
  if (asked !== undefined) return paths.find((path) => path === below(asked));
  const usual = below("manifest.json");
  if (paths.includes(usual)) return usual;
  const named = paths.filter((path) => dirname(path) === (git.prefix || ".") && path.endsWith(".manifest.json"));
  return named.length === 1 ? named[0] : undefined;
}

function isOurs(text: string): boolean {
  return /"manifestVersion"\s*:/.test(text);
}

function noProjectThere(git: Git, revision: string) {
  return usageFailure("revisionUnreadable", {
    message: `${revision} has no files below ${git.prefix === "" ? "the repository's top" : git.prefix}`,
    help: "choose a revision in which the project exists already",
  });
}

function compiledWarning(revision: string): Diagnostic {
  return diagnostic("revisionCompiled", {
    message: `${revision} holds no committed manifest: its sources were compiled with today's node_modules`,
    help: "commit one with bdk build --manifest-out manifest.json, so that later comparisons are exact",
  });
}

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** The temporary copy is gone afterwards, also when Ctrl-C ends the command. */
async function compileCommit(git: Git, commit: string, compile: RevisionOptions["compile"]): Promise<Manifest> {
  const temporary = await mkdtemp(join(tmpdir(), "bdk-diff-"));
  const interrupted = () => {
    rmSync(temporary, { recursive: true, force: true });
    process.exit(130);
  };
  for (const signal of signals) process.once(signal, interrupted);
  try {
    // The folder keeps the repository's name: a project without a package name takes its own from it.
    const copy = join(temporary, "tree", basename(git.top));
    await git.checkOut(commit, copy, join(temporary, "index"));
    await linkModules(git, commit, copy);
    return await compile(join(copy, git.prefix));
  } finally {
    for (const signal of signals) process.removeListener(signal, interrupted);
    await rm(temporary, { recursive: true, force: true });
  }
}

/** Lends the copy today's `node_modules`, wherever the working tree has them beside a package.json of the commit. */
async function linkModules(git: Git, commit: string, copy: string): Promise<void> {
  const folders = (await git.paths(commit, ""))
    .filter((path) => basename(path) === "package.json" && !path.split("/").includes("node_modules"))
    .map((path) => dirname(path));
  for (const folder of new Set(["", ...folders])) {
    const from = join(git.top, folder, "node_modules");
    const to = join(copy, folder, "node_modules");
    if (existsSync(from) && existsSync(dirname(to)) && !existsSync(to)) await symlink(from, to);
  }
}
