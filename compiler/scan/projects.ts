import path from "node:path";
import { type Diagnostic, diagnostic, type Span } from "../diagnostics/diagnostic.js";
import { slotOf } from "../slots.js";
import { folderAbove, joinPath, type ProjectSource } from "../source.js";
import { checkSlug, slugOf } from "./names.js";
import { readPackageName } from "./package-json.js";

/** A project folder: one that holds `bot/` or `agent/`; or an extension package, which is its own base. */
export interface FoundProject {
  readonly slug: string;
  readonly name: string;
  readonly dir: string;
  readonly base: "bot" | "agent" | "";
}

export interface FoundProjects {
  readonly mode: "single" | "multi" | "extension";
  readonly projects: readonly FoundProject[];
  readonly diagnostics: readonly Diagnostic[];
}

const bases = ["bot", "agent"] as const;

/** The project at the root, or else those in the folders directly below it. */
export function findProjects(source: ProjectSource, packages: boolean): FoundProjects {
  const diagnostics: Diagnostic[] = [];
  const single = baseOf(source, "", diagnostics);
  if (single !== undefined)
    return { mode: "single", projects: [singleProject(source, single, diagnostics)], diagnostics };
  const isPackage = extensionFile(source) !== undefined;
  if (isPackage && packages) return extensionPackage(source);

  const projects: FoundProject[] = [];
  for (const child of source.list("")) {
    if (child.type !== "folder" || child.name.startsWith(".") || child.name === "node_modules") continue;
    const base = baseOf(source, child.name, diagnostics);
    if (base === undefined) continue;
    const at = startOf(child.name);
    diagnostics.push(...checkSlug(child.name, at, "rename the folder: its name is the agent's slug in URLs"));
    const manifest = readPackageName(source, child.name);
    diagnostics.push(...manifest.diagnostics);
    projects.push({ slug: child.name, name: manifest.value ?? child.name, dir: child.name, base });
  }
  if (projects.length === 0) diagnostics.push(noProject(source, isPackage));
  return { mode: projects.length === 0 ? "single" : "multi", projects, diagnostics };
}

function noProject(source: ProjectSource, isPackage: boolean): Diagnostic {
  if (isPackage) {
    return diagnostic("noProject", {
      message: "this is an extension package: it has no agent to build or run",
      at: startOf("package.json"),
      help: "mount it in a project; here, `bdk validate` and `bdk info` look at it",
    });
  }
  const above = folderAbove(source.root, bases);
  return diagnostic("noProject", {
    message: "found neither bot/ nor agent/ here, nor in a folder directly below",
    at: startOf("bot/instructions.md"),
    help:
      above === undefined
        ? "run `bdk init` to start a project, or point --dir at the folder that holds bot/"
        : `this folder is inside a project: point --dir at "${path.basename(path.resolve(source.root, above))}", which is ${above} from here`,
  });
}

function singleProject(source: ProjectSource, base: FoundProject["base"], diagnostics: Diagnostic[]): FoundProject {
  const manifest = readPackageName(source, "");
  diagnostics.push(...manifest.diagnostics);
  const slug = slugOf(manifest.value);
  diagnostics.push(
    ...checkSlug(slug, startOf("package.json"), "change `name` in package.json: it gives the agent's slug in URLs"),
  );
  return { slug, name: manifest.value ?? path.basename(source.root), dir: "", base };
}

/** `extension.ts` at the root, beside a package.json: a package that projects mount, and no project. */
export function extensionFile(source: ProjectSource): string | undefined {
  if (source.typeOf("package.json") !== "file") return undefined;
  return slotOf("extension")
    .endings.map((ending) => `extension${ending}`)
    .find((file) => source.typeOf(file) === "file");
}

function extensionPackage(source: ProjectSource): FoundProjects {
  const { value: name = path.basename(source.root), diagnostics } = readPackageName(source, "");
  return { mode: "extension", projects: [{ slug: slugOf(name), name, dir: "", base: "" }], diagnostics };
}

function baseOf(source: ProjectSource, dir: string, diagnostics: Diagnostic[]): "bot" | "agent" | undefined {
  const present = bases.filter((base) => source.typeOf(joinPath(dir, base)) === "folder");
  if (present.length > 1) {
    diagnostics.push(
      diagnostic("bothRoots", {
        message: `${dir === "" ? "the project" : `${dir}/`} has both bot/ and agent/`,
        at: startOf(joinPath(dir, "agent")),
        help: "keep one: move what is in agent/ to bot/",
      }),
    );
  }
  return present[0];
}

function startOf(file: string): Span {
  return { file, line: 1, column: 1 };
}
