import type { ts as Ts } from "ts-morph";
import { ts } from "./ts.js";

/** A name that an import binds. */
export interface ImportBinding {
  readonly specifier: string;
  /** The exported name; `*` for a namespace. */
  readonly name: string;
}

/** What the names at the top level of a module stand for. */
export interface Scope {
  readonly source: Ts.SourceFile;
  readonly imports: ReadonlyMap<string, ImportBinding>;
  /** Initialisers of `const x = …` (and of `let` and `var` that are never interesting otherwise). */
  readonly values: ReadonlyMap<string, Ts.Expression>;
  /** Functions, classes, enums and everything else that is declared. */
  readonly declared: ReadonlySet<string>;
}

export function readScope(source: Ts.SourceFile): Scope {
  const imports = new Map<string, ImportBinding>();
  const values = new Map<string, Ts.Expression>();
  const declared = new Set<string>();
  for (const statement of source.statements) {
    if (ts.isImportDeclaration(statement)) bindImports(statement, imports);
    else if (ts.isVariableStatement(statement)) {
      for (const { name, initializer } of statement.declarationList.declarations) {
        for (const bound of boundNames(name)) declared.add(bound);
        if (ts.isIdentifier(name) && initializer !== undefined) values.set(name.text, initializer);
      }
    } else if (isNamedDeclaration(statement) && statement.name !== undefined) declared.add(statement.name.text);
  }
  return { source, imports, values, declared };
}

function bindImports(
  { importClause, moduleSpecifier }: Ts.ImportDeclaration,
  imports: Map<string, ImportBinding>,
): void {
  if (importClause === undefined || !ts.isStringLiteral(moduleSpecifier)) return;
  const specifier = moduleSpecifier.text;
  if (importClause.name !== undefined) imports.set(importClause.name.text, { specifier, name: "default" });
  const bindings = importClause.namedBindings;
  if (bindings === undefined) return;
  if (ts.isNamespaceImport(bindings)) imports.set(bindings.name.text, { specifier, name: "*" });
  else {
    for (const element of bindings.elements) {
      imports.set(element.name.text, { specifier, name: (element.propertyName ?? element.name).text });
    }
  }
}

function* boundNames(name: Ts.BindingName): Generator<string> {
  if (ts.isIdentifier(name)) yield name.text;
  else for (const element of name.elements) if (ts.isBindingElement(element)) yield* boundNames(element.name);
}

function isNamedDeclaration(
  statement: Ts.Statement,
): statement is Ts.FunctionDeclaration | Ts.ClassDeclaration | Ts.EnumDeclaration {
  return ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement) || ts.isEnumDeclaration(statement);
}

/** The expression behind parentheses, `as`, `satisfies`, `!`, `await`, and names of constants. */
export function unwrap(expression: Ts.Expression, scope: Scope): Ts.Expression {
  const seen = new Set<string>();
  for (let current = expression; ; ) {
    if (
      ts.isParenthesizedExpression(current) ||
      ts.isAsExpression(current) ||
      ts.isSatisfiesExpression(current) ||
      ts.isNonNullExpression(current) ||
      ts.isTypeAssertionExpression(current) ||
      ts.isAwaitExpression(current)
    ) {
      current = current.expression;
      continue;
    }
    if (!ts.isIdentifier(current) || seen.has(current.text)) return current;
    const value = scope.values.get(current.text);
    if (value === undefined) return current;
    seen.add(current.text);
    current = value;
  }
}
