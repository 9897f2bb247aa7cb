/** Type-checks a project with its own tsconfig, or the scaffold's options where it has none (`bdk validate --types`). */
import { existsSync } from "node:fs";
import path from "node:path";
import type { ts } from "ts-morph";
import { packageAliases } from "../aliases.js";
import { type Diagnostic, diagnostic, inOrder, type Result, type Span } from "../diagnostics/diagnostic.js";
import { distFile, packageFolder } from "../link/package-folder.js";
import { findsPackage } from "../link/resolution.js";
import type { AgentTree, ProjectTree } from "../scan/tree.js";
import type { ProjectSource } from "../source.js";

/** Checks every agent; each TypeScript error is a diagnostic, none of them is thrown. */
export async function checkTypes(tree: ProjectTree, source: ProjectSource): Promise<Result<undefined>> {
  const { Project, ts } = await import("ts-morph");
  const diagnostics: Diagnostic[] = [];
  for (const agent of tree.agents) {
    const files = codeFiles(agent).map((file) => path.join(source.root, file));
    if (files.length === 0) continue;
    const folder = path.join(source.root, agent.dir);
    const config = path.join(folder, "tsconfig.json");
    const own = existsSync(config) ? { tsConfigFilePath: config } : {};
    const project = new Project({ ...own, skipAddingFilesFromTsConfig: true });
    const given = project.getCompilerOptions();
    const base = given.baseUrl ?? given.pathsBasePath;
    project.compilerOptions.set({
      ...(existsSync(config) ? {} : scaffoldOptions(ts)),
      noEmit: true,
      incremental: false,
      composite: false,
      skipLibCheck: true,
      paths: { ...ownPaths(folder), ...absolutePaths(given.paths, typeof base === "string" ? base : folder) },
    });
    project.addSourceFilesAtPaths(files);
    project.resolveSourceFileDependencies();
    for (const each of project.getPreEmitDiagnostics()) {
      const found = toDiagnostic(ts, each.compilerObject, source.root);
      if (found !== undefined) diagnostics.push(found);
    }
  }
  return { value: undefined, diagnostics: inOrder(diagnostics) };
}

function codeFiles({ entries }: AgentTree): readonly string[] {
  // A mounted package is checked where it is written, by its own tsconfig.
  const own = entries.filter(
    ({ layer, package: of, mount }) => layer !== "extension" || of === undefined || mount === undefined,
  );
  return own.map(({ file }) => file).filter((file) => /\.[cm]?tsx?$/.test(file) && !file.includes("node_modules/"));
}

/** As `bdk init` writes them. */
function scaffoldOptions({ ScriptTarget, ModuleKind, ModuleResolutionKind }: typeof ts): ts.CompilerOptions {
  return {
    target: ScriptTarget.ES2022,
    module: ModuleKind.ESNext,
    moduleResolution: ModuleResolutionKind.Bundler,
    strict: true,
    isolatedModules: true,
    resolveJsonModule: true,
    allowJs: true,
  };
}

/** Our types under every name of the package, and zod's when the project has none of its own. */
function ownPaths(folder: string): Record<string, string[]> {
  const types = (name: string): string[] => [distFile(`types/runtime/authoring/${name}.d.ts`)];
  const paths: Record<string, string[]> = {};
  for (const alias of packageAliases) {
    paths[alias] = types("index");
    paths[`${alias}/*`] = types("*");
    for (const api of ["serve", "build"]) paths[`${alias}/${api}`] = [distFile(`types/cli/api/${api}.d.ts`)];
  }
  if (findsPackage("zod", folder)) return paths;
  const zod = path.join(packageFolder, "node_modules", "zod");
  return existsSync(zod) ? { ...paths, zod: [zod], "zod/*": [`${zod}/*`] } : paths;
}

/** A project's own paths, which are relative to its tsconfig. */
function absolutePaths(
  paths: Readonly<Record<string, readonly string[]>> | undefined,
  base: string,
): Record<string, string[]> {
  return Object.fromEntries(
    Object.entries(paths ?? {}).map(([pattern, targets]) => [
      pattern,
      targets.map((target) => path.resolve(base, target)),
    ]),
  );
}

function toDiagnostic(
  { flattenDiagnosticMessageText, DiagnosticCategory }: typeof ts,
  found: ts.Diagnostic,
  root: string,
): Diagnostic | undefined {
  if (found.category !== DiagnosticCategory.Error) return undefined;
  const message = `TS${found.code}: ${flattenDiagnosticMessageText(found.messageText, "\n")}`;
  const at = spanOf(found, root);
  if (at?.file.includes("node_modules/")) return undefined;
  return diagnostic("typeError", { message, ...(at === undefined ? {} : { at }) });
}

function spanOf({ file, start, length = 1 }: ts.Diagnostic, root: string): Span | undefined {
  if (file === undefined || start === undefined) return undefined;
  const from = file.getLineAndCharacterOfPosition(start);
  const to = file.getLineAndCharacterOfPosition(start + length);
  return {
    file: path.relative(root, file.fileName).split(path.sep).join("/"),
    line: from.line + 1,
    column: from.character + 1,
    endLine: to.line + 1,
    endColumn: to.character + 1,
  };
}
