/** Type-checks a project with its own tsconfig, or the scaffold's options where it has none (`bdk validate --types`). */
import path from "node:path";
import type { ts } from "ts-morph";
import { type Diagnostic, diagnostic, inOrder, type Result, type Span } from "../diagnostics/diagnostic.js";
import { declares } from "../scan/package-json.js";
import type { AgentTree, ProjectTree } from "../scan/tree.js";
import { joinPath, type ProjectSource } from "../source.js";
import { placeOfTypes, readTypeSettings } from "./type-settings.js";

/** Checks every agent; each TypeScript error is a diagnostic, none of them is thrown. */
export async function checkTypes(tree: ProjectTree, source: ProjectSource): Promise<Result<undefined>> {
  const { Project, ts } = await import("ts-morph");
  const diagnostics: Diagnostic[] = [];
  for (const agent of tree.agents) {
    const files = codeFiles(agent).map((file) => path.join(source.root, file));
    if (files.length === 0) continue;
    const folder = path.join(source.root, agent.dir);
    const { options, faults, readable } = readTypeSettings(ts, folder);
    const report = (found: readonly ts.Diagnostic[]) =>
      diagnostics.push(...found.flatMap((each) => toDiagnostic(ts, each, source.root, readable) ?? []));
    report(faults);
    if (!readable) continue;
    const project = new Project({ compilerOptions: options });
    project.addSourceFilesAtPaths(files);
    project.resolveSourceFileDependencies();
    const found = project.getPreEmitDiagnostics().map(({ compilerObject }) => compilerObject);
    // Without a library of types much of what follows is wrong only for lack of it.
    const absent = found.flatMap((each) => absentTypes(ts, each, source, agent.dir) ?? []);
    if (absent.length > 0) diagnostics.push(...absent);
    else report(found);
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

/** "Cannot find type definition file": of a package that `types` in the tsconfig names. */
const noTypeLibrary = 2688;

function absentTypes(
  api: typeof ts,
  { code, messageText }: ts.Diagnostic,
  source: ProjectSource,
  dir: string,
): Diagnostic | undefined {
  if (code !== noTypeLibrary) return undefined;
  const folder = path.join(source.root, dir);
  const name = /'([^']+)'/.exec(api.flattenDiagnosticMessageText(messageText, "\n"))?.[1] ?? "";
  const scoped = name.startsWith("@") ? name.slice(1).replace("/", "__") : name;
  const candidates = [`@types/${scoped}`, name];
  const declared = candidates.find((each) => declares(source, dir, each));
  const at = spanOf(placeOfTypes(api, folder, name) ?? {}, source.root) ?? {
    file: joinPath(dir, "tsconfig.json"),
    line: 1,
    column: 1,
  };
  const wanted = declared ?? `@types/${scoped}`;
  return diagnostic("typeError", {
    message: `the types of "${name}" are not there, so nothing else can be checked: "${wanted}" is not installed`,
    at,
    help: declared === undefined ? `npm install -D ${wanted}, or take "${name}" out of types` : "run npm install",
  });
}

function toDiagnostic(
  { flattenDiagnosticMessageText, DiagnosticCategory }: typeof ts,
  found: ts.Diagnostic,
  root: string,
  parsed = true,
): Diagnostic | undefined {
  if (found.category !== DiagnosticCategory.Error) return undefined;
  const text = flattenDiagnosticMessageText(found.messageText, "\n").replaceAll(`${root}/`, "");
  const message = `TS${found.code}: ${text}`;
  const at = spanOf(found, root);
  if (at?.file.includes("node_modules/")) return undefined;
  return diagnostic(parsed ? "typeError" : "syntaxError", { message, ...(at === undefined ? {} : { at }) });
}

type Place = Partial<Pick<ts.Diagnostic, "file" | "start" | "length">>;

function spanOf({ file, start, length = 1 }: Place, root: string): Span | undefined {
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
