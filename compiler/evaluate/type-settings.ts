/** The TypeScript options of a project: its own tsconfig's, or the scaffold's where it has none. */
import { existsSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import type { ts } from "ts-morph";
import { packageAliases } from "../aliases.js";
import { distFile, packageFolder } from "../link/package-folder.js";
import { findsPackage } from "../link/resolution.js";

export interface TypeSettings {
  readonly options: ts.CompilerOptions;
  /** What TypeScript has to say about the file itself. */
  readonly faults: readonly ts.Diagnostic[];
  /** False when the file can't be parsed: what its options would be is then not known. */
  readonly readable: boolean;
}

/** A place as TypeScript's own diagnostics have it. */
export type PlacedNode = Required<Pick<ts.DiagnosticWithLocation, "file" | "start" | "length">>;

/** "No inputs were found": which files are checked is not the tsconfig's to say. */
const noInputs = new Set([18002, 18003]);

/** Reads `tsconfig.json` of the folder, through its chain of `extends`. */
export function readTypeSettings(api: typeof ts, folder: string): TypeSettings {
  const file = path.join(folder, "tsconfig.json");
  if (!existsSync(file)) {
    return { options: withOurs({ ...scaffoldOptions(api), ...libraries(folder) }, folder), faults: [], readable: true };
  }
  const { error } = api.readConfigFile(file, api.sys.readFile);
  if (error !== undefined) return { options: {}, faults: [error], readable: false };
  const text = api.readJsonConfigFile(file, api.sys.readFile);
  const parsed = api.parseJsonSourceFileConfigFileContent(text, api.sys, folder, undefined, file);
  const faults = parsed.errors.filter(({ code }) => !noInputs.has(code));
  return { options: withOurs(parsed.options, folder), faults, readable: true };
}

/** Where `types` names a package in `tsconfig.json` itself; nothing when it comes from a base. */
export function placeOfTypes(api: typeof ts, folder: string, name: string): PlacedNode | undefined {
  const file = api.readJsonConfigFile(path.join(folder, "tsconfig.json"), api.sys.readFile);
  const find = (node: ts.Node): ts.Node | undefined => {
    if (!api.isPropertyAssignment(node)) return api.forEachChild(node, find);
    const { initializer } = node;
    const names =
      api.isStringLiteral(node.name) && node.name.text === "types" && api.isArrayLiteralExpression(initializer);
    if (!names) return api.forEachChild(initializer, find);
    return initializer.elements.find((each) => api.isStringLiteral(each) && each.text === name);
  };
  const node = find(file);
  return node === undefined ? undefined : { file, start: node.getStart(file), length: node.getWidth(file) };
}

function withOurs(given: ts.CompilerOptions, folder: string): ts.CompilerOptions {
  const base = given.baseUrl ?? given.pathsBasePath;
  return {
    ...given,
    noEmit: true,
    incremental: false,
    composite: false,
    skipLibCheck: true,
    paths: { ...ownPaths(folder), ...absolutePaths(given.paths, typeof base === "string" ? base : folder) },
  };
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

/** The libraries of types that the folder finds, and Node's in any case: whatever a bot does, it runs on Node. */
function libraries(folder: string): ts.CompilerOptions {
  const typeRoots = foldersUp(folder)
    .map((each) => path.join(each, "node_modules", "@types"))
    .filter((each) => existsSync(each));
  const installed = typeRoots.flatMap((root) => readdirSync(root)).filter((name) => !name.startsWith("."));
  if (installed.includes("node")) return { typeRoots };
  const ours = nodeTypes();
  return ours === undefined ? { typeRoots } : { typeRoots: [...typeRoots, ours], types: [...installed, "node"] };
}

function foldersUp(folder: string): readonly string[] {
  const above = path.dirname(folder);
  return above === folder ? [folder] : [folder, ...foldersUp(above)];
}

/** The folder that holds the types of Node which our own dependencies brought along. */
function nodeTypes(): string | undefined {
  const places = createRequire(path.join(packageFolder, "package.json")).resolve.paths("@types/node") ?? [];
  return places.map((each) => path.join(each, "@types")).find((each) => existsSync(path.join(each, "node")));
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
