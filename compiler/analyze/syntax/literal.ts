import type { ts as Ts } from "ts-morph";
import type { Literal, PropertyFacts } from "../facts.js";
import { placeOf } from "./place.js";
import { type Scope, unwrap } from "./scope.js";
import { ts } from "./ts.js";

/** Deeper than any field that a rule or a schema message points at. */
const deepest = 5;

/** The value of an expression that is written out; undefined for everything that has to run. */
export function readLiteral(expression: Ts.Expression, scope: Scope): Literal | undefined {
  const node = unwrap(expression, scope);
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isNumericLiteral(node)) return Number(node.text);
  switch (node.kind) {
    case ts.SyntaxKind.TrueKeyword:
      return true;
    case ts.SyntaxKind.FalseKeyword:
      return false;
    case ts.SyntaxKind.NullKeyword:
      return null;
  }
  // prompt`…` without substitutions is its text, but for the indent.
  if (ts.isTaggedTemplateExpression(node) && ts.isNoSubstitutionTemplateLiteral(node.template))
    return node.template.text;
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken) {
    const left = readLiteral(node.left, scope);
    const right = readLiteral(node.right, scope);
    return typeof left === "string" && typeof right === "string" ? left + right : undefined;
  }
  if (ts.isArrayLiteralExpression(node)) return readList(node.elements, scope);
  return undefined;
}

function readList(elements: readonly Ts.Expression[], scope: Scope): Literal | undefined {
  const items: Literal[] = [];
  for (const element of elements) {
    const item = readLiteral(element, scope);
    if (item === undefined) return undefined;
    items.push(item);
  }
  return items;
}

export interface Properties {
  readonly properties: readonly PropertyFacts[];
  readonly open: boolean;
}

/** All properties of an object literal, those of nested literals and of schema calls (`z.object({ … })`) included. */
export function readProperties(
  object: Ts.ObjectLiteralExpression,
  scope: Scope,
  path: readonly string[] = [],
): Properties {
  const properties: PropertyFacts[] = [];
  let open = false;
  for (const member of object.properties) {
    const name = member.name === undefined ? undefined : nameOf(member.name);
    if (name === undefined) {
      open = true;
      continue;
    }
    properties.push(...readProperty(member, name, scope, path));
  }
  return { properties, open };
}

function readProperty(
  member: Ts.ObjectLiteralElementLike,
  name: string,
  scope: Scope,
  parent: readonly string[],
): readonly PropertyFacts[] {
  const path = [...parent, name];
  const key = placeOf(member.name ?? member, scope.source);
  const expression = ts.isPropertyAssignment(member)
    ? member.initializer
    : ts.isShorthandPropertyAssignment(member)
      ? member.name
      : undefined;
  if (expression === undefined) return [{ path, key, value: key }];

  const node = unwrap(expression, scope);
  // `model: undefined` says the same as no `model` at all.
  if (ts.isIdentifier(node) && node.text === "undefined") return [];
  const value = placeOf(expression, scope.source);
  const literal = readLiteral(node, scope);
  if (literal !== undefined) return [{ path, key, value, literal }];

  if (ts.isArrayLiteralExpression(node)) return [{ path, key, value }, ...readElements(node, scope, path)];
  const object = ts.isObjectLiteralExpression(node) ? node : undefined;
  const nested = object ?? schemaShape(node, scope);
  if (nested === undefined || path.length >= deepest) return [{ path, key, value }];
  const below = readProperties(nested, scope, path);
  return [
    { path, key, value, ...(object === undefined ? {} : { object: true }), ...(below.open ? { open: true } : {}) },
    ...below.properties,
  ];
}

/** Where the elements of a list stand, as far as their positions are known. */
function readElements(
  list: Ts.ArrayLiteralExpression,
  scope: Scope,
  path: readonly string[],
): readonly PropertyFacts[] {
  const end = list.elements.findIndex((element) => ts.isSpreadElement(element));
  return list.elements.slice(0, end < 0 ? undefined : end).map((element, index) => {
    const place = placeOf(element, scope.source);
    return { path: [...path, String(index)], key: place, value: place };
  });
}

/** The object that a schema is built from: `z.object({ … })`, `z.strictObject({ … }).describe("…")`. */
function schemaShape(node: Ts.Expression, scope: Scope): Ts.ObjectLiteralExpression | undefined {
  if (!ts.isCallExpression(node)) return undefined;
  const [first] = node.arguments;
  const argument = first === undefined ? undefined : unwrap(first, scope);
  if (argument !== undefined && ts.isObjectLiteralExpression(argument)) return argument;
  return ts.isPropertyAccessExpression(node.expression) ? schemaShape(node.expression.expression, scope) : undefined;
}

function nameOf(name: Ts.PropertyName): string | undefined {
  if (ts.isIdentifier(name) || ts.isStringLiteralLike(name) || ts.isNumericLiteral(name)) return name.text;
  return ts.isComputedPropertyName(name) && ts.isStringLiteralLike(name.expression) ? name.expression.text : undefined;
}
