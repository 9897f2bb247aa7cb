import type { ts as Ts } from "ts-morph";
import type { ModuleFacts } from "../facts.js";
import { placeOf } from "./place.js";
import { ts } from "./ts.js";

type ImportFacts = ModuleFacts["imports"][number];

/** Import and export declarations that stay when types are erased. */
export function readStaticImports(source: Ts.SourceFile): readonly ImportFacts[] {
  const found: ImportFacts[] = [];
  for (const statement of source.statements) {
    if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) continue;
    const { moduleSpecifier } = statement;
    if (moduleSpecifier === undefined || !ts.isStringLiteral(moduleSpecifier) || isErased(statement)) continue;
    found.push({ specifier: moduleSpecifier.text, place: placeOf(moduleSpecifier, source) });
  }
  return found;
}

/** `import("…")` and `require("…")` of a literal, anywhere. */
export function readCalledImport(node: Ts.Node, source: Ts.SourceFile): ImportFacts | undefined {
  if (!ts.isCallExpression(node)) return undefined;
  const isImport = node.expression.kind === ts.SyntaxKind.ImportKeyword;
  const isRequire = ts.isIdentifier(node.expression) && node.expression.text === "require";
  const [first] = node.arguments;
  if (!(isImport || isRequire) || first === undefined || !ts.isStringLiteralLike(first)) return undefined;
  return { specifier: first.text, place: placeOf(first, source) };
}

function isErased(statement: Ts.ImportDeclaration | Ts.ExportDeclaration): boolean {
  if (ts.isExportDeclaration(statement)) {
    const { exportClause } = statement;
    return statement.isTypeOnly || (exportClause !== undefined && isAllTypes(exportClause));
  }
  const clause = statement.importClause;
  if (clause === undefined) return false;
  if (clause.isTypeOnly) return true;
  return clause.name === undefined && clause.namedBindings !== undefined && isAllTypes(clause.namedBindings);
}

function isAllTypes(bindings: Ts.NamedExportBindings | Ts.NamedImportBindings): boolean {
  if (!ts.isNamedExports(bindings) && !ts.isNamedImports(bindings)) return false;
  return bindings.elements.length > 0 && bindings.elements.every((element) => element.isTypeOnly);
}
