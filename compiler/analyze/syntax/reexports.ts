import type { ts as Ts } from "ts-morph";
import type { ReexportFacts } from "../facts.js";
import { placeOf } from "./place.js";
import { type Scope, unwrap } from "./scope.js";
import { ts } from "./ts.js";

/** What a module hands on from others, whichever way it is written. */
export function readReexports(scope: Scope): readonly ReexportFacts[] {
  return scope.source.statements.flatMap((statement) => {
    if (ts.isExportDeclaration(statement)) return statement.isTypeOnly ? [] : fromList(statement, scope);
    if (!ts.isExportAssignment(statement) || statement.isExportEquals) return [];
    const node = unwrap(statement.expression, scope);
    return ts.isIdentifier(node) ? throughImport("default", node, statement, scope) : [];
  });
}

function fromList(statement: Ts.ExportDeclaration, scope: Scope): readonly ReexportFacts[] {
  const { exportClause, moduleSpecifier } = statement;
  const place = placeOf(statement, scope.source);
  const from = moduleSpecifier !== undefined && ts.isStringLiteral(moduleSpecifier) ? moduleSpecifier.text : undefined;
  if (exportClause === undefined) return from === undefined ? [] : [{ name: "*", imported: "*", from, place }];
  if (!ts.isNamedExports(exportClause)) return [];
  return exportClause.elements.flatMap((element): readonly ReexportFacts[] => {
    if (element.isTypeOnly) return [];
    const local = element.propertyName ?? element.name;
    if (from !== undefined) return [{ name: element.name.text, imported: local.text, from, place }];
    return ts.isIdentifier(local) ? throughImport(element.name.text, local, element, scope) : [];
  });
}

function throughImport(name: string, local: Ts.Identifier, at: Ts.Node, scope: Scope): readonly ReexportFacts[] {
  const node = unwrap(local, scope);
  const binding = ts.isIdentifier(node) ? scope.imports.get(node.text) : undefined;
  if (binding === undefined) return [];
  return [{ name, imported: binding.name, from: binding.specifier, place: placeOf(at, scope.source) }];
}
