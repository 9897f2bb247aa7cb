import type { ts as Ts } from "ts-morph";
import type { CalleeFacts, ExportFacts } from "../facts.js";
import { readLiteral, readProperties } from "./literal.js";
import { placeOf } from "./place.js";
import { type Scope, unwrap } from "./scope.js";
import { ts } from "./ts.js";

/** The default export of a module, however it is written; undefined when there is none. */
export function readDefaultExport(scope: Scope): ExportFacts | undefined {
  for (const statement of scope.source.statements) {
    const found = ts.isExportAssignment(statement)
      ? statement.isExportEquals
        ? undefined
        : describe(statement.expression, scope)
      : ts.isExportDeclaration(statement)
        ? fromExportList(statement, scope)
        : fromDeclaration(statement, scope);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** `export { tool as default }`, `export { default } from "…"`. */
function fromExportList(statement: Ts.ExportDeclaration, scope: Scope): ExportFacts | undefined {
  const { exportClause, moduleSpecifier } = statement;
  if (statement.isTypeOnly || exportClause === undefined || !ts.isNamedExports(exportClause)) return undefined;
  const element = exportClause.elements.find((each) => each.name.text === "default");
  if (element === undefined) return undefined;
  const local = element.propertyName ?? element.name;
  if (moduleSpecifier === undefined && ts.isIdentifier(local)) return describe(local, scope);
  return { place: placeOf(element, scope.source), form: "opaque", properties: [], open: true };
}

/** `export default function …`, `export default class …`. */
function fromDeclaration(statement: Ts.Statement, scope: Scope): ExportFacts | undefined {
  if (!ts.isFunctionDeclaration(statement) && !ts.isClassDeclaration(statement)) return undefined;
  const isDefault = statement.modifiers?.some((each) => each.kind === ts.SyntaxKind.DefaultKeyword);
  if (!isDefault) return undefined;
  const keyword = statement.modifiers?.[0] ?? statement;
  const what = ts.isFunctionDeclaration(statement) ? "a function" : "a class";
  return { place: placeOf(keyword, scope.source), form: "other", what, properties: [], open: true };
}

function describe(expression: Ts.Expression, scope: Scope): ExportFacts {
  const place = placeOf(expression, scope.source);
  const node = unwrap(expression, scope);
  if (ts.isCallExpression(node)) return describeCall(node, scope);
  if (ts.isObjectLiteralExpression(node)) return { place, form: "object", ...readProperties(node, scope) };
  if (ts.isArrayLiteralExpression(node)) return { place, form: "array", properties: [], open: true };
  if (ts.isTemplateExpression(node) || ts.isTaggedTemplateExpression(node) || ts.isStringLiteralLike(node)) {
    const text = readLiteral(node, scope);
    return { place, form: "text", ...(typeof text === "string" ? { text } : {}), properties: [], open: true };
  }
  const what = nounFor(node, scope);
  return what === undefined
    ? { place, form: "opaque", properties: [], open: true }
    : { place, form: "other", what, properties: [], open: true };
}

function describeCall(node: Ts.CallExpression, scope: Scope): ExportFacts {
  const callee = readCallee(node.expression, scope);
  const place = placeOf(node.expression, scope.source);
  const base = { place, form: "call", ...(callee === undefined ? {} : { callee }) } as const;
  const [first] = node.arguments;
  if (first === undefined) return { ...base, properties: [], open: false };
  const argument = unwrap(first, scope);
  if (!ts.isObjectLiteralExpression(argument)) return { ...base, properties: [], open: true };
  return { ...base, ...readProperties(argument, scope) };
}

/** Whom a call calls, through import aliases, namespaces and constants. */
function readCallee(expression: Ts.Expression, scope: Scope): CalleeFacts | undefined {
  const place = placeOf(expression, scope.source);
  const node = unwrap(expression, scope);
  if (ts.isPropertyAccessExpression(node) && ts.isIdentifier(node.expression)) {
    const namespace = scope.imports.get(node.expression.text);
    return namespace?.name === "*" ? { name: node.name.text, from: namespace.specifier, place } : undefined;
  }
  if (!ts.isIdentifier(node)) return undefined;
  const binding = scope.imports.get(node.text);
  if (binding !== undefined) return { name: binding.name, from: binding.specifier, place };
  return scope.declared.has(node.text) ? { name: node.text, place } : { name: node.text, undeclared: true, place };
}

function nounFor(node: Ts.Expression, scope: Scope): string | undefined {
  if (ts.isArrowFunction(node) || ts.isFunctionExpression(node)) return "a function";
  if (ts.isClassExpression(node)) return "a class";
  const literal = readLiteral(node, scope);
  return literal === undefined ? undefined : literal === null ? "null" : `a ${typeof literal}`;
}
