import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import { usageFailure } from "../exit.js";
import type { OwnPackage } from "../package-root.js";

const reserved = new Set(["v1", "playground", "docs"]);

/**
 * A folder's or a person's words as an npm package name that is also a good slug.
 *
 * @example projectName("My Agent!") // "my-agent"
 */
export function projectName(words: string): string {
  const name = words
    .toLowerCase()
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .replace(/[^a-z0-9_-]+/g, "-")
    .replace(/^[-_]+|[-_]+$/g, "")
    .slice(0, 64);
  if (name === "") return "my-agent";
  return reserved.has(name) ? `${name}-agent` : name;
}

/**
 * The same for a package that is published: its scope stays.
 *
 * @example packageName("@acme/CI triage") // "@acme/ci-triage"
 */
export function packageName(words: string): string {
  const [, scope, rest] = /^@([^/]+)\/(.+)$/.exec(words) ?? [];
  return scope === undefined || rest === undefined ? projectName(words) : `@${projectName(scope)}/${projectName(rest)}`;
}

/** How a new project depends on this very package: by version when installed, by path from a source checkout. */
export function dependencyOn(own: OwnPackage, target: string): string {
  if (own.root.split(sep).includes("node_modules")) return `^${own.version}`;
  const path = relative(resolve(target), own.root);
  return `file:${path.split(sep).join("/")}`;
}

/**
 * Refuses when something would be written over, or when the folder holds another project already.
 *
 * @throws CommandFailure BDK8007, naming every file in the way.
 */
export function checkTarget(target: string, paths: Iterable<string>, force: boolean): void {
  if (existsSync(join(target, "agent")) && !existsSync(join(target, "bot"))) {
    throw usageFailure("wouldOverwrite", {
      message: `${target} holds a project already: its root folder is agent/`,
      help: "choose another folder; a project has either bot/ or agent/",
    });
  }
  if (force) return;
  const present = [...paths].filter((path) => existsSync(join(target, path)));
  if (present.length === 0) return;
  throw usageFailure("wouldOverwrite", {
    message: `${present.length === 1 ? "a file is" : `${present.length} files are`} in ${target} already: ${present.join(", ")}`,
    help: "choose another folder, or pass --force to write over them",
  });
}

export async function writeFiles(target: string, files: ReadonlyMap<string, string>): Promise<void> {
  for (const [path, contents] of files) {
    const file = join(target, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, contents);
  }
}
