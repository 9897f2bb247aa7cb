import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { ts } from "ts-morph";

/** The package's own folder, absolute. */
export const packageRoot = fileURLToPath(new URL("../..", import.meta.url));

/** Files below a folder of the package, POSIX, relative to the package, sorted. */
export function filesBelow(folder: string, ending: string): string[] {
  return readdirSync(join(packageRoot, folder), { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile() && each.name.endsWith(ending) && !each.parentPath.includes("node_modules"))
    .map((each) => posix.join(...join(each.parentPath, each.name).slice(packageRoot.length).split(/[\\/]/)))
    .sort();
}

export function readSource(file: string): string {
  return readFileSync(join(packageRoot, file), "utf8");
}

/** One import, re-export, dynamic import or import type of a file. */
export interface ImportOf {
  readonly from: string;
  readonly line: number;
  readonly specifier: string;
  /** For relative specifiers: the file it means, relative to the package (`.ts` for `.js`). */
  readonly target?: string;
  readonly typeOnly: boolean;
  /** `export … from`. */
  readonly reexport: boolean;
  readonly dynamic: boolean;
}

function isTypeOnly(node: ts.ImportDeclaration | ts.ExportDeclaration): boolean {
  if (ts.isExportDeclaration(node)) {
    if (node.isTypeOnly) return true;
    const clause = node.exportClause;
    return clause !== undefined && ts.isNamedExports(clause) && clause.elements.every((each) => each.isTypeOnly);
  }
  const clause = node.importClause;
  if (clause === undefined) return false;
  if (clause.isTypeOnly) return true;
  const named = clause.namedBindings;
  return (
    clause.name === undefined &&
    named !== undefined &&
    ts.isNamedImports(named) &&
    named.elements.every((each) => each.isTypeOnly)
  );
}

/** Every import that a source file states, read from its syntax tree. */
export function importsOf(file: string): ImportOf[] {
  const source = ts.createSourceFile(file, readSource(file), ts.ScriptTarget.Latest, true);
  const found: ImportOf[] = [];
  const add = (node: ts.Node, specifier: string, kind: Pick<ImportOf, "typeOnly" | "reexport" | "dynamic">) => {
    const line = source.getLineAndCharacterOfPosition(node.getStart()).line + 1;
    const relative = specifier.startsWith(".");
    const target = posix.join(posix.dirname(file), specifier).replace(/\.(m?)js$/, ".$1ts");
    found.push({ from: file, line, specifier, ...(relative ? { target } : {}), ...kind });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) {
      const specifier = node.moduleSpecifier;
      if (specifier !== undefined && ts.isStringLiteral(specifier)) {
        const reexport = ts.isExportDeclaration(node);
        add(node, specifier.text, { typeOnly: isTypeOnly(node), reexport, dynamic: false });
      }
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const [specifier] = node.arguments;
      if (specifier !== undefined && ts.isStringLiteral(specifier)) {
        add(node, specifier.text, { typeOnly: false, reexport: false, dynamic: true });
      }
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      const { literal } = node.argument;
      if (ts.isStringLiteral(literal)) add(node, literal.text, { typeOnly: true, reexport: false, dynamic: false });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** `file:line imports "x"`, for messages. */
export function describeImport(each: ImportOf): string {
  return `${each.from}:${each.line} imports "${each.specifier}"`;
}
