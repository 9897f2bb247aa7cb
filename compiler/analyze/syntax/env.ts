import type { ts as Ts } from "ts-morph";
import type { ModuleFacts } from "../facts.js";
import { placeOf } from "./place.js";
import type { Scope } from "./scope.js";
import { ts } from "./ts.js";

type EnvFacts = ModuleFacts["env"][number];

/** The environment variables that one node reads by name: `process.env.X`, `process.env["X"]`, `const { X } = process.env`. */
export function readEnv(node: Ts.Node, scope: Scope): readonly EnvFacts[] {
  const read = (name: string, at: Ts.Node): EnvFacts => ({ name, place: placeOf(at, scope.source) });
  if (ts.isPropertyAccessExpression(node) && isEnv(node.expression, scope)) return [read(node.name.text, node)];
  if (ts.isElementAccessExpression(node) && isEnv(node.expression, scope)) {
    return ts.isStringLiteralLike(node.argumentExpression) ? [read(node.argumentExpression.text, node)] : [];
  }
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.InKeyword && isEnv(node.right, scope)) {
    return ts.isStringLiteralLike(node.left) ? [read(node.left.text, node)] : [];
  }
  if (ts.isVariableDeclaration(node) && node.initializer !== undefined && ts.isObjectBindingPattern(node.name)) {
    return isEnv(node.initializer, scope) ? node.name.elements.flatMap((element) => readBinding(element, read)) : [];
  }
  return [];
}

/** True for the target of an assignment, which is no read. */
export function isWrite(node: Ts.Node, parent: Ts.Node): boolean {
  if (ts.isDeleteExpression(parent)) return true;
  return (
    ts.isBinaryExpression(parent) && parent.left === node && parent.operatorToken.kind === ts.SyntaxKind.EqualsToken
  );
}

function readBinding(element: Ts.BindingElement, read: (name: string, at: Ts.Node) => EnvFacts): readonly EnvFacts[] {
  const key = element.propertyName ?? element.name;
  if (element.dotDotDotToken !== undefined) return [];
  return ts.isIdentifier(key) || ts.isStringLiteralLike(key) ? [read(key.text, element)] : [];
}

/** `process.env`, also through `globalThis`, `import { env } from "node:process"` and `const env = process.env`. */
function isEnv(expression: Ts.Expression, scope: Scope): boolean {
  const node = strip(expression);
  if (ts.isPropertyAccessExpression(node)) return node.name.text === "env" && isProcess(node.expression, scope);
  if (!ts.isIdentifier(node)) return false;
  const binding = scope.imports.get(node.text);
  if (binding !== undefined) return binding.name === "env" && isProcessModule(binding.specifier);
  const value = scope.values.get(node.text);
  return (
    value !== undefined && value !== expression && ts.isPropertyAccessExpression(strip(value)) && isEnv(value, scope)
  );
}

function isProcess(expression: Ts.Expression, scope: Scope): boolean {
  const node = strip(expression);
  if (ts.isPropertyAccessExpression(node)) {
    return node.name.text === "process" && ts.isIdentifier(node.expression) && node.expression.text === "globalThis";
  }
  if (!ts.isIdentifier(node)) return false;
  const binding = scope.imports.get(node.text);
  return binding === undefined ? node.text === "process" : isProcessModule(binding.specifier);
}

function isProcessModule(specifier: string): boolean {
  return specifier === "node:process" || specifier === "process";
}

function strip(expression: Ts.Expression): Ts.Expression {
  let node = expression;
  while (ts.isParenthesizedExpression(node) || ts.isNonNullExpression(node) || ts.isAsExpression(node)) {
    node = node.expression;
  }
  return node;
}
